"""Needed values find their places: each is claimed by the first key or text, in the order of the content, that holds it."""

from __future__ import annotations

from typing import Any

from reducer import marks
from reducer.engine.draft import Draft
from reducer.engine.record import NOTHING
from reducer.engine.stretches import around
from reducer.engine.thin import GONE

_SHORTEST = len(str(marks.Mark(1, "characters", ("",))))
"""Characters of a mark besides what it mentions."""


class Claims:
    """What is owed and has not found its place yet.

    `needed`: the values of preserved entities; `bearers`: the texts that hold needed values; `lost`: protected values, which stand in texts
    and never in marks; `marks`: the texts that became marks, with what these mention; `by_keys`: some value stands in a key that is put back.
    """

    __slots__ = ("_bearing", "_draft", "_reads", "bearers", "by_keys", "lost", "marks", "needed")

    def __init__(self, draft: Draft, needed: dict[str, None], bearers: set[str], lost: set[str]) -> None:
        self._draft = draft
        self._bearing = draft.reading.bearing
        self._reads = draft.reading.reads
        self.needed = needed
        self.bearers = bearers
        self.lost = lost
        self.marks: dict[str, tuple[str, ...]] = {}
        self.by_keys = False

    def pick(self, text: str, types: frozenset[str]) -> Any:
        """Give what is put back of a text: all of it, what stands around protected values, a mark that mentions what it holds, or `GONE`."""
        values = self.claim(text, types)
        if self.lost:
            referred = self.regained(text)
            if referred:
                return text if len(text) <= _SHORTEST else around(text, referred, values, self._draft)
        if not values:
            return GONE
        if len(text) <= _SHORTEST or len(text) <= _SHORTEST + sum(map(len, values)):
            return text
        mark = marks.written(len(text), "characters", values)
        if len(mark) >= len(text) or marks.read_alone(text, self._reads):
            return text
        self.marks[mark] = values
        return mark

    def beside(self, item: Any) -> Any:
        """Give what stands at a key that is put back for its own sake: a short text as it is (`compact` would take a key without one), of others
        the empty value."""
        return item if type(item) is str and len(item) <= _SHORTEST else self._draft.emptied(item)

    def stand_again(self) -> bool:
        """Tell whether what is owed, owed once more for nothing but the texts that were put back, finds the same places.

        It does where no key holds any of it, and every mark reads as what it mentions and is left as it is.
        """
        if self.by_keys:
            return False
        known, types = self._draft.reading.scanned(self.marks), self._draft.owed_at_all
        return all(
            [entity.value for entity in known[mark] if entity.type in types] == [*values] and marks.read_alone(mark, self._reads)
            for mark, values in self.marks.items()
        )

    def takes(self, key: str, types: frozenset[str]) -> bool:
        """Tell whether a key is put back for its own sake."""
        claimed = bool(self.claim(key, types))
        self.by_keys = self.by_keys or claimed
        return self.regains(key) or claimed

    def regains(self, leaf: Any) -> bool:
        """Tell whether a key, text, number or media item holds protected values that were lost; they are lost no more."""
        return bool(self.lost and self.regained(leaf))

    def regained(self, leaf: Any) -> frozenset[str]:
        """Give the protected values in a key, text, number or media item that were lost; they are lost no more."""
        if self._draft.protection is None or leaf is None or type(leaf) is bool:
            return NOTHING
        found = self._draft.protection.held(leaf) & self.lost
        self.lost -= found
        return found

    def claim(self, text: str, types: frozenset[str]) -> tuple[str, ...]:
        """Give the needed values in a text; they are needed no more."""
        needed, bearers = self.needed, self.bearers
        if text not in bearers or not needed:
            return ()
        found = self._bearing[text]
        if len(found) == 1:  # as most have: a fifth of the time of what follows
            entity = found[0]
            value = entity.value
            if value not in needed:
                bearers.discard(text)
                return ()
            if entity.type not in types:
                return ()
            bearers.discard(text)
            del needed[value]
            return (value,)
        values = tuple(dict.fromkeys([e.value for e in found if e.type in types and e.value in needed]))
        for value in values:
            del needed[value]
        # Records repeat their texts: each is asked about once.
        if not any(e.value in needed for e in found):
            bearers.discard(text)
        return values
