"""Formats, and nodes for values that plain JSON types cannot express. The `repr` of a node is its text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from reducer.values import dump


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a parsed text.

    `write` returns the text of the parsed value or of a subset of it, or the wrapper of MCP around it. For the
    unchanged value, this is the original, except for blanks, escapes and the digits of numbers in JSON. `is_json` tells
    that the whole text is JSON. A root list must keep at least `least` items, otherwise its text is no longer parsed in
    this format. `compact` writes the text without blanks, if this format has any.
    """

    name: str
    write: Callable[[Any], Any]
    is_json: bool = False
    least: int = 0
    compact: Callable[[Any], str] | None = None


EDGE = "\x04"
"""No other `repr` contains this character, because it is not printable."""


@dataclass(frozen=True, slots=True, repr=False)
class Atom:
    """A part of a literal that is kept or removed as a whole, such as `Decimal('1.5')`, `<Risk.HIGH: 3>` or `nan`.

    Its `repr` is between two `EDGE`, so that its blanks can be told from those of the literal.
    """

    source: str

    def __repr__(self) -> str:
        return f"{EDGE}{self.source}{EDGE}"

    def __plain__(self) -> str:
        """Return the value that conditions read."""
        return self.source


@dataclass(frozen=True, slots=True, repr=False)
class Bracketed:
    """A list or an object in another notation than a Python list or dict.

    The value of the set `{1, 2}` is a list. The value of the model `Host(name='a', port=1)`, and of its `str`
    `name='a' port=1`, is an object. The value of a line of JSON lines is either. At least `least` items must stay,
    otherwise the text is no longer parsed as the same kind. `source` is the original text of an unchanged line.
    """

    value: Any
    opening: str = ""
    closing: str = ""
    least: int = 0
    glue: str = ", "
    source: str | None = None

    def __plain__(self) -> Any:
        """Return the value that conditions read."""
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


@dataclass(frozen=True, slots=True, repr=False)
class Block:
    """A text block of MCP with its value: the JSON that its text encodes, or the text."""

    value: Any
    block: dict[str, Any]
    least: int = 0

    def __plain__(self) -> Any:
        """Return the value that conditions read."""
        return self.value

    def with_value(self, value: Any) -> Block:
        """Return the block with the text of another value."""
        return Block(value, {**self.block, "text": value if type(value) is str else dump(value)})
