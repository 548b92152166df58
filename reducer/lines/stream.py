"""Bytes that are read once, from the start to the end, with a look ahead."""

from __future__ import annotations

from collections.abc import Callable


class Stream:
    """Bytes that `source(most)` gives piece by piece, at most so many at once and none at the end."""

    def __init__(self, source: Callable[[int], bytes]) -> None:
        self._source = source
        self._ahead = b""
        self._taken = 0
        self.at = 0
        """The bytes that were read: those that were given back do not count."""

    def read(self, most: int = -1) -> bytes:
        """Read some bytes, at most `most`; nothing at the end only. All that is left for a negative number."""
        if most < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        if self._ahead:
            found = self._ahead[self._taken : self._taken + most]
            self._taken += len(found)
            if self._taken == len(self._ahead):
                self._ahead, self._taken = b"", 0
        else:
            found = self._source(most)
        self.at += len(found)
        return found

    def back(self, taken: bytes) -> None:
        """Give back what was read last: it is read next."""
        self._ahead = taken + self._ahead[self._taken :]
        self._taken = 0
        self.at -= len(taken)

    def skip(self, count: int) -> bool:
        """Read `count` bytes and forget them; False when there are fewer."""
        while count:
            found = self.read(min(count, 1 << 20))
            if not found:
                return False
            count -= len(found)
        return True
