"""Why a step found nothing: what stands in the data where its path ends, and the key that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from reducer.path import Shape
from reducer.rule import Step

_LOOKED_AT = 200
"""Values at one level that are looked at for their keys."""
_NAMED = 6
_TYPES = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number", type(None): "null"}
_PLURAL = {dict: "objects", list: "lists", str: "texts"}


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


def missing(step: Step, before: Any, arrived: Any, places: int) -> tuple[Missing, ...]:
    """Say what `step` did not find in `before`, the return when its turn came; `arrived` is the return before all steps."""
    if places:
        return ()
    text = step.path.text
    nearest, help = _place(step, before)
    if before is not arrived and not nearest and step.path.find(arrived):
        return (Missing("place", text, "", "an earlier step took it"),)
    return (Missing("place", text, nearest, help),)


def near(name: str, keys: Iterable[str]) -> str:
    """Give the key most like `name`, capitals aside; empty if none is like it."""
    folded = {key.casefold(): key for key in keys}
    found = get_close_matches(name.casefold(), folded, 1, 0.6)
    return folded[found[0]] if found else ""


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


def _nothing(token: Shape, values: list[Any], done: str) -> tuple[str, str]:
    at = f"`{done}`" if done else "the return"
    objects = [value for value in values if type(value) is dict]
    if token[0] == "field" and objects:
        keys = dict.fromkeys(key for value in objects for key in value)
        name = str(token[1])
        if name in keys:
            return "", f"`{name}` is null there"
        nearest = near(name, keys)
        if nearest:
            return nearest, f"the nearest key is `{nearest}`"
        named = ", ".join(f"`{key}`" for key in list(keys)[:_NAMED])
        more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
        return "", f"{at} has the keys {named}{more}" if keys else f"{at} is an empty object"
    if token[0] == "field" and values and type(values[0]) is list:
        path = f"{done}[*].{token[1]}"
        return "", f"{at} is a list: its items are `{path}`" if any(type(item) is dict and token[1] in item for item in values[0]) else f"{at} is a list"
    if values and type(values[0]) is str and not done:
        return "", "the return is a text that holds no JSON"
    if not any(values):
        return "", f"{at} is empty"
    return "", f"{at} is {_described(values)}"


def _described(values: list[Any]) -> str:
    return " or ".join(dict.fromkeys(_TYPES.get(type(value), "something else") for value in values))
