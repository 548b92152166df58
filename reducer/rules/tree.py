"""The tree of a YAML text: every key and value with its position."""

from __future__ import annotations

import re
from collections.abc import Sequence as Items
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from reducer.errors import Edit

_ESCAPE = re.compile(r"\\(?:x.{2}|u.{4}|U.{8}|.)|.", re.DOTALL)
_DOUBLED = re.compile("''|.", re.DOTALL)


class Span(NamedTuple):
    """Characters of a line: `line` and `column` count from 1."""

    line: int
    column: int
    width: int = 1


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value: `raw` is its source text with quotes.

    `line` and `column` count from 1; `width` is in characters, on the first line.
    """

    value: str | int | float | bool | None
    line: int
    column: int
    width: int
    style: Literal["plain", "single", "double", "literal", "folded"]
    raw: str


@dataclass(frozen=True, slots=True)
class Mapping:
    """An object: `entries` are its keys, each a distinct text, with their values, in the order of the file.

    `incomplete`: a wrong entry was left out, so that a missing key is no further problem.
    """

    entries: tuple[tuple[Scalar, Tree], ...]
    line: int
    column: int
    width: int
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list with its `items` in the order of the file."""

    items: tuple[Tree, ...]
    line: int
    column: int
    width: int


Tree: TypeAlias = Scalar | Mapping | Sequence
Place: TypeAlias = tuple[str | int, ...]
"""Keys and list indexes from the root of a tree."""


def plain(tree: Tree) -> Any:
    """Return `tree` as dicts, lists and scalars."""
    if isinstance(tree, Mapping):
        return {str(key.value): plain(value) for key, value in tree.entries}
    if isinstance(tree, Sequence):
        return [plain(item) for item in tree.items]
    return tree.value


def locate(tree: Tree, place: Items[str | int], *, key: bool = False) -> Tree:
    """Return the node at `place`, or its nearest ancestor that exists.

    With `key=True` the node is the last key of `place` instead of its value.
    """
    node = tree
    for number, step in enumerate(place):
        last = key and number == len(place) - 1
        if isinstance(node, Mapping):
            entry = next((entry for entry in node.entries if entry[0].value == step), None)
            if entry is None:
                break
            node = entry[0] if last else entry[1]
        elif isinstance(node, Sequence) and isinstance(step, int) and -len(node.items) <= step < len(node.items):
            node = node.items[step]
        else:
            break
    return node


def position(scalar: Scalar, offset: int) -> tuple[int, int]:
    """Return line and column, from 1, of the character `offset` (from 0) of the value of a text.

    Return the position of the scalar if it has several lines.
    """
    if "\n" in scalar.raw or scalar.style in ("literal", "folded"):
        return scalar.line, scalar.column
    if scalar.style == "plain":
        return scalar.line, scalar.column + min(offset, len(str(scalar.value)))
    characters = (_ESCAPE if scalar.style == "double" else _DOUBLED).findall(scalar.raw[1:-1])
    return scalar.line, scalar.column + 1 + sum(map(len, characters[:offset]))


def replaced(node: Tree, value: str) -> tuple[Edit, ...]:
    """Return the edit that replaces the value of a scalar and keeps its quotes; none if that is not one word."""
    if not isinstance(node, Scalar) or str(node.value) not in node.raw or "\n" in node.raw:
        return ()
    return (Edit(node.line, node.column, node.width, node.raw.replace(str(node.value), value)),)


def shortened(text: str) -> str:
    """Return what a message quotes of `text`: its first line, at most 60 characters."""
    head = text.split("\n", 1)[0]
    return head if len(head) <= 60 and head == text else head[:59] + "…"


def quoted(text: str) -> str:
    """Write `text` in quotes, without escapes if possible."""
    if '"' not in text and "\\" not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
