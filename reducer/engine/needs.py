"""The entities and referenced values that must not vanish, and do not remain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from reducer.entities import Entity
from reducer.formats import Atom
from reducer.plan.cuts import Cut
from reducer.plan.protected import References, Scans
from reducer.values import chars

Types = frozenset[str]
_VALUE = attrgetter("value")


class Needed(NamedTuple):
    """What must not vanish of a key or a leaf."""

    entities: tuple[str, ...]
    referenced: frozenset[str]


@dataclass(slots=True, eq=False)
class Needs:
    """The values that must not vanish. Each is needed until the first place that contains it is found."""

    scans: Scans
    references: References
    preserved: tuple[Types, ...]
    """The preserved entity types by the number of the step."""
    room: dict[Types, int]
    """How many more entities of some types each bound allows."""
    missing: set[str]
    """The needed referenced values."""
    named: frozenset[str]
    """The entity types that the author preserves. All others are preserved by default, as far as there is `space`."""
    space: float
    """How many more characters entities can have that are preserved by default."""
    required: int = 0
    """The number of values that were found whatever the `space`."""
    entities: set[str] = field(default_factory=set)
    """The needed preserved entities."""
    texts: set[str] = field(default_factory=set)
    """The texts that contain a needed entity."""
    taken: dict[str, None] = field(default_factory=dict)
    """The preserved entities that are restored or mentioned."""
    lost: list[str] = field(default_factory=list)
    """The preserved entities that exceed a bound."""

    def are_left(self) -> bool:
        """Return whether any value is still needed."""
        return bool(self.missing or self.entities)

    def find(self, removed: Iterable[tuple[Types, list[str]]], remaining: Iterable[Any], cuts: Sequence[Cut]) -> None:
        """Find the preserved entities in removed texts, and in the gaps of cut texts, that do not remain."""
        if not any(self.preserved):
            return
        scans, waiting = self.scans, [cut.text for cut in cuts if self.preserved[cut.step]]
        for _, texts in removed:
            waiting += texts
        scans.scan(waiting)
        for types, texts in removed:
            for text in dict.fromkeys(texts):
                self._add(scans.found.get(text, ()), types)
        for cut in cuts:
            types = self.preserved[cut.step]
            if types:
                self._add(cut.split(scans.entities(cut.text))[1], types)
        if self.entities:
            self._subtract(remaining, cuts)

    def _add(self, entities: Iterable[Entity], types: Types) -> None:
        self.entities.update(entity.value for entity in entities if entity.type in types)

    def _subtract(self, remaining: Iterable[Any], cuts: Sequence[Cut]) -> None:
        """Remove the entities that remain in texts, or that the marker of a cut text mentions in any case."""
        scans, texts = self.scans, dict.fromkeys(text for text in remaining if type(text) is str)
        scans.scan(texts)
        for text in texts:
            self.entities.difference_update(map(_VALUE, scans.found.get(text, ())))
        for cut in cuts:
            kept, removed = cut.split(scans.entities(cut.text))
            mentioned = [entity for entity in removed if entity.type in cut.always]
            self.entities.difference_update(map(_VALUE, kept + mentioned))

    def find_texts(self) -> None:
        """Find the texts that contain a needed entity."""
        for text, entities in self.scans.found.items() if self.entities else ():
            if not self.entities.isdisjoint(map(_VALUE, entities)):
                self.texts.add(text)

    def widened(self, cut: Cut) -> Cut:
        """Return a cut that also keeps the sentences around the missing values in its text, which are found then."""
        values = self._pop_missing(cut.text)
        return self.references.widened(cut, values, self.scans.any_entities) if values else cut

    def pop(self, leaf: Any, types: Types) -> Needed:
        """Return what is needed of a key or a leaf, and mark it as found."""
        text = leaf.source if type(leaf) is Atom else leaf
        entities: tuple[str, ...] = ()
        if type(text) is str and text in self.texts:
            found = self.scans.found[text]
            entities = tuple(self.take(found, types))
            if self.entities.isdisjoint(map(_VALUE, found)):
                self.texts.discard(text)
        return Needed(entities, self._pop_missing(leaf))

    def _pop_missing(self, leaf: Any) -> frozenset[str]:
        if not self.missing:
            return frozenset()
        referenced = self.references.values_in(leaf) & self.missing
        self.missing -= referenced
        self.required += len(referenced)
        return referenced

    def take(self, entities: Iterable[Entity], types: Types) -> dict[str, None]:
        """Mark the needed entities of `types` as found. Return them, except those that exceed a bound.

        An entity counts for each bound that includes its type. Bounds allow the entities that are found first, and the
        plan of a value may differ between a live and a stored history: so they count while a return is restored, which
        is in document order whatever the plan.
        """
        taken: dict[str, None] = {}
        for entity in entities:
            if entity.type not in types or entity.value not in self.entities:
                continue
            self.entities.discard(entity.value)
            room = {bound: left for bound, left in self.room.items() if entity.type in bound}
            if 0 in room.values() or not self._has_space(entity):
                self.lost.append(entity.value)
                continue
            for bound in room:
                self.room[bound] -= 1
            taken[entity.value] = None
        self.taken |= taken
        return taken

    def _has_space(self, entity: Entity) -> bool:
        """Return whether there is space for an entity in a marker, and use it."""
        if entity.type not in self.named:
            return self.use_space(chars([entity.value]))
        self.required += 1
        return True

    def use_space(self, size: int) -> bool:
        """Use space for some characters, and return whether there is enough."""
        if size > self.space:
            return False
        self.space -= size
        return True

    def lose(self, count: int) -> None:
        """Count the entities that were taken after the first `count` as lost."""
        for value in [*self.taken][count:]:
            del self.taken[value]
            self.lost.append(value)
