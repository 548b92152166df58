"""Compressed files: gzip (RFC 1952) and Zstandard (RFC 8878), with one or more members or frames.

Reading detects the compression by the first bytes, writing chooses it by the file name.
"""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BufferedReader, RawIOBase
from typing import IO, Any, cast

from reducer.errors import FileError

_GZIP = b"\x1f\x8b"
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)
"""The first bytes of a frame, and of one that is skipped."""
_BUFFER = 1 << 18


@contextmanager
def decompressed(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """Yield the bytes of the file `name` as a stream, decompressed in steps if they are compressed.

    Raises `FileError` in the block for a file that ends early, is damaged or needs a missing package.
    """
    head = file.read(4)
    stream: Any = BufferedReader(_Raw(head, file), _BUFFER)
    errors: tuple[type[Exception], ...] = ()
    if head.startswith(_GZIP):
        stream, errors = gzip.GzipFile(fileobj=stream), (gzip.BadGzipFile, zlib.error)
    elif _ZSTD.match(head):
        zstd = _zstd(name)
        stream, errors = zstd.ZstdFile(stream), (zstd.ZstdError,)
    try:
        yield stream
    except EOFError:
        raise FileError(f"{name}: cut short: the compressed file ends early") from None
    except errors as error:
        raise FileError(f"{name}: damaged: the compressed file cannot be read: {error}") from None


class _Raw(RawIOBase):
    """A file of which the first bytes have been read.

    Each read is a call of a Python method, because Python reacts to Ctrl-C only between those.
    """

    def __init__(self, head: bytes, file: Any) -> None:
        self._head = head
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(self._head)
        if not size:
            return cast(int, self._file.readinto1(buffer))
        buffer[:size] = self._head
        self._head = b""
        return size


def compressed(content: bytes, name: str) -> bytes:
    """Compress bytes for a file of this name, always to the same result. Joined results are one compressed file.

    Raises `FileError`.
    """
    ending = name.lower()
    if ending.endswith(".gz"):
        return gzip.compress(content, 6, mtime=0)
    if ending.endswith((".zst", ".zstd")):
        zstd = _zstd(name)
        options = {zstd.CompressionParameter.checksum_flag: 1}
        return cast(bytes, zstd.compress(content, options=options))
    return content


def _zstd(name: str) -> Any:
    module = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        return import_module(module)
    except ImportError:
        message = f"{name}: zstd files need the package backports.zstd: pip install 'reducer[zstd]'"
        raise FileError(message) from None
