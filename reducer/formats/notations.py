"""Notations of text that are read only where a rule says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from reducer.formats.blocks import read_blocks
from reducer.formats.delimited import read_csv
from reducer.formats.lines import read_lines
from reducer.formats.nodes import Format
from reducer.formats.parts import is_part
from reducer.formats.sections import read_sections
from reducer.formats.tables import read_table
from reducer.formats.yaml_text import read_yaml
from reducer.values import MAX_TEXT_CHARS

Notation: TypeAlias = Literal["lines", "csv", "table", "yaml", "sections", "blocks"]
NOTATIONS: tuple[str, ...] = get_args(Notation)

Write: TypeAlias = Callable[[Any], str | None]
"""Writes a part of a value, or returns None if the notation cannot express it."""
Read: TypeAlias = Callable[[str], tuple[Any, Write] | None]
"""Returns the value that a text expresses, and the function that writes parts of it, or None for any other text."""


_READERS: Mapping[str, Read] = {
    "lines": read_lines,
    "csv": read_csv,
    "table": read_table,
    "yaml": read_yaml,
    "sections": read_sections,
    "blocks": read_blocks,
}
_MAX_CHARS = {"lines": MAX_TEXT_CHARS, "yaml": 500_000}
"""The length of the longest text that is read, if it is not 4,000,000 characters."""


def read_as(text: str, notations: Iterable[str]) -> tuple[Any, Format] | None:
    """Return the value of a text in the first of some notations that can read it, and its format; None if none can.

    `Format.write` returns the original text if the notation cannot express a part of the value, so that reading the
    written text would give anything else.
    """
    for name in notations:
        found = _read(name, text)
        if found is not None:
            return found[0], Format(name, _writer(text, name, *found), least=1)
    return None


def _read(name: str, text: str) -> tuple[Any, Write] | None:
    return _READERS[name](text) if len(text) <= _MAX_CHARS.get(name, 4_000_000) else None


def _writer(text: str, name: str, value: Any, write: Write) -> Callable[[Any], str]:
    def written(new: Any) -> str:
        result = None if new is value or new == value else write(new)
        if not result:
            return text
        return result if name == "lines" or _expresses(result, name, new, value) else text

    return written


def _expresses(text: str, name: str, new: Any, value: Any) -> bool:
    """Return whether a text expresses at least a part of a value, and nothing that is not in the value."""
    found = _read(name, text)
    return found is not None and is_part(new, found[0]) and is_part(found[0], value)
