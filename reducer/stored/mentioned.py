"""What later messages of a stored history mention, for each of its tool returns; read only when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reducer.references import Mentions, Returned, Written
from reducer.stored import InputFormat, Key
from reducer.stored.events import events
from reducer.stored.raw import Raw
from reducer.stored.reader import read
from reducer.stored.text import JsonText

_DEPTH = 48


class Mentioned:
    """The values that later messages mention, in one stored history: UTF-8 JSON as `stored.reduce_json` reads it."""

    __slots__ = ("_data", "_format", "_mentions", "_places")

    def __init__(self, data: bytes, input_format: InputFormat = "auto") -> None:
        self._data = data
        self._format: InputFormat = input_format
        self._mentions: Mentions | None = None
        self._places: dict[Key, int] = {}

    def finder(self, key: Key, content: Any) -> Callable[[], frozenset[str]]:
        """Give what finds the values in a content of the tool return at `key` that later messages mention."""
        return lambda: self._in(key, content)

    def _in(self, key: Key, content: Any) -> frozenset[str]:
        if self._mentions is None:
            happened = list(events(_without_contents(self._data, self._format), self._format))
            self._places = {place.key: number for number, place in enumerate(happened) if isinstance(place.event, Returned)}
            self._mentions = Mentions([(number, place.event) for number, place in enumerate(happened) if isinstance(place.event, Written)])
        place = self._places.get(key)
        return frozenset() if place is None else self._mentions.after(place, content)


def _without_contents(data: bytes, input_format: InputFormat) -> Any:
    """Read a history with null for the contents of its tool returns: one of 50 MB is then as small as what was written in it."""
    pieces: list[bytes] = []
    done = 0
    raw = Raw(data)
    spans = (span for found in read(raw, input_format) for span in ((found[4], found[5]), *(copy[:2] for copy in found[7])))
    for start, end in sorted(spans):
        if start < end:  # a return may have none
            pieces += (raw.piece(done, start), b"null")
            done = end
    pieces.append(raw.piece(done, len(raw.source.text)))
    source = JsonText(b"".join(pieces).decode())
    start = source.white(1 if source.text.startswith("\ufeff") else 0)
    value, _ = source.value(start)
    return _read(source, start, _DEPTH) if value is None else value


def _read(source: JsonText, at: int, depth: int) -> Any:
    """Read a value in which something is nested too deep: piece by piece, so that only that is left out."""
    mark = source.text[at : at + 1] if depth else ""
    if mark == "[":
        return [_read(source, start, depth - 1) for start in source.items(at)]
    if mark == "{":
        return {key: _read(source, start, depth - 1) for key, start in source.members(at)}
    value, source.at = source.value(at)
    return value
