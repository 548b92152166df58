"""Structured text: JSON, JSON lines, Python literals, and the notations that a rule names.

`parse` takes a text and returns the value that it expresses and its `Format`, or None for plain text. `read_as` does so
for the notations that it is given. `Format.write` takes the value, or a subset of it, and returns its text in the same
format.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from reducer.formats.json_text import read_json, read_json_lines, read_string
from reducer.formats.lines import line_end
from reducer.formats.literal import compact, read_literal
from reducer.formats.mcp import is_error, read_mcp, unwrapped
from reducer.formats.nodes import Atom, Block, Bracketed, Format
from reducer.formats.notations import NOTATIONS, Notation, read_as
from reducer.values import dump, plain

__all__ = [
    "NOTATIONS",
    "Atom",
    "Block",
    "Bracketed",
    "Format",
    "Notation",
    "decode",
    "is_error",
    "line_end",
    "parse",
    "parse_nested",
    "plain",
    "read_as",
    "read_mcp",
    "unwrapped",
]

_MAX_HEAD_CHARS = 200
_CALL = re.compile(r"[A-Za-z_][\w.]{0,200}(?:=[^=\s]|\()")
_JSON = Format("JSON", dump, is_json=True, compact=dump)


def parse(text: str, nested: bool = False) -> tuple[Any, Format] | None:
    """Return the value that the whole text expresses and its format, or None for plain text. Never raise.

    The value is a list, an object, a tuple or a `Bracketed`, and consists of plain JSON types, tuples, `Bracketed` and
    `Atom`. If the text is `nested` in a value, structure under a head line and fields without brackets are plain text.
    """
    stripped = text.strip(" \t\r\n")
    start = stripped[:1]
    if start == '"':
        return _parse_quoted(stripped, nested)
    if start == "{" or start == "[":
        value = read_json(text)
        if value is not None:
            return value, _JSON
        return read_json_lines(text) or _parse_literal(text, nested)
    if start == "(" or _CALL.match(stripped):
        return _parse_literal(text, nested)
    return None if nested else _parse_under_head(text)


def parse_nested(text: str) -> tuple[Any, Format] | None:
    """Parse a text within a value."""
    return parse(text, nested=True)


def decode(text: str) -> Any:
    """Return the structure that a text expresses in plain JSON types, or the text itself if it is plain."""
    found = parse(text)
    return text if found is None else plain(found[0])


def _parse_literal(text: str, nested: bool) -> tuple[Any, Format] | None:
    body = text.strip("\r\n")
    found = read_literal(body)
    if found is None:
        return None
    value, write = found
    if nested and type(value) is Bracketed and not value.closing:
        return None
    before, _, after = text.partition(body)

    def written(value: Any) -> str:
        return before + write(value) + after

    def compacted(value: Any) -> str:
        return before + compact(value) + after

    return value, Format("Python literal", written, least=getattr(value, "least", 0), compact=compacted)


def _parse_quoted(text: str, nested: bool) -> tuple[Any, Format] | None:
    inside = read_string(text)
    return None if inside is None else _wrapped(parse(inside, nested), "in quotes", dump)


def _parse_under_head(text: str) -> tuple[Any, Format] | None:
    start = text.find("\n", 0, _MAX_HEAD_CHARS) + 1
    head, body = text[:start], text[start:]
    if not head or body[:1] not in ("[", "{", "("):
        return None
    return _wrapped(parse(body), "under a line", lambda text: head + text)


def _wrapped(found: tuple[Any, Format] | None, where: str, write: Callable[[str], str]) -> tuple[Any, Format] | None:
    """Return the value and the format of a text that `write` wraps."""
    if found is None:
        return None
    value, inner = found
    return value, Format(f"{inner.name} {where}", lambda value: write(inner.write(value)), least=inner.least)
