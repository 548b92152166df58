"""What the texts of a return say: the entities in each, read once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import filterfalse

from reducer.entities import Entity
from reducer.rule import Rule
from reducer.values import MOST_CHARS, Unreducible


class Reading:
    """The entities of every text of one return that was scanned for the types that a rule preserves; `bearing` are those that hold any."""

    __slots__ = ("_found", "_scan", "_scan_many", "_values", "bearing")

    def __init__(self, rule: Rule) -> None:
        self.bearing: dict[str, Sequence[Entity]] = {}
        self._found: dict[str, Sequence[Entity]] = {}
        self._values: set[str] = set()
        self._scan = rule.vocabulary.scanner(rule.types)
        self._scan_many = rule.vocabulary.scanner_of_many(rule.types)

    def entities(self, text: str) -> Sequence[Entity]:
        """Scan a text once."""
        found = self._found.get(text)
        return self.scanned((text,))[text] if found is None else found

    def scanned(self, texts: Iterable[str]) -> dict[str, Sequence[Entity]]:
        """Scan all of `texts` that were not yet, and give the entities of every text that was. Raises `Unreducible` for a huge one."""
        known = self._found
        distinct: dict[str, Sequence[Entity]] = dict.fromkeys(texts, ())
        fresh = [*filterfalse(known.__contains__, distinct)] if known else [*distinct]
        if not fresh:
            return known
        if max(map(len, fresh)) > MOST_CHARS:
            raise Unreducible(f"a text of more than {MOST_CHARS:,} characters")
        known.update(dict.fromkeys(fresh, ()) if known else distinct)
        found = self._scan_many(fresh)
        if found:
            known.update(found)
            self.bearing.update(found)
            self._values.update([entity.value for entities in found.values() for entity in entities])
        return known

    def reads(self, value: str) -> bool:
        """Tell whether a whole text reads as one entity. What was found somewhere does: scanners promise it."""
        size = len(value)
        return value in self._values or any(entity.start == 0 and entity.end == size for entity in self._scan(value))
