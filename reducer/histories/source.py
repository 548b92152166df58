"""Read stored JSON as Structs with the byte offsets of their `Raw` values, and decode and encode contents.

`msgspec` reads it. What `msgspec` refuses in valid JSON is replaced before, by a text of the same length.
"""

from __future__ import annotations

import ctypes
import json
import re
from bisect import bisect_right, insort
from functools import cache
from json.decoder import JSONDecodeError
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType
from pydantic_core import PydanticSerializationError, to_json

from reducer.errors import HistoryError, shortened
from reducer.formats.json_text import DuplicateKey, distinct
from reducer.values import escaped, is_deep

BOM = b"\xef\xbb\xbf"
NO_CONTENT = "its content is not a text, list or object"

Json: TypeAlias = Raw | UnsetType
"""The JSON of a value, or `UNSET` if it is missing."""

_MAX_LEVELS = 100
"""Levels of nesting that are searched for messages."""
_TOKEN = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[][{}]'
    rb"|(?<![\w.+-])(?:NaN|-?Infinity|-?(?:0|[1-9]\d*+)(?:\.\d++)?[eE][-+]?\d++|-?[1-9]\d{200,}+(?:\.\d++)?)"
    rb"(?![\w.+-])",
    re.DOTALL,
)
"""Texts, brackets, and numbers that `msgspec` may refuse."""
_BLANK_LINE = re.compile(rb"\n(?=[ \t\r]*+\n)")
_ESCAPE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
_LONE_SURROGATE = re.compile(
    rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\(?!u[dD][89a-fA-F]).)|\\u[dD][0-9a-fA-F]{3}",
    re.DOTALL,
)
_MAX_SCALAR = 60
_MAX_KEYS = 100

_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.c_void_p]
_decoder = cache(msgspec.json.Decoder)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def _buffer(value: Any) -> tuple[int, int]:
    """Return the address and the length of the bytes of a value."""
    fields = (ctypes.c_void_p * 11)()  # CPython's `Py_buffer`: the address, the object, the length, and others
    _get_buffer(value, fields, 0)
    try:
        return fields[0] or 0, fields[2] or 0
    finally:
        _release_buffer(fields)


class Source:
    """A stored history. Its values are views of `text`, so the difference of two addresses is an offset.

    `text` is the data, or `as_list(data)`, or what `readable` makes of these. Offsets are the same in all, except that
    a list of lines starts one byte earlier and ends one byte later.
    """

    def __init__(self, data: bytes, text: bytes) -> None:
        self.data = data
        self._text = text
        self._shift = (len(text) - len(data)) // 2
        self._opened: list[_Opened] = []
        self._address = _buffer(text)[0]
        self.root = Raw(memoryview(text)[len(text) - len(text.removeprefix(BOM).lstrip(b" \t\n\r")) :])

    def decode(self, kind: Any, raw: Raw) -> Any:
        """Decode a value as a type."""
        return _decoder(kind).decode(raw)

    def value(self, raw: Json) -> Any:
        """Return a decoded value, or None if it is missing or cannot be decoded."""
        return None if raw is UNSET else decode(self.written(raw))[0]

    def members(self, raw: Raw) -> dict[Any, Raw]:
        """Return the values in an object or list by their keys or indexes; any other value contains none."""
        mark = self.mark(raw)
        if mark == "{":
            return self.decode(dict[str, Raw], raw)  # type: ignore[no-any-return]
        return dict(enumerate(self.decode(list[Raw], raw))) if mark == "[" else {}

    def mark(self, raw: Json) -> str:
        """Return the first character of a value, such as `{`, or an empty text if it is missing."""
        return "" if raw is UNSET else chr(memoryview(raw)[0])

    def opened(self, raw: Raw) -> Raw | None:
        """Return the list that a text encodes as JSON, or None if it encodes none."""
        start, end = self.span(raw)
        try:
            text = self.decode(str, raw).encode()
            listed = Raw(memoryview(text))
            self.decode(list[Raw], listed)
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
            return None
        opened = _Opened(text, _buffer(text)[0], _Offsets(self.data, start + 1, end - 1))
        insort(self._opened, opened, key=_address)
        return listed

    def written(self, raw: Raw) -> bytes:
        """Return the bytes of a value."""
        return self.data[slice(*self.span(raw))] if self._around(raw) is None else bytes(raw)

    def is_in_text(self, raw: Raw) -> bool:
        """Return whether a value is in a text that was opened, where its JSON has escapes."""
        return self._around(raw) is not None

    def _around(self, raw: Raw) -> _Opened | None:
        """Return the opened text that contains a value."""
        if not self._opened:
            return None
        address, length = _buffer(raw)
        number = bisect_right(self._opened, address, key=_address)
        if not number:
            return None
        opened = self._opened[number - 1]
        return opened if address - opened.address <= len(opened.text) - length else None

    def span(self, raw: Raw) -> tuple[int, int]:
        """Return the byte offsets of the start and the end of a value."""
        opened = self._around(raw)
        address, length = _buffer(raw)
        if opened is not None:
            start = address - opened.address
            return opened.offsets.outside(start), opened.offsets.outside(start + length)
        start = address - self._address
        if start < 0 or not self._text.startswith(bytes(raw), start):
            raise RuntimeError("this release of msgspec copies values instead of returning views")
        start -= self._shift
        return max(start, 0), start + length


