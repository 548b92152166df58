"""Reads stored JSON as Structs, with the byte offset of every value that they hold as `Raw`."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import msgspec
from msgspec import Raw

from reducer.histories.contents import decode

BOM = b"\xef\xbb\xbf"

_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.c_void_p]
_decoder = cache(msgspec.json.Decoder)


class NotLocated(ValueError):
    """A value that is no view of the input, so that its offset is not known."""


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


class MsgspecSource:
    """JSON text that msgspec reads: everything but NaN, lone surrogates, numbers out of range and deep nesting.

    A `Raw` is a view of the input, so that the difference of the two addresses is its offset.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._address = _buffer(data)[0]

    def decode(self, kind: Any, raw: Raw | None = None) -> Any:
        """Decode a value, by default all of the input. Raises `msgspec.MsgspecError` and `RecursionError`."""
        if raw is None:
            return _decoder(kind).decode(
                memoryview(self._data)[len(BOM) :] if self._data.startswith(BOM) else self._data
            )
        return _decoder(kind).decode(raw)

    def value(self, raw: Raw) -> Any:
        """Decode a value; None if it cannot be decoded."""
        return decode(bytes(raw))[0]

    def is_text(self, raw: Raw) -> bool:
        """Tell whether a value is a text, without decoding it."""
        return memoryview(raw)[0] == ord('"')

    def place(self, raw: Raw) -> tuple[int, int]:
        """Return where a value starts and ends. Raises `NotLocated`."""
        address, length = _buffer(raw)
        start = address - self._address
        if start < 0 or not self._data.startswith(bytes(raw), start):
            raise NotLocated("a value is no view of the input")
        return start, start + length
