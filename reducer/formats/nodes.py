"""Formats, and values of structured text that plain JSON types cannot express: `repr` of each is its text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Format:
    """A format that a text was read in.

    `write` returns the text of a value that was made from the parsed one by leaving things out. The unchanged value
    gives the same text, except for blanks, escapes and the digits of numbers in JSON. `is_json`: the text as a whole is
    JSON. `least` is the number of items that a root list must keep for its text to be read in the same format again.
    """

    name: str
    write: Callable[[Any], str]
    is_json: bool = False
    least: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Atom:
    """A part of a literal that is kept or removed as a whole: `Decimal('1.5')`, `<Risk.HIGH: 3>`, `b'x'`, `nan`."""

    source: str

    def __repr__(self) -> str:
        return self.source

    def __plain__(self) -> str:
        """Return what conditions see."""
        return self.source


@dataclass(frozen=True, slots=True, repr=False)
class Bracketed:
    """A list or an object that is not written as a Python list or dict.

    The set `{1, 2}` has a list. A model `Host(name='a', port=1)`, its `str`, `name='a' port=1`, and a line of JSON
    lines have an object (a line may also have a list). `least` is the number of items that must stay for the text to
    be read as the same kind again. `source` is the text of a line, until its value changes.
    """

    value: Any
    opening: str = ""
    closing: str = ""
    least: int = 0
    glue: str = ", "
    source: str | None = None

    def __plain__(self) -> Any:
        """Return what conditions see."""
        return self.value

    def with_value(self, value: Any) -> Bracketed:
        """Return a node of the same kind around `value`."""
        return replace(self, value=value, source=None)

    def __repr__(self) -> str:
        if self.source is not None:
            return self.source
        if type(self.value) is dict:
            inner = self.glue.join([f"{name}={item!r}" for name, item in self.value.items()])
            return f"{self.opening}{inner}{self.closing}"
        inner = repr(self.value)[1:-1]
        return f"{self.opening}{inner}{self.closing}" if inner else "set()"
