"""The tree of a YAML text: every key and value with the place where it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence as Items
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

MAX_DEPTH = 64
"""Levels of nesting in a rule file: rules need six, inline samples some more. Every walk of a tree stays off the stack's end."""


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
    """An object: `entries` are its keys, each a text and none twice, with their values, in the order of the file.

    `lost`: something that stands in it was left out, as it was wrong.
    """

    entries: tuple[tuple[Scalar, Tree], ...]
    line: int
    column: int
    width: int
    style: Literal["block", "flow"]
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list with its `items` in the order of the file."""

    items: tuple[Tree, ...]
    line: int
    column: int
    width: int
    style: Literal["block", "flow"]


Tree: TypeAlias = Scalar | Mapping | Sequence


def plain(tree: Tree) -> Any:
    """Give `tree` as dicts with text keys, lists and scalars."""
    if isinstance(tree, Mapping):
        return {str(key.value): plain(value) for key, value in tree.entries}
    if isinstance(tree, Sequence):
        return [plain(item) for item in tree.items]
    return tree.value


def locate(tree: Tree, path: Items[str | int], *, key: bool = False) -> Tree:
    """Find the node at `path` (keys and list indexes from the root), or its nearest ancestor that exists.

    With `key=True` the node is the key of the last step instead of its value, where that step is a key.
    """
    node = tree
    for number, step in enumerate(path):
        last = key and number == len(path) - 1
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


_ESCAPE = re.compile(r"\\(?:x.{2}|u.{4}|U.{8}|.)|.", re.DOTALL)
_DOUBLED = re.compile("''|.", re.DOTALL)


def place(scalar: Scalar, offset: int) -> tuple[int, int]:
    """Give line and column, both from 1, of the character `offset` (from 0) of a text's value.

    Where folding hides it (a plain or quoted text over several lines, `>`), the place of the scalar itself.
    """
    value = str(scalar.value)
    offset = max(0, min(offset, len(value)))
    if scalar.style == "literal":
        before = value[:offset]
        rows = scalar.raw.split("\n")
        row = 1 + before.count("\n")
        body = next((line for line in rows[1:] if line.strip()), "")
        indent = len(body) - len(body.lstrip(" "))
        # An explicit indent (`|2`) or leading blank lines with spaces hide the indent: then the scalar's own place.
        if row < len(rows) and not re.search("[0-9]", rows[0].partition("#")[0]):
            return scalar.line + row, indent + offset - (before.rfind("\n") + 1) + 1
    elif scalar.style != "folded" and "\n" not in scalar.raw:
        if scalar.style == "plain":
            return scalar.line, scalar.column + offset
        written = _ESCAPE if scalar.style == "double" else _DOUBLED
        pieces = written.findall(scalar.raw[1:-1])
        return scalar.line, scalar.column + 1 + sum(map(len, pieces[:offset]))
    return scalar.line, scalar.column
