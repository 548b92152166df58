"""The entity types that a folder of rules knows: the built-in ones, its own ones, and what it does not count as an entity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from reducer.entities import scanner as built_in
from reducer.entities.entity import GROUPS, TYPES, Entity
from reducer.entities.patterns import Pattern
from reducer.entities.patterns import finder as pattern_finder
from reducer.entities.words import FindWords

_BRIEF = 256  # characters: as the scanner of the built-in types does, brief texts are remembered
_REMEMBERED = 2048
_SPELLED = str.maketrans("-_", "  ")
_NAMES = frozenset({"threat_actor", "malware"})

Scan = Callable[[str], Sequence[Entity]]


@dataclass(frozen=True, slots=True)
class Own:
    """What makes an entity of an own type: what its patterns match, and the words that its list finds."""

    patterns: tuple[Pattern, ...] = ()
    find_words: FindWords | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Entity types as one folder of rules has them; immutable, to be shared by threads.

    `own`: the own types by name. `ignored`: for a type the canonical values that are no entities, for a domain its subdomains too, for a
    name its spelling. `synonyms`: types of which one name of each canonical value is enough.
    """

    own: Mapping[str, Own] = field(default_factory=lambda: MappingProxyType({}))
    ignored: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    synonyms: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Name every type and group."""
        return (*TYPES, *GROUPS, *self.own)

    def expand(self, names: Iterable[str]) -> frozenset[str]:
        """Give the types that `names` (types and groups) stand for; raise KeyError with the first unknown name."""
        types: set[str] = set()
        for name in names:
            if name not in TYPES and name not in GROUPS and name not in self.own:
                raise KeyError(name)
            types.update(GROUPS.get(name, (name,)))
        return frozenset(types)

    def scanner(self, types: frozenset[str]) -> Scan:
        """Give the function that finds the entities of `types` (no groups) in a text, compiled once for a set of types."""
        return _scanner(self, types)

    def scanner_of_many(self, types: frozenset[str]) -> Callable[[Iterable[str]], dict[str, Sequence[Entity]]]:
        """Give the function that finds in many texts what `scanner` finds in each: the entities of those that hold any, by text."""
        return _scanner_of_many(self, types)

    def everything(self) -> Scan:
        """Give the function that finds the entities of all types, built-in and own."""
        return _scanner(self, frozenset((*TYPES, *self.own)))


BUILT_IN = Vocabulary()


@lru_cache(maxsize=256)
def _scanner(vocabulary: Vocabulary, types: frozenset[str]) -> Scan:
    base = built_in(types.difference(vocabulary.own))
    ignored = _ignored(vocabulary, types)
    own = {kind: made for kind, made in vocabulary.own.items() if kind in types}
    if not own and not ignored:
        return base
    find_patterns = pattern_finder([(kind, pattern) for kind, made in own.items() for pattern in made.patterns])
    lists = [made.find_words for made in own.values() if made.find_words is not None]

    def find(text: str) -> Sequence[Entity]:
        found = base(text)
        added: list[Entity] = []
        if own:
            data = text.encode("ascii", "replace")
            for find_words in lists:
                added += find_words(text, data)
            added += find_patterns(text, data)
        if added:
            found = sorted((*found, *_apart(added)), key=_place)
        return tuple(entity for entity in found if not _is_ignored(entity, ignored)) if ignored else tuple(found)

    remembered = lru_cache(maxsize=_REMEMBERED)(find)
    return lambda text: remembered(text) if len(text) <= _BRIEF else find(text)


@lru_cache(maxsize=256)
def _scanner_of_many(vocabulary: Vocabulary, types: frozenset[str]) -> Callable[[Iterable[str]], dict[str, Sequence[Entity]]]:
    if types.isdisjoint(vocabulary.own):
        from reducer.entities.many import compiled

        scan = compiled(types)
        ignored = _ignored(vocabulary, types)
        if not ignored:
            return scan
        return lambda texts: {
            text: left for text, found in scan(texts).items() if (left := tuple([entity for entity in found if not _is_ignored(entity, ignored)]))
        }
    find = _scanner(vocabulary, types)
    return lambda texts: {text: found for text in texts if (found := find(text))}


def _ignored(vocabulary: Vocabulary, types: frozenset[str]) -> dict[str, frozenset[str]]:
    return {kind: values for kind, values in vocabulary.ignored.items() if kind in types}


def _place(entity: Entity) -> tuple[int, int, str]:
    return entity.start, -entity.end, entity.type


def _apart(found: list[Entity]) -> list[Entity]:
    """Give of the entities of one type that overlap the first and longest."""
    if len(found) < 2:
        return found
    found.sort(key=_place)
    ends: dict[str, int] = {}
    apart = []
    for entity in found:
        if entity.start >= ends.get(entity.type, 0):
            ends[entity.type] = entity.end
            apart.append(entity)
    return apart


def _is_ignored(entity: Entity, ignored: Mapping[str, frozenset[str]]) -> bool:
    values = ignored.get(entity.type)
    if values is None:
        return False
    if entity.type != "domain":
        return spelling(entity) in values
    name = entity.canonical
    while name:
        if name in values:
            return True
        name = name.partition(".")[2]
    return False


def spelling(entity: Entity) -> str:
    """Give what an entity is ignored by: its canonical value; of a name, which may share that with others, what is written."""
    return entity.value.translate(_SPELLED).lower() if entity.type in _NAMES else entity.canonical
