"""The entities in the texts of one return, each text scanned once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reducer.entities import Entity
from reducer.rules import Rule
from reducer.values import MOST_CHARS, Unreducible


class Scans:
    """The entities of the types that a rule preserves, by text; `bearing` has the texts that contain any.

    Made for one return and kept for its second pass, which reads the same texts.
    """

    __slots__ = ("_read", "_scan", "_scan_many", "_values", "bearing")

    def __init__(self, rule: Rule) -> None:
        self.bearing: dict[str, Sequence[Entity]] = {}
        self._read: set[str] = set()
        self._values: set[str] = set()
        self._scan = rule.vocabulary.scanner(rule.types)
        self._scan_many = rule.vocabulary.scanner_of_many(rule.types)

    def entities(self, text: str) -> Sequence[Entity]:
        """Return the entities in a text."""
        return self.entities_in((text,)).get(text, ())

    def entities_in(self, texts: Iterable[str]) -> dict[str, Sequence[Entity]]:
        """Return the entities of those of `texts` that contain any. Raises `Unreducible` for a huge text."""
        distinct = dict.fromkeys(texts)
        fresh = [text for text in distinct if text not in self._read]
        if fresh:
            if max(map(len, fresh)) > MOST_CHARS:
                raise Unreducible(f"a text of more than {MOST_CHARS:,} characters")
            self._read.update(fresh)
            found = self._scan_many(fresh)
            self.bearing.update(found)
            self._values.update(entity.value for entities in found.values() for entity in entities)
        return {text: self.bearing[text] for text in distinct if text in self.bearing}

    def reads(self, value: str) -> bool:
        """Return whether a whole text reads as one entity."""
        return value in self._values or any(entity.value == value for entity in self._scan(value))
