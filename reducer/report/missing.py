"""Why a step found nothing: what stands in the data where its path ends, and the key that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from reducer.op import Key, Target, names_of
from reducer.path import Chain
from reducer.rule import Step

_LOOKED_AT = 200
"""Values at one level that are looked at for their keys."""
_NAMED = 6
_LEAST = 3
_OPTIONAL = 0.8
"""How much a key must be like another to be its misspelling rather than one that these returns happen not to have."""
_TYPES: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number", type(None): "null"}
_PLURAL: dict[type, str] = {dict: "objects", list: "lists", str: "texts"}


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that a step names and the data has not: its `place`, or a `key` that it keeps, drops or decides by.

    `text` is as the rule has it; `nearest` is the key in the data most like it, empty if none is; `help` says what there is, as a clause.
    """

    what: Literal["place", "key"]
    text: str
    nearest: str
    help: str

    def __str__(self) -> str:
        return f"`{self.text}` found nothing{f'; {self.help}' if self.help else ''}"


def missing(step: Step, before: Any, arrived: Any, places: int) -> tuple[tuple[Missing, ...], frozenset[str]]:
    """Say what `step` did not find in `before`, the return when its turn came, and which keys that it names are there.

    `arrived` is the return before all steps; `places` is how many values stood at the step's place.
    """
    if places:
        return _keys(step, before)
    text = step.path.text
    nearest, help = _place(step, before)
    if before is not arrived and not step.path.find(before) and step.path.find(arrived):
        return (Missing("place", text, "", "an earlier step took it"),), frozenset()
    return (Missing("place", text, nearest, help),), frozenset()


def _keys(step: Step, before: Any) -> tuple[tuple[Missing, ...], frozenset[str]]:
    """Look for the keys that a step keeps, drops or decides by. Keys may be optional: one to keep or drop is missed only if another is like it."""
    named = [(chain, text, False) for text, chain in _named(step)] + [(chain, ".".join(chain), True) for chain in _read(step)]
    if not named:
        return (), frozenset()
    values = step.path.find(before)[:_LOOKED_AT]
    lost, seen = [], []
    for chain, text, decides in named:
        keys, depth = _end(values, chain)
        if depth == len(chain):
            seen.append(text)
        elif keys:
            beside = {other[depth] for other, _, _ in named if other[:depth] == chain[:depth] and len(other) > depth}
            others = [key for key in keys if key not in beside]
            nearest = _nearest(chain[depth], others) if decides else near(chain[depth], others, _OPTIONAL)
            if nearest or decides:
                lost.append(Missing("key", text, nearest, f"the nearest key is `{nearest}`" if nearest else f"there are {_there_are(keys)}"))
    return tuple(dict.fromkeys(lost)), frozenset(seen)


def _named(step: Step) -> Iterable[tuple[str, Chain]]:
    # Any field of any operation that holds keys or targets names keys of its place.
    for _, values in step.op:
        for item in values if type(values) is tuple else ():
            if isinstance(item, Key):
                yield item.text, item.chain
            elif isinstance(item, Target) and item.key is not None:
                yield item.text, (*(names_of(item.lists.shape) if item.lists else ()), *item.key.chain)


def _read(step: Step) -> Iterable[Chain]:
    for lists, chain in step.op.reads():
        if chain and "*" not in (*lists, *chain):
            yield (*lists, *chain)


def _end(values: Sequence[Any], chain: Chain) -> tuple[Iterable[str], int]:
    """Follow a chain of keys through objects, and through lists to their items: the keys where it ends, and how many of its own were found."""
    for depth, name in enumerate(chain):
        objects = [item for value in values for item in _inside(value, "each") or [value] if type(item) is dict]
        found = [item[name] for item in objects if name in item]
        if not found:
            return dict.fromkeys(key for item in objects for key in item), depth
        values = found[:_LOOKED_AT]
    return (), len(chain)


def near(name: str, keys: Iterable[str], likeness: float = 0.7) -> str:
    """Give the key most like `name`, capitals aside; empty if none is like it."""
    folded = {key.casefold(): key for key in keys}
    wanted = name.casefold()
    found = get_close_matches(wanted, folded, 1, likeness)
    return folded[found[0]] if found else ""


def _nearest(name: str, keys: Iterable[str]) -> str:
    """Give the key that was probably meant by one that must be there: also a longer or shorter form of it."""
    known = list(keys)
    found = near(name, known)
    if found or len(name) < _LEAST:
        return found
    wanted = name.casefold()
    forms = [key for key in known if len(key) >= _LEAST and (key.casefold().startswith(wanted) or wanted.startswith(key.casefold()))]
    return max(forms, key=len, default="")


def _place(step: Step, value: Any) -> tuple[str, str]:
    values = [value]
    filtered = False
    done = ""
    for token in step.path.shape:
        kind = token[0]
        filtered = filtered or kind == "filter"
        if kind == "field":
            found = [item[token[1]] for item in values if type(item) is dict and item.get(token[1]) is not None]
        else:
            found = [below for item in values for below in _inside(item, kind)]
        if not found:
            return _nothing(token, values, done)
        values = found[:_LOOKED_AT]
        done = f"{done}.{token[1]}".removeprefix(".") if kind == "field" else f"{done}[*]" if kind != "values" else f"{done}.*"
    if filtered and not step.path.find(value):
        return "", "its filter holds for no item"
    wanted = " and ".join(sorted(_PLURAL[kind] for kind in step.op.accepts))
    return "", f"there is {_described(values)}, and `{step.op.verb()}` works on {wanted}"


def _inside(value: Any, kind: Any) -> Sequence[Any]:
    if kind == "values":
        return list(value.values())[:_LOOKED_AT] if type(value) is dict else []
    if type(value) is not list:
        return []
    return [inner for item in value[:_LOOKED_AT] for inner in (item if type(item) is list else [item])]


def _nothing(token: tuple[Any, ...], values: list[Any], done: str) -> tuple[str, str]:
    at = f"`{done}`" if done else "the return"
    objects = [value for value in values if type(value) is dict]
    if token[0] == "field" and objects:
        keys = dict.fromkeys(key for value in objects for key in value)
        name = str(token[1])
        if name in keys:
            return "", f"`{name}` is null there"
        nearest = _nearest(name, keys)
        if nearest:
            return nearest, f"the nearest key is `{nearest}`"
        return "", f"{at} has {_there_are(keys)}" if keys else f"{at} is an empty object"
    if token[0] == "field" and values and type(values[0]) is list:
        path = f"{done}[*].{token[1]}"
        return "", f"{at} is a list: its items are `{path}`" if any(type(item) is dict and token[1] in item for item in values[0]) else f"{at} is a list"
    if values and type(values[0]) is str and not done:
        return "", "the return is a text that holds no JSON"
    if not any(values):
        return "", f"{at} is empty"
    return "", f"{at} is {_described(values)}"


def _there_are(keys: Iterable[str]) -> str:
    known = list(keys)
    more = f" and {len(known) - _NAMED:,} more" if len(known) > _NAMED else ""
    return f"the keys {', '.join(f'`{key}`' for key in known[:_NAMED])}{more}"


def _described(values: list[Any]) -> str:
    return " or ".join(dict.fromkeys(_TYPES.get(type(value), "something else") for value in values))
