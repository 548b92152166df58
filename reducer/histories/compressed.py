"""Compressed files: gzip (RFC 1952) and Zstandard (RFC 8878), of one or more members or frames.

They are recognised by their first bytes when they are read, by the ending of their name when they are written.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Literal, cast

from reducer.histories.lines import Stream

Compression = Literal["", "gz", "zst"]
"""How bytes are compressed: not at all, by gzip, by Zstandard."""

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
_STEP = 1 << 10
"""Compressed bytes that zstandard gets at once: its output has no bound, and 1 kB is 32 MB at worst."""


class CompressedError(ValueError):
    """A compressed file that ends early, is damaged or needs a missing package; the message says where."""


def compression_of(name: str) -> Compression:
    """Return how a file of this name is compressed."""
    lower = name.lower()
    return "gz" if lower.endswith(".gz") else "zst" if lower.endswith((".zst", ".zstd")) else ""


def decompressed(source: Stream) -> Stream:
    """Return the decompressed bytes, or the same stream if it is not compressed. Reading raises `CompressedError`."""
    head = b""
    while len(head) < 4 and (more := source.read(4 - len(head))):
        head += more
    source.unread(head)
    if head.startswith(_GZIP):
        return Stream(_gzip_reader(source))
    if head == _ZSTD or (head[1:] == _SKIPPABLE and head[0] >> 4 == 5):
        frames = _frames(source)
        return Stream(lambda most: next(frames, b""))
    return source


def compressed(content: bytes, kind: Compression) -> bytes:
    """Compress bytes; several results in a row are a file of all of them. The same bytes give the same result.

    Raises `CompressedError`.
    """
    if kind == "gz":
        return gzip.compress(content, 6, mtime=0)
    if kind == "zst":
        return cast(bytes, _zstandard().ZstdCompressor(write_checksum=True).compress(content))
    return content


def _gzip_reader(source: Stream) -> Callable[[int], bytes]:
    file = gzip.GzipFile(fileobj=source, mode="rb")  # type: ignore[call-overload]

    def read(most: int) -> bytes:
        try:
            return cast(bytes, file.read1(most))
        except EOFError:
            raise _cut_short("gzip", source) from None
        except (zlib.error, gzip.BadGzipFile) as error:
            raise _damaged("gzip", source, error) from None

    return read


def _frames(source: Stream) -> Iterator[bytes]:
    """Decompress Zstandard frames one by one: its own stream reader takes a frame that ends early for a whole one."""
    zstandard = _zstandard()
    frame = None
    while step := source.read(_STEP):
        frame = frame or zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        try:
            content = frame.decompress(step)
        except zstandard.ZstdError as error:
            raise _damaged("zstd", source, error) from None
        if frame.eof:
            source.unread(frame.unused_data)
            frame = None
        if content:
            yield content
    if frame is not None:
        raise _cut_short("zstd", source)


def _cut_short(kind: str, source: Stream) -> CompressedError:
    return CompressedError(f"cut short: the {kind} file ends early, at byte {source.at:,}")


def _damaged(kind: str, source: Stream, error: Exception) -> CompressedError:
    return CompressedError(f"damaged: the {kind} file cannot be read at about byte {source.at:,} ({error})")


def _zstandard() -> Any:
    try:
        return import_module("zstandard")
    except ImportError:
        raise CompressedError("zstd files need the package zstandard: pip install 'reducer[zstd]'") from None
