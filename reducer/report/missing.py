"""Why a step found nothing: what stands in the data where its path ends, and the key that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from reducer.op.fields import Key, Target
from reducer.path import Chain, Path, PathError, compile_path, names_of
from reducer.path.written import path_text
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
    found = _walked(step.path, value)
    if found.nearest or found.help:
        return found.nearest, found.help if not found.path or found.nearest else f"{found.help}; did you mean `{found.path}`?"
    wanted = " and ".join(sorted(_PLURAL[kind] for kind in step.op.accepts))
    return "", f"there is {_described(list(found.values))}, and `{step.op.verb()}` works on {wanted}"


class Nothing(NamedTuple):
    """Why a path finds nothing: `message` says it in a sentence, empty where it finds something; `path` is the one probably meant, or empty."""

    message: str
    path: str


def explain(path: Path | str, content: Any) -> Nothing:
    """Say why a path finds nothing in a JSON value, and which one was probably meant; that one finds something there.

    Raises `PathError` for a text that is no path.
    """
    path = compile_path(path) if isinstance(path, str) else path
    if path.find(content):
        return Nothing("", "")
    found = _walked(path, content)
    help = found.help if not (found.nearest and found.path) else f"there is no `{path.text}`"
    meant = f"; did you mean `{found.path}`?" if found.path else ""
    return Nothing((help or f"`{path.text}` finds null only") + meant, found.path)


class _Walked(NamedTuple):
    """Where a path ends too early, in words; the key most like the one it names, the path probably meant, and the values at its end."""

    help: str
    nearest: str = ""
    path: str = ""
    values: Sequence[Any] = ()


def _walked(path: Path, value: Any, tries: int = 3) -> _Walked:
    values: Sequence[Any] = [value]
    conditions = iter([expression.text for _, expression in path.filters])
    written = [_written(token, conditions) for token in path.shape]
    for number, token in enumerate(path.shape):
        kind = token[0]
        if kind == "field":
            found = [item[token[1]] for item in values if type(item) is dict and item.get(token[1]) is not None]
        elif kind == "index":
            found = [item[token[1]] for item in values if type(item) is list and -len(item) <= token[1] < len(item)]
        else:
            found = [below for item in values for below in _inside(item, kind)]
        if not found:
            done = "".join(written[:number]).removeprefix(".")
            nearest, help, instead = _nothing(token, values, done)
            meant = ("".join((*written[:number], new, *written[number + 1 :])).removeprefix(".") for new in instead)
            return _Walked(help, nearest, next(filter(None, (_finding(text, value, tries) for text in meant)), ""))
        values = found[:_LOOKED_AT]
    if path.filters and not path.find(value):
        return _Walked("its filter holds for no item")
    return _Walked("", values=values)


def _written(token: tuple[Any, ...], conditions: Iterator[str]) -> str:
    if token[0] == "field":
        return f".{path_text([token[1]])}"
    if token[0] == "filter":
        return f"[?{next(conditions)}]"
    if token[0] == "index":
        return f"[{token[1]}]"
    return ".*" if token[0] == "values" else "[*]"


def _finding(text: str, value: Any, tries: int) -> str:
    """Give a path if it finds something; if not, what may be meant by it in its turn, `tries` times."""
    try:
        path = compile_path(text)
    except PathError:
        return ""
    if path.find(value):
        return text
    return _walked(path, value, tries - 1).path if tries else ""


def _inside(value: Any, kind: Any) -> Sequence[Any]:
    if kind == "values":
        return list(value.values())[:_LOOKED_AT] if type(value) is dict else []
    if type(value) is not list:
        return []
    return [inner for item in value[:_LOOKED_AT] for inner in (item if type(item) is list else [item])]


def _nothing(token: tuple[Any, ...], values: Sequence[Any], done: str) -> tuple[str, str, list[str]]:
    """Give the key that is nearest, what stands there in words, and what the path may say instead of `token`."""
    at = f"`{done}`" if done else "the return"
    objects = [value for value in values if type(value) is dict]
    if token[0] == "field":
        name = str(token[1])
        key = f".{path_text([name])}"
        if objects:
            return _no_key(name, objects, at)
        if values and type(values[0]) is list:
            asked = "".join((done, key)).removeprefix("." if not done else "")
            return "", f"{at} is a list, so `{key if done else asked}` finds nothing there", [f"[*]{key}", f"[*][*]{key}", f"[*].*{key}"]
    elif token[0] == "index" and values and type(values[0]) is list and values[0]:
        return "", f"{at} has {len(values[0]):,} item{'s' * (len(values[0]) > 1)}", []
    elif objects and token[0] != "values":
        keys = list(objects[0])
        return "", f"{at} is an object, no list", ["", ".*", *(f".{path_text([key])}[*]" for key in keys[:_NAMED] if type(objects[0][key]) is list)]
    elif token[0] == "values" and values and type(values[0]) is list and values[0]:
        return "", f"{at} is a list, so `.*` finds nothing there", ["[*]", "[*].*"]
    if values and type(values[0]) is str and not done:
        return "", "the return is a text that holds no JSON", []
    if not any(values):
        return "", f"{at} is empty", []
    return "", f"{at} is {_described(list(values))}", []


def _no_key(name: str, objects: Sequence[dict[str, Any]], at: str) -> tuple[str, str, list[str]]:
    keys = dict.fromkeys(key for value in objects for key in value)
    if name in keys:
        return "", f"`{name}` is null there", []
    nearest = _nearest(name, keys)
    if nearest:
        return nearest, f"the nearest key is `{nearest}`", [f".{path_text([nearest])}"]
    if not keys:
        return "", f"{at} is an empty object", []
    if sum(type(item) is dict and name in item for value in objects[:_NAMED] for item in value.values()) > 1:
        return "", f"{at} has {_there_are(keys)}", [f".*.{path_text([name])}"]
    below = [
        f".{path_text([key])}{way}.{path_text([name])}"
        for key in list(keys)[:_LOOKED_AT]
        for way in ("", "[*]", ".*")
        if any(name in item for value in objects[:_NAMED] for item in _reached(value.get(key), way) if type(item) is dict)
    ]
    return "", f"{at} has {_there_are(keys)}", below


def _reached(value: Any, way: str) -> Sequence[Any]:
    return [value] if not way else _inside(value, "values" if way == ".*" else "each")


def _there_are(keys: Iterable[str]) -> str:
    known = list(keys)
    more = f" and {len(known) - _NAMED:,} more" if len(known) > _NAMED else ""
    return f"the keys {', '.join(f'`{key}`' for key in known[:_NAMED])}{more}"


def _described(values: list[Any]) -> str:
    return " or ".join(dict.fromkeys(_TYPES.get(type(value), "something else") for value in values))