class _Offsets:
    """Offsets in a JSON text between `start` and `end`, for those in the value that it encodes."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._inside, self._outside = [0], [start]
        for escape in _ESCAPE.finditer(data, start, end):
            is_short = len(escape[0]) == 2  # such as `\n`, for one byte
            length = 1 if is_short else len(json.loads(b'"%b"' % escape[0]).encode())
            inside = self._inside[-1] + escape.start() - self._outside[-1]
            self._inside.append(inside + length)
            self._outside.append(escape.end())

    def outside(self, at: int) -> int:
        """Return the offset in the text for an offset in its value that is not within a character."""
        number = bisect_right(self._inside, at) - 1
        return self._outside[number] + at - self._inside[number]


class _Opened(NamedTuple):
    """The value of a text, the address of its bytes, and its offsets."""

    text: bytes
    address: int
    offsets: _Offsets


_address = attrgetter("address")


def as_list(lines: bytes) -> bytes:
    """Return JSON lines as a list, in which each line has the same place, one byte later."""
    values = lines.removeprefix(BOM).strip()
    end = len(lines.rstrip())
    listed = _BLANK_LINE.sub(b" ", values).replace(b"\n", b",")
    return b"[%b%b%b]" % (b" " * (end - len(values)), listed, b" " * (len(lines) - end))


def readable(written: bytes, data: bytes) -> bytes:
    """Return JSON of the same length that msgspec reads: no byte order mark, deep nesting, NaN or lone surrogates.

    `written` is the data, or `as_list(data)`. Raises `HistoryError` with the place in the data if it is not JSON.
    """
    text = bytearray(written.replace(BOM, b"   ", 1) if written.startswith(BOM) else written)
    depth = start = 0
    for token in _TOKEN.finditer(written):
        at, end = token.span()
        mark = written[at]
        if mark in b"[{":
            depth += 1
            start = at if depth == _MAX_LEVELS else start
        elif mark in b"]}":
            depth -= 1
            if depth == _MAX_LEVELS - 1:
                text[start:end] = b'"%b"' % (b"x" * (end - start - 2))
        elif mark != ord('"'):
            text[at:end] = (b"0." + b"1" * (end - at))[: end - at]
        elif b"\\u" in token[0]:
            text[at:end] = _LONE_SURROGATE.sub(lambda escape: escape[1] or rb"\ufffd", token[0])
    if depth >= _MAX_LEVELS:
        text[start:] = b'"%b' % (b"x" * (len(text) - start - 1))
    try:
        json.loads(text.decode("latin-1"), parse_int=len)  # each character is one byte of the data
    except JSONDecodeError as error:
        raise _fault(data, error, error.pos - (len(written) - len(data)) // 2) from None
    return bytes(text)


def position(data: bytes, at: int) -> tuple[int, int]:
    """Return the line and the column (in characters) of a byte offset, both counted from 1."""
    start = data.rfind(b"\n", 0, at) + 1
    return data.count(b"\n", 0, at) + 1, len(data[start:at].decode(errors="replace")) + 1


def line_and_column(data: bytes, at: int) -> str:
    """Describe a byte offset by its line and column."""
    line, column = position(data, at)
    return f"line {line}, column {column}"


def _fault(data: bytes, error: JSONDecodeError, at: int) -> HistoryError:
    if error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip(" \t\n\r"):
        return HistoryError(f"cut off: the text ends at {line_and_column(data, len(data))}, in the middle of a history")
    message = error.msg.removesuffix(" at").removesuffix(": ")
    return HistoryError(f"not JSON: {message} at {line_and_column(data, at)}")


def described(value: Any) -> str:
    """Describe a JSON value for a message."""
    if isinstance(value, str):
        return f"the text {short(value)}" if value else "an empty text"
    if isinstance(value, list):
        return f"a list of {len(value):,}" if value else "an empty list"
    if not isinstance(value, dict):
        return short(value) if value is None or isinstance(value, bool) else f"the number {short(value)}"
    if not value:
        return "an empty object"
    return f"an object with the {'key' if len(value) == 1 else 'keys'} {shortened(', '.join(value), _MAX_KEYS)}"


def short(value: Any) -> str:
    """Return a scalar as JSON, shortened to 60 characters."""
    start = value[:_MAX_SCALAR] if isinstance(value, str) else value
    return shortened(json.dumps(start, ensure_ascii=False), _MAX_SCALAR)


_strict = json.JSONDecoder(object_pairs_hook=distinct).decode
_lenient = json.JSONDecoder().decode


def decode(piece: bytes) -> tuple[Any, str]:
    """Return the decoded content, and the reason why rules never apply to it, or an empty text if they do.

    A content that cannot be decoded is None.
    """
    text = piece.decode()
    why = ""
    try:
        try:
            value = _strict(text)
        except DuplicateKey:
            value, why = _lenient(text), "it contains an object with a duplicate key"
        if is_deep(value, len(text)):
            raise RecursionError
    except RecursionError:
        return None, "it is nested too deeply to be read"
    except ValueError:
        return None, "it contains a number with too many digits"
    return value, why if type(value) in (str, list, dict) else NO_CONTENT


def encode(value: Any) -> bytes:
    """Encode a content as PydanticAI does: compact, with non-ASCII characters, and lone surrogates as escapes."""
    try:
        return to_json(value, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError):
        return escaped(_encode(value)).encode()
