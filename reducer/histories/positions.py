"""Where the values of a JSON text are."""

from __future__ import annotations

from functools import cache

from msgspec import Raw

from reducer.errors import HistoryError
from reducer.histories.format import Path
from reducer.histories.source import Source
from reducer.histories.stored.messages import with_source


def _whole(source: Source) -> Source:
    source.decode(Raw, source.root)
    return source


class Positions:
    """The byte offsets of the values of a JSON text. A text that is not JSON counts as one value at 0."""

    def __init__(self, data: bytes) -> None:
        try:
            self._source = with_source(data, _whole)
        except HistoryError:
            self._source = Source(b"null", b"null")
        self._members = cache(self._read_members)

    def start(self, path: Path) -> int:
        """Return the offset of the value at a path, or of the value around it if there is none."""
        start = self._source.span(self._source.root)[0]
        for end, step in enumerate(path):
            members = self._members(path[:end])
            if step not in members:
                break
            start = members[step][0]
        return start

    def path(self, at: int) -> Path:
        """Return the path of the last value that starts at an offset or before it."""
        path: Path = ()
        while before := [key for key, (start, _) in self._members(path).items() if start <= at]:
            path = (*path, before[-1])
        return path

    def _read_members(self, path: Path) -> dict[str | int, tuple[int, Raw]]:
        raw = self._members(path[:-1])[path[-1]][1] if path else self._source.root
        members = self._source.members(raw).items()
        return {key: (self._source.span(member)[0], member) for key, member in members}
