"""Files of histories: JSON lines in chunks of whole lines, compressed with gzip (RFC 1952) or Zstandard (RFC 8878).

A compressed file has one or more members or frames. Reading detects the compression by the first bytes, writing
chooses it by the file name.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from errno import EFBIG
from importlib import import_module
from itertools import chain
from typing import Any, Literal, NamedTuple, cast

from reducer.histories.source import BOM
from reducer.values import loads

MAX_LINE = 16 * 1024 * 1024
"""Maximum length of a line in bytes, including its line end. Longer lines are not read."""

MAX_HISTORY = 256 * 1024 * 1024
"""Maximum size of a history outside of JSON lines in decompressed bytes. Reducing it needs eight times this memory."""

Compression = Literal["", "gz", "zst"]
"""The compression of bytes: none, gzip or Zstandard."""

_LINES_ENDINGS = tuple(ending + compressed for ending in (".jsonl", ".ndjson") for compressed in ("", ".gz", ".zst"))
ENDINGS = (".json", ".json.gz", ".json.zst", *_LINES_ENDINGS)
"""Endings of the names of files that may contain histories."""

_MAX_LINES_READ = 300_000
"""Lines that are searched for the first two values, because lines can be blank."""
_MIN_CHUNK = 2 * 1024 * 1024
"""Minimum bytes of a chunk of lines: a process keeps several in memory, and compresses each separately."""
_STEP = 1 << 18
_MAX_LIGHT = 4 * 1024 * 1024
"""Up to this many bytes, no line needs too much memory."""
_MAX_MEMORY = 225_000_000
"""Bytes of memory that a line may need; a process needs another 60 MB."""
_FOUR_BYTES = re.compile(rb"[\xf0-\xf4]|\\u[dD][89aAbB]")
_TWO_BYTES = re.compile(rb"[\xc4-\xef]|\\u(?!00)")

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
_COMPRESSED_STEP = 1 << 10
"""Compressed bytes to read at once, because the output has no bound: at worst, 1 kB of Zstandard becomes 32 MB."""


class CompressedError(ValueError):
    """A compressed file ends early, is damaged or needs a missing package; the message contains the position."""


class Stream:
    """Bytes that are read once, and that can be unread. `at` is the number of bytes read.

    `source(size)` returns about `size` bytes, and none only at the end.
    """

    def __init__(self, source: Callable[[int], bytes]) -> None:
        self._source = source
        self._buffer = b""
        self._start = 0
        self.at = 0

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes. Return none only at the end."""
        self._fill()
        content = self._buffer[self._start : self._start + size]
        self._start += len(content)
        self.at += len(content)
        return content

    def readline(self, size: int) -> bytes:
        """Read up to the end of a line, at most `size` bytes."""
        parts: list[bytes] = []
        while size and not (parts and parts[-1].endswith(b"\n")) and self._fill():
            end = self._buffer.find(b"\n", self._start) + 1 or len(self._buffer)
            parts.append(self.read(min(size, end - self._start)))
            size -= len(parts[-1])
        return b"".join(parts)

    def _fill(self) -> bool:
        if self._start == len(self._buffer):
            self._buffer, self._start = self._source(_STEP), 0
        return bool(self._buffer)

    def unread(self, content: bytes) -> None:
        """Push back the bytes that were read last."""
        self.at -= len(content)
        if len(content) > self._start:
            self._buffer, self._start = content + self._buffer[self._start :], len(content)
        self._start -= len(content)


class Chunk(NamedTuple):
    """A part of a file: a whole `history`, complete `lines` of JSON lines, or a `long line` and the `rest` of it.

    A long line is too large to be decoded. A `row group` of a Parquet file has no content. `number` is that of the
    first line, that of the row group, or 0 for a history.
    """

    kind: Literal["history", "lines", "long line", "rest", "row group"]
    number: int
    content: bytes

    @property
    def is_blank(self) -> bool:
        """Return whether these are empty lines."""
        return self.kind == "lines" and not self.content.strip()


def is_lines_name(name: str) -> bool:
    """Return whether a file name stands for JSON lines."""
    return name.lower().endswith(_LINES_ENDINGS)


def are_lines(stream: Stream) -> bool:
    """Return whether the first line that is not blank is a JSON value and another one follows. Reads nothing.

    A single line of more than `MAX_LINE` bytes is a history, not JSON lines. So is a value between many blank lines.
    """
    head: list[bytes] = []
    values = 0
    while values < 2 and len(head) < _MAX_LINES_READ and (line := stream.readline(MAX_LINE + 1)):
        head.append(line)
        value = line.removeprefix(BOM).strip(b" \t\r\n")
        values += value != b""
        if len(line) > MAX_LINE or (values == 1 and value and not _is_structure(value)):
            break
    stream.unread(b"".join(head))
    return values == 2


def _is_structure(line: bytes) -> bool:
    try:
        return type(loads(line)) in (dict, list)
    except (ValueError, RecursionError):
        return False


