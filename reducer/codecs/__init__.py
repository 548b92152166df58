"""Texts that hold structure: read as what they say, written back in the notation they came in.

JSON, a JSON string that holds such a text, JSON lines, Python literals, and one of these under a line of words
(`Retrieved 42 entries.`). A text that could not be written back exactly is plain text; only the blanks of JSON are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from reducer.codecs.brackets import FIELDS, LINES, Bracket, Brackets
from reducer.codecs.json_text import read_json, read_lines, read_quoted
from reducer.codecs.literal import read_literal, write_literal
from reducer.values import dump

__all__ = ["Bracket", "Brackets", "Codec", "decode", "read"]

_LONGEST_HEAD = 200
_MOST_QUOTES = 4
_STARTS = frozenset('[{("')
_CALL = re.compile(r"[A-Za-z_][\w.]{0,200}(?:=[^=\s]|\()")


@dataclass(frozen=True, slots=True)
class Codec:
    """A notation that a text was read in: `write` gives the text of a value made of the one that was read by taking away.

    `is_json`: the text as a whole is JSON.
    """

    name: str
    write: Callable[[Any], str]
    is_json: bool = False


_JSON = Codec("JSON", dump, True)


def decode(text: str) -> Any:
    """Give what a text says, if it holds an object or list; any other text as it is."""
    found = read(text, {})
    return text if found is None else found[0]


def read(text: str, brackets: Brackets) -> tuple[Any, Codec] | None:
    """Read a text that holds a list or an object, and note in `brackets` how its parts were bracketed; None for plain text. Never raises."""
    stripped = text.strip(" \t\r\n")
    start = stripped[:1]
    if start == "{" or start == "[":
        value = read_json(text)
        if value is not text:
            return value, _JSON
        return _read_lines(text, brackets) or _read_literal(text, brackets)
    if start == '"':
        return _read_quoted(stripped, brackets)
    if start == "(" or _CALL.match(stripped):
        return _read_literal(text, brackets)
    return _read_headed(text, brackets)


def read_nested(text: str, brackets: Brackets) -> tuple[Any, Codec] | None:
    """Read a text within a value as `read` does. Fields without brackets around them are plain text there: without any they would be no text."""
    found = read(text, brackets) if text[:1] in _STARTS or text[:1].isspace() or _CALL.match(text) else None
    return None if found is None or brackets.get(id(found[0])) is FIELDS else found


def _read_lines(text: str, brackets: Brackets) -> tuple[Any, Codec] | None:
    found = read_lines(text)
    if found is None:
        return None
    values, lines, between, after = found
    brackets[id(values)] = LINES
    # The values are held beside their lines: no other value can have their ids.
    as_read = {id(value): (value, line) for value, line in zip(values, lines, strict=True)}

    def write(items: list[Any]) -> str:
        return between.join([as_read[id(item)][1] if id(item) in as_read else dump(item) for item in items]) + after

    return values, Codec("JSON lines", write)


def _read_literal(text: str, brackets: Brackets) -> tuple[Any, Codec] | None:
    body = text.strip("\r\n")
    value = read_literal(body, brackets)
    if value is body:
        return None
    before, _, after = text.partition(body)
    return value, Codec("Python literal", lambda new: f"{before}{write_literal(new, brackets)}{after}")


def _read_quoted(text: str, brackets: Brackets) -> tuple[Any, Codec] | None:
    said, quotes = read_quoted(text), 1
    while said is not text and said[:1] == '"' and quotes < _MOST_QUOTES:
        text, said, quotes = said, read_quoted(said), quotes + 1
    found = None if said is text or said[:1] == '"' else read(said, brackets)
    if found is None:
        return None
    value, inner = found
    return value, Codec(f"{inner.name} in quotes", partial(_quoted, inner, quotes))


def _quoted(inner: Codec, quotes: int, value: Any) -> str:
    text = inner.write(value)
    for _ in range(quotes):
        text = dump(text)
    return text


def _read_headed(text: str, brackets: Brackets) -> tuple[Any, Codec] | None:
    at = text.find("\n", 0, _LONGEST_HEAD) + 1
    if not at or text[at : at + 1] not in ("[", "{", "("):
        return None
    found = read(text[at:], brackets)
    if found is None:
        return None
    value, inner = found
    head = text[:at]
    return value, Codec(f"{inner.name} under a line", lambda new: head + inner.write(new))
