"""Reads stored JSON as Structs, with the byte offset of every value that they hold as `Raw`."""

from __future__ import annotations

import ctypes
import json
import re
from functools import cache
from json.decoder import JSONDecodeError
from typing import Any

import msgspec
from msgspec import Raw

from reducer.errors import HistoryError
from reducer.histories.contents import decode
from reducer.strict_json import as_python_3_11

BOM = b"\xef\xbb\xbf"

_DEEPEST = 100
"""Levels of nesting that msgspec reads here; the messages of a history are not as deep."""
_START = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\n\r]*+")
_TOKEN = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[][{}]|(?<![-.\w])(?:NaN|-?Infinity|-?(?:0|[1-9]\d*+)(?:\.\d++)?[eE][-+]?\d++)(?!\w)',
    re.DOTALL,
)
_LONE_SURROGATE = re.compile(rb"((?:\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|\\(?!u[dD][89a-fA-F]).)|\\u[dD]...", re.DOTALL)
_WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")

_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.c_void_p]
_decoder = cache(msgspec.json.Decoder)


class _Buffer(ctypes.Structure):
    """The beginning of CPython's `Py_buffer`, and room for its other fields."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("others", ctypes.c_void_p * 8),
    )


def _buffer(value: Any) -> tuple[int, int]:
    """Return the address and the length of the bytes of a value."""
    buffer = _Buffer()
    reference = ctypes.byref(buffer)
    _get_buffer(value, reference, 0)
    try:
        return buffer.buf or 0, buffer.len
    finally:
        _release_buffer(reference)


class Source:
    """A stored history. `text` is what msgspec reads: `data` itself, or `readable(data)`.

    A `Raw` is a view of `text`, so that the difference of the two addresses is its offset, in `data` as well.
    """

    def __init__(self, data: bytes, text: bytes) -> None:
        self.data = data
        self._text = text
        self._address = _buffer(text)[0]
        start = _START.match(text)
        self.root = Raw(memoryview(text)[start.end() if start else 0 :])

    def decode(self, kind: Any, raw: Raw) -> Any:
        """Decode a value. Raises `msgspec.MsgspecError` and `RecursionError`."""
        return _decoder(kind).decode(raw)

    def value(self, raw: Raw) -> Any:
        """Decode a value as plain JSON; None if it cannot be decoded."""
        return decode(self.data[slice(*self.place(raw))])[0]

    def mark(self, raw: Raw) -> str:
        """Return the first character of a value, such as `{`."""
        return chr(memoryview(raw)[0])

    def place(self, raw: Raw) -> tuple[int, int]:
        """Return the byte offsets where a value starts and ends."""
        address, length = _buffer(raw)
        start = address - self._address
        if start < 0 or not self._text.startswith(bytes(raw), start):
            raise RuntimeError("this release of msgspec copies values, so their places are unknown")
        return start, start + length


def readable(data: bytes) -> bytes:
    """Return JSON in which other values of the same length replace those that msgspec refuses.

    It refuses NaN, infinity, numbers out of range, lone surrogates and deep nesting. Raises `HistoryError` for what is
    no JSON.
    """
    text = bytearray(data.replace(BOM, b"   ", 1) if data.startswith(BOM) else data)
    depth = start = 0
    for token in _TOKEN.finditer(data):
        if token[0] in b"[{":
            depth += 1
            start = token.start() if depth == _DEEPEST else start
        elif token[0] in b"]}":
            depth -= 1
            if depth == _DEEPEST - 1:
                text[start : token.end()] = b'"%b"' % (b"x" * (token.end() - start - 2))
        elif token[0].startswith(b'"'):
            text[slice(*token.span())] = _LONE_SURROGATE.sub(lambda escape: escape[1] or rb"\ufffd", token[0])
        else:
            text[slice(*token.span())] = b"1" * len(token[0])
    if depth >= _DEEPEST:
        text[start:] = b'"%b' % (b"x" * (len(text) - start - 1))
    try:
        json.loads(text.decode("latin-1"), parse_int=len)  # each character is one byte of the data
    except JSONDecodeError as error:
        raise _fault(data, as_python_3_11(error)) from None
    return bytes(text)


def position(data: bytes, at: int) -> tuple[int, int]:
    """Return the line and the column (in characters) of a byte offset, both counted from 1."""
    start = data.rfind(b"\n", 0, at) + 1
    return data.count(b"\n", 0, at) + 1, len(data[start:at].decode(errors="replace")) + 1


def located(data: bytes, at: int) -> str:
    """Return the line and the column of a byte offset as words."""
    line, column = position(data, at)
    return f"line {line}, column {column}"


def _fault(data: bytes, error: JSONDecodeError) -> HistoryError:
    rest = error.doc[error.pos : error.pos + 12].strip(" \t\n\r")
    in_escape = error.msg.startswith("Invalid \\") and '"' not in error.doc[error.pos + 1 :]
    if error.msg.startswith("Unterminated") or in_escape or any(word.startswith(rest) for word in _WORDS):
        return HistoryError(f"cut off: the text ends at {located(data, len(data))}, in the middle of a history")
    message = error.msg.removesuffix(" at").removesuffix(" starting").removesuffix(": ")
    return HistoryError(f"not JSON: {message} at {located(data, error.pos)}")