def chunks(stored: Stream, name: str) -> Iterator[Chunk]:
    """Yield the chunks of the file `name`, at least one. The joined chunks are its decompressed bytes.

    The split depends only on these bytes. A chunk of lines ends with the first line end at or after `_MIN_CHUNK` bytes,
    before a long line or at the end of the file. Raises `CompressedError`, and OSError above `MAX_HISTORY` bytes.
    """
    stream = decompressed(stored)
    if not (is_lines_name(name) or are_lines(stream)):
        yield Chunk("history", 0, _whole(stream))
        return
    number, parts = 1, _parts(stream)
    for kind, content in chain([next(parts, ("lines", b""))], parts):
        yield Chunk(kind, number, content)
        number += content.count(b"\n")


def _whole(stream: Stream) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := stream.read(_STEP):
        parts.append(part)
        size += len(part)
        if size > MAX_HISTORY:
            raise OSError(EFBIG, f"larger than {MAX_HISTORY:,} bytes; split it into histories in JSON lines")
    return b"".join(parts)


def _parts(stream: Stream) -> Iterator[tuple[Literal["lines", "long line", "rest"], bytes]]:
    lines: list[bytes] = []
    size = 0
    while line := stream.readline(MAX_LINE + 1):
        is_long = len(line) > MAX_LINE
        if not is_long:
            lines.append(line)
            size += len(line)
        if lines and (is_long or size >= _MIN_CHUNK):
            yield "lines", b"".join(lines)
            lines, size = [], 0
        if is_long:
            yield "long line", line
        while is_long and not line.endswith(b"\n") and (line := stream.readline(_MIN_CHUNK)):
            yield "rest", line
    if lines:
        yield "lines", b"".join(lines)


def lines_of(chunk: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each line of a chunk, without its line feed."""
    start = 0
    while start < len(chunk):
        end = chunk.find(b"\n", start)
        end = len(chunk) if end < 0 else end
        yield start, end
        start = end + 1


def is_heavy(line: bytes) -> bool:
    """Return whether decoding a line needs too much memory, such as 5,000,000 empty objects or 13 MB with an emoji.

    Measured on lines of 16 MB: each byte needs 3 bytes, or 8 or 18 if the widest character has two or four bytes; an
    object or list needs 200 bytes, a key with its value 190, and another value 60.
    """
    if len(line) <= _MAX_LIGHT:
        return False
    width = 1
    if not line.isascii() or b"\\u" in line:
        width = 4 if _FOUR_BYTES.search(line) else 2 if _TWO_BYTES.search(line) else 1
    texts = len(line) * (3 + 5 * (width - 1))
    structure = 200 * (line.count(b"{") + line.count(b"[")) + 190 * line.count(b'":') + 60 * line.count(b",")
    return texts + structure > _MAX_MEMORY


def compression_of(name: str) -> Compression:
    """Return the compression of a file with this name."""
    lower = name.lower()
    return "gz" if lower.endswith(".gz") else "zst" if lower.endswith((".zst", ".zstd")) else ""


def compressed(content: bytes, kind: Compression) -> bytes:
    """Compress bytes, always to the same result. Joined results are one compressed file. Raises `CompressedError`."""
    if kind == "gz":
        return gzip.compress(content, 6, mtime=0)
    if kind == "zst":
        return cast(bytes, _zstandard().ZstdCompressor(write_checksum=True).compress(content))
    return content


def decompressed(source: Stream) -> Stream:
    """Return the decompressed bytes, or the same stream if it is not compressed. Reading raises `CompressedError`."""
    head = b""
    while len(head) < 4 and (more := source.read(4 - len(head))):
        head += more
    source.unread(head)
    if head.startswith(_GZIP):
        frames = _frames(source, "gzip", lambda: zlib.decompressobj(wbits=31), zlib.error)
    elif head == _ZSTD or (head[1:] == _SKIPPABLE and head[0] >> 4 == 5):
        zstandard = _zstandard()
        decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        frames = _frames(source, "zstd", decompressor.decompressobj, zstandard.ZstdError)
    else:
        return source
    return Stream(lambda size: next(frames, b""))


def _frames(source: Stream, kind: str, start: Callable[[], Any], error_type: type[Exception]) -> Iterator[bytes]:
    """Decompress gzip members or Zstandard frames one by one, because a stream reader accepts a frame that ends early.

    `start` returns the decompressor of one frame. Zeros between frames are ignored.
    """
    frame = None
    while step := source.read(_COMPRESSED_STEP):
        if frame is None and not (step := step.lstrip(b"\0")):
            continue
        frame = frame or start()
        try:
            content = frame.decompress(step)
        except error_type as error:
            place = f"at about byte {source.at:,} ({error})"
            raise CompressedError(f"damaged: the {kind} file cannot be read {place}") from None
        if frame.eof:
            source.unread(frame.unused_data)
            frame = None
        if content:
            yield content
    if frame is not None:
        raise CompressedError(f"cut short: the {kind} file ends early, at byte {source.at:,}")


def _zstandard() -> Any:
    try:
        return import_module("zstandard")
    except ImportError:
        raise CompressedError("zstd files need the package zstandard: pip install 'reducer[zstd]'") from None
