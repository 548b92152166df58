"""The bytes of a stored history, and their text where that is needed: places in the one and in the other."""

from __future__ import annotations

from json.decoder import JSONDecodeError
from typing import Any

from reducer.errors import HistoryError
from reducer.stored.outline import UNSURE, Kept
from reducer.stored.seams import Seams, repeated
from reducer.stored.text import JsonText, follow

Found = tuple[int, int, dict[str, Any], Any, int, int, str, tuple[Kept, ...]]
"""One tool return: its place among the messages and parts, its other fields by PydanticAI's names, its content, where the JSON of that
starts and ends (as places of a `Raw`), why it cannot be written back without loss (empty when it can), and the other places where the same return stands.
A bare tuple: a named one takes 0.3 µs more to make."""


class Raw:
    """A stored history as bytes, with the text `source` in which places are counted.

    At first it has a character for each byte (Latin-1): all that JSON itself is written with is ASCII, and text that is not need not be
    decoded before it is asked for. Where contents that are no texts are not ASCII, so that each is read twice, `structured` becomes true if it was
    None: it is then better to `turn`. `look` tells which way of reading many messages at once was good last. `spelled` is what the bytes say, read
    when it is asked for: raises `HistoryError` then for what is not UTF-8.
    """

    __slots__ = ("_byte", "_character", "_details", "_spelled", "ascii", "bytewise", "data", "look", "seams", "source", "structured")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.ascii = data.isascii()
        self.bytewise = not self.ascii
        self.structured: bool | None = False
        self.look = 0
        self.source = JsonText(data.decode("latin-1"))
        self.seams = Seams(self.source.text, data, self.bytewise)
        self._spelled = self.source if self.ascii else None
        self._byte = self._character = 0
        self._details: bool | None = None

    @property
    def has_details(self) -> bool:
        """Tell whether a key `raw_result` may stand anywhere, written without escapes."""
        if self._details is None:
            self._details = b'"raw_result"' in self.data
        return self._details

    @property
    def spelled(self) -> JsonText:
        """Give the text, to be read."""
        if self._spelled is None:
            self._spelled = JsonText(_decoded(self.data))
        return self._spelled

    def turn(self) -> None:
        """Count places in characters from now on: contents that are no texts, and not ASCII, are then read once."""
        self.source, self.bytewise = self.spelled, False
        self.seams = Seams(self.source.text, self.data if self.ascii else None, False)

    def encoded(self, text: str) -> bytes:
        """Give the bytes of a piece of `source`."""
        return text.encode("latin-1" if self.bytewise else "utf-8")

    def in_text(self, place: int) -> int:
        """Tell where a place is in the text."""
        return self._to_text(place) if self.bytewise else place

    def from_text(self, at: int) -> int:
        """Tell which place is `at` in the text."""
        return self._to_bytes(at) if self.bytewise else at

    def piece(self, start: int, end: int) -> bytes:
        """Give the bytes between two places."""
        return self.data[start:end] if self.bytewise or self.ascii else self.source.text[start:end].encode()

    def _to_bytes(self, at: int) -> int:
        # Quick for places near the last one.
        if not at:
            return at
        if at == self._character:
            return self._byte
        if at >= self._character:
            self._byte += len(self.spelled.text[self._character : at].encode())
        else:
            self._byte -= len(self.spelled.text[at : self._character].encode())
        self._character = at
        return self._byte

    def _to_text(self, at: int) -> int:
        if not at:
            return at
        if at >= self._byte:
            self._character += len(self.data[self._byte : at].decode())
        else:
            self._character -= len(self.data[at : self._byte].decode())
        self._byte = at
        return self._character

    def placed(self, found: Found) -> Found:
        """Count the places of a tool return that was found in the text."""
        if not self.bytewise:
            return found
        message, part, fields, content, start, end, flaw, others = found
        copies = tuple((self._to_bytes(begin), self._to_bytes(behind), value, why) for begin, behind, value, why in others)
        return message, part, fields, content, self._to_bytes(start), self._to_bytes(end), flaw, copies

    def sure(self, found: Found) -> Found:
        """Find out why a tool return cannot be written back without loss, where that was left open."""
        if found[6] is not UNSURE:
            return found
        message, part, fields, content, start, end, flaw, copies = found
        flaw = "" if type(content) is str else repeated(self.piece(start, end), content)
        for begin, behind, value, _ in copies:
            if type(value) is not str and value is not content:
                flaw = flaw or repeated(self.piece(begin, behind), value)
        return message, part, fields, content, start, end, flaw, copies

    def follow(self, at: int) -> tuple[int, bool]:
        """Do what `text.follow` does, with places."""
        try:
            return follow(self.source.text, at)
        except JSONDecodeError as error:
            raise JSONDecodeError(error.msg, self.spelled.text, self.in_text(error.pos)) from None


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise HistoryError(f"not UTF-8 text: byte 0x{data[error.start]:02x} at line {line}, byte {column}") from None
