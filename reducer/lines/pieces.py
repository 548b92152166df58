"""A stream of lines cut into pieces of whole lines, and long lines into pieces of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reducer.lines.stream import Stream

MAX_LINE = 16 * 1024 * 1024
"""Bytes of the longest line that is read, with its line end."""
_AIM = 2 * 1024 * 1024
"""Bytes that a piece has at least: small enough for several at once in memory, large enough for an archive member of its own."""
_STEP = 1 << 18


class Piece(NamedTuple):
    """Some bytes of a stream: whole lines, or (`long`) a part of a line that is too long to be read, the last of which has `ends`."""

    content: bytes
    long: bool
    ends: bool


def cut(stream: Stream) -> Iterator[Piece]:
    """Cut a stream into pieces at places that its bytes alone decide: one after the other they are the stream.

    A piece ends with the first line end at or after `_AIM` bytes; the last may be shorter and end without one.
    """
    held = bytearray()
    at_end = False
    while True:
        end = held.find(b"\n", _AIM - 1) + 1
        start = held.rfind(b"\n", 0, min(_AIM - 1, len(held))) + 1  # of the line that is the last of the piece
        searched = len(held)
        while not end and not at_end and searched - start <= MAX_LINE:
            found = stream.read(_STEP)
            at_end = not found
            held += found
            if searched < _AIM:
                start = held.rfind(b"\n", 0, min(_AIM - 1, len(held))) + 1
            end = held.find(b"\n", max(searched, _AIM - 1)) + 1
            searched = len(held)
        if not held:
            return
        whole = end or len(held)
        if whole - start <= MAX_LINE:
            yield Piece(_taken(held, whole), False, True)
            continue
        if start:
            yield Piece(_taken(held, start), False, True)
        yield from _long(stream, held)


def _long(stream: Stream, held: bytearray) -> Iterator[Piece]:
    """Cut the line that `held` begins with into pieces of `_AIM` bytes, and leave in it what follows the line."""
    while True:
        while len(held) <= _AIM and (found := stream.read(_STEP)):
            held += found
        end = held.find(b"\n", 0, _AIM) + 1
        last = bool(end) or len(held) <= _AIM
        size = end or min(_AIM, len(held))
        yield Piece(_taken(held, size), True, last)
        if last:
            return


def _taken(held: bytearray, size: int) -> bytes:
    with memoryview(held) as view:  # a slice of a bytearray would be copied twice
        found = view[:size].tobytes()
    del held[:size]
    return found


def lines_of(piece: bytes) -> Iterator[tuple[int, int]]:
    """Give where each line of a piece begins, and where it ends without its line feed."""
    at = 0
    while at < len(piece):
        end = piece.find(b"\n", at)
        if end < 0:
            end = len(piece)
        yield at, end
        at = end + 1
