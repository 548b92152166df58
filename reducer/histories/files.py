"""Files of histories: JSON lines in chunks of whole lines, compressed with gzip (RFC 1952) or Zstandard (RFC 8878).

A compressed file has one or more members or frames. Reading detects the compression by the first bytes, writing
chooses it by the file name.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from errno import EFBIG
from functools import partial
from importlib import import_module
from itertools import chain
from typing import IO, Any, Literal, NamedTuple, cast

from reducer.histories.source import BOM
from reducer.values import loads

MAX_LINE = 16 * 1024 * 1024
"""Maximum length of a line in bytes, including its line end. Longer lines are not read."""

TOO_LARGE = "longer than 16 MB, or needs too much memory"
"""Why a line is not read."""

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


class Chunk(NamedTuple):
    """A part of a file: a whole `history`, complete `lines` of JSON lines, or a `long line` and the `rest` of it.

    A long line is too large to be decoded. A `sample` is a file without a history. A `row group` of a Parquet file has
    no content. `number` is that of the first line, that of the row group, or 0 for a history and a sample.
    """

    kind: Literal["history", "lines", "long line", "rest", "sample", "row group"]
    number: int
    content: bytes

    @property
    def is_blank(self) -> bool:
        """Return whether these are empty lines."""
        return self.kind == "lines" and not self.content.strip()


def chunks(file: IO[bytes], name: str) -> Iterator[Chunk]:
    """Yield the chunks of the open file `name`, at least one. The joined chunks are its decompressed bytes.

    The split depends only on these bytes. A chunk of lines ends with the first line end at or after `_MIN_CHUNK` bytes,
    before a long line or at the end of the file. Raises `CompressedError`, and OSError above `MAX_HISTORY` bytes.
    """
    stream = decompressed(file)
    are_lines, head = (True, []) if name.lower().endswith(_LINES_ENDINGS) else detect_lines(stream)
    if not are_lines:
        content = b"".join([*head, stream.read(MAX_HISTORY + 1)])
        if len(content) > MAX_HISTORY:
            raise OSError(EFBIG, f"larger than {MAX_HISTORY:,} bytes; split it into histories in JSON lines")
        yield Chunk("history", 0, content)
        return
    number, parts = 1, _parts(stream, head)
    for kind, content in chain([next(parts, ("lines", b""))], parts):
        yield Chunk(kind, number, content)
        number += content.count(b"\n")


def detect_lines(stream: IO[bytes]) -> tuple[bool, list[bytes]]:
    """Return whether the first line that is not blank is a JSON value and another one follows, and the lines read.

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
    return values == 2, head


def _is_structure(line: bytes) -> bool:
    try:
        return type(loads(line)) in (dict, list)
    except (ValueError, RecursionError):
        return False


def _parts(stream: IO[bytes], head: list[bytes]) -> Iterator[tuple[Literal["lines", "long line", "rest"], bytes]]:
    lines: list[bytes] = []
    size = 0
    for line in chain(head, iter(partial(stream.readline, MAX_LINE + 1), b"")):
        is_long = len(line) > MAX_LINE or is_heavy(line)
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


def decompressed(file: IO[bytes]) -> io.BufferedReader:
    """Return the bytes of a file, decompressed if it is compressed. Reading raises `CompressedError`."""
    head = file.read(4)
    if head.startswith(_GZIP):
        pieces = _frames(head, file, "gzip", lambda: zlib.decompressobj(wbits=31), zlib.error)
    elif head == _ZSTD or (head[1:] == _SKIPPABLE and head[0] >> 4 == 5):
        zstandard = _zstandard()
        decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        pieces = _frames(head, file, "zstd", decompressor.decompressobj, zstandard.ZstdError)
    else:
        pieces = chain([head] if head else [], iter(partial(file.read, _STEP), b""))
    return io.BufferedReader(_Pieces(pieces), _STEP)


class _Pieces(io.RawIOBase):
    """A readable file that consists of pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._rest = self._rest or memoryview(next(self._pieces, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def _frames(
    step: bytes, file: IO[bytes], kind: str, start: Callable[[], Any], error_type: type[Exception]
) -> Iterator[bytes]:
    """Decompress gzip members or Zstandard frames one by one, because a stream reader accepts a frame that ends early.

    `step` are the bytes already read, and `start` returns the decompressor of one frame. Zeros between frames are
    ignored.
    """
    frame, at = None, len(step)
    while step:
        if frame is not None or (step := step.lstrip(b"\0")):
            frame = frame or start()
            try:
                content = frame.decompress(step)
            except error_type as error:
                place = f"at about byte {at:,} ({error})"
                raise CompressedError(f"damaged: the {kind} file cannot be read {place}") from None
            if content:
                yield content
            step, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
        if not step:
            step = file.read(_COMPRESSED_STEP)
            at += len(step)
    if frame is not None:
        raise CompressedError(f"cut short: the {kind} file ends early, at byte {at:,}")


def _zstandard() -> Any:
    try:
        return import_module("zstandard")
    except ImportError:
        raise CompressedError("zstd files need the package zstandard: pip install 'reducer[zstd]'") from None
