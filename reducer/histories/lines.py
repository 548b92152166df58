"""JSON lines: files with a history on each line, read and written in pieces of whole lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from reducer.histories.source import BOM
from reducer.strict_json import loads

MAX_LINE = 16 * 1024 * 1024
"""Bytes of the longest line that is read, with its line end."""

_PIECE = 2 * 1024 * 1024
"""Least bytes of a piece: small enough for several in memory, large enough to be compressed on its own."""
_STEP = 1 << 18
_LINES_ENDINGS = tuple(ending + compressed for ending in (".jsonl", ".ndjson") for compressed in ("", ".gz", ".zst"))
ENDINGS = (".json", ".json.gz", ".json.zst", *_LINES_ENDINGS)
"""How the names of files end that may hold histories."""

_LIGHT = 4 * 1024 * 1024
"""Bytes up to which no line takes too much memory."""
_MOST_MEMORY = 225_000_000
"""Bytes of memory that a line may take; a process takes 60 MB besides."""
_FOUR_BYTES = re.compile(rb"[\xf0-\xf4]|\\u[dD][89aAbB]")
_TWO_BYTES = re.compile(rb"[\xc4-\xef]|\\u(?!00)")


class Stream:
    """Bytes that are read once, with a look ahead; `source(most)` returns about so many, and none at the end only.

    `at` is the number of bytes read, without those that were unread.
    """

    def __init__(self, source: Callable[[int], bytes]) -> None:
        self._source = source
        self._ahead = b""
        self._taken = 0
        self.at = 0

    def read(self, most: int = -1) -> bytes:
        """Read at most `most` bytes, none at the end only; all that are left for a negative number."""
        if most < 0:
            return b"".join(iter(lambda: self.read(_STEP), b""))
        self._fill()
        found = self._ahead[self._taken : self._taken + most]
        self._taken += len(found)
        self.at += len(found)
        return found

    def readline(self, most: int) -> bytes:
        """Read up to the end of a line, at most `most` bytes."""
        parts: list[bytes] = []
        while most and not (parts and parts[-1].endswith(b"\n")) and self._fill():
            end = self._ahead.find(b"\n", self._taken) + 1 or len(self._ahead)
            parts.append(self.read(min(most, end - self._taken)))
            most -= len(parts[-1])
        return b"".join(parts)

    def _fill(self) -> bool:
        if self._taken == len(self._ahead):
            self._ahead, self._taken = self._source(_STEP), 0
        return bool(self._ahead)

    def unread(self, taken: bytes) -> None:
        """Return the bytes that were read last; they are read again."""
        self.at -= len(taken)
        if len(taken) > self._taken:
            self._ahead, self._taken = taken + self._ahead[self._taken :], len(taken)
        self._taken -= len(taken)


class Piece(NamedTuple):
    """Some bytes of a stream: whole lines, or (`long`) a part of a line that is too long to be read; the last one
    `ends` it.
    """

    content: bytes
    long: bool
    ends: bool


def is_lines_name(name: str) -> bool:
    """Tell whether a file of this name holds JSON lines, whatever it begins with."""
    return name.lower().endswith(_LINES_ENDINGS)


def are_lines(stream: Stream) -> bool:
    """Tell whether the first line that is not blank is a JSON value and something follows it; reads nothing.

    A single line of more than `MAX_LINE` bytes is a history of its own.
    """
    head: list[bytes] = []
    values = 0
    while values < 2 and (line := stream.readline(MAX_LINE + 1)):
        head.append(line)
        value = line.removeprefix(BOM).strip(b" \t\r\n")
        values += value != b""
        if values == 1 and value and (len(line) > MAX_LINE or not _is_structure(value)):
            break
    stream.unread(b"".join(head))
    return values == 2


def _is_structure(line: bytes) -> bool:
    try:
        return type(loads(line)) in (dict, list)
    except (ValueError, RecursionError):
        return False


def pieces(stream: Stream) -> Iterator[Piece]:
    """Cut a stream into pieces, at places that depend on its bytes alone; joined, they are the stream.

    A piece of whole lines ends with the first line end at or after `_PIECE` bytes, before a long line, or at the end.
    """
    lines: list[bytes] = []
    size = 0
    while line := stream.readline(MAX_LINE + 1):
        is_long = len(line) > MAX_LINE
        if not is_long:
            lines.append(line)
            size += len(line)
        if lines and (is_long or size >= _PIECE):
            yield Piece(b"".join(lines), False, True)
            lines, size = [], 0
        while is_long:
            more = b"" if line.endswith(b"\n") else stream.readline(_PIECE)
            yield Piece(line, True, not more)
            line, is_long = more, bool(more)
    if lines:
        yield Piece(b"".join(lines), False, True)


def lines_of(piece: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each line of a piece starts, and where it ends without its line feed."""
    start = 0
    while start < len(piece):
        end = piece.find(b"\n", start)
        end = len(piece) if end < 0 else end
        yield start, end
        start = end + 1


def is_heavy(line: bytes) -> bool:
    """Tell whether decoding a line takes too much memory, as 5,000,000 empty objects or 13 MB of text with an emoji do.

    Measured on lines of 16 MB: a text takes three times its characters of one byte, five times those of two or four
    bytes (the widest decides); an object or list takes 200 bytes, a key with its value 190, another value 60.
    """
    if len(line) <= _LIGHT:
        return False
    width = 1
    if not line.isascii() or b"\\u" in line:
        width = 4 if _FOUR_BYTES.search(line) else 2 if _TWO_BYTES.search(line) else 1
    texts = len(line) * (3 + 5 * (width - 1))
    structure = 200 * (line.count(b"{") + line.count(b"[")) + 190 * line.count(b'":') + 60 * line.count(b",")
    return texts + structure > _MOST_MEMORY
