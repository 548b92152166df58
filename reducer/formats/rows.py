"""What a reduction left of the rows and columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from reducer.formats.parts import origins


class Part(NamedTuple):
    """The rows that stay, each with its index and what is left of it, the indexes of the columns, and a marker."""

    rows: list[tuple[int, dict[str, str]]]
    columns: list[int]
    marker: list[str]
    """The line that counts removed rows, if there is one."""


def part_of(new: Any, rows: Sequence[Any], names: Sequence[str], least: int) -> Part | None:
    """Return which rows and columns of a table stay, or None if a value is not a part of its rows.

    A column stays if a row has its key. At least so many columns stay.
    """
    found = origins(new, rows) if type(new) is list else None
    if found is None:
        return None
    kept = [(index, item) for index, item in zip(found, new, strict=False) if type(item) is dict]
    marker = [item for item in new[-1:] if type(item) is str and item]
    if any("\n" in line or "\r" in line for line in marker):
        return None
    return Part(kept, _columns(kept, names, least), marker)


def is_unique(names: Sequence[str]) -> bool:
    """Return whether all names of columns differ."""
    return len({*names}) == len(names)


def _columns(kept: Sequence[tuple[int, dict[str, str]]], names: Sequence[str], least: int) -> list[int]:
    keys = {key for _, item in kept for key in item} if kept else {*names}
    others = [index for index, name in enumerate(names) if name not in keys]
    needed = others[: max(0, least - len(keys))]
    return [index for index, name in enumerate(names) if name in keys or index in needed]
