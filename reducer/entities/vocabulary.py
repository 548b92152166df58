"""The entity types of a folder of rules: built-in types, custom types, and values to ignore."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import NamedTuple

from reducer.entities.custom import Find
from reducer.entities.entity import (
    ALL_NAMES,
    ALL_TYPES,
    TYPES,
    Entity,
    Scan,
    ScanMany,
    Unfolded,
    entities_of,
    expand,
    with_cache,
)
from reducer.entities.escapes import decoded
from reducer.entities.pieces import mapped_back

_SPACED = str.maketrans("-_", "  ")
NAMES = frozenset({"threat_actor", "malware", "tool"})
"""The built-in types to which rule files can add words."""


class Ignored(NamedTuple):
    """What is not an entity of a type: values as `ignore_key` returns them, ends of values, networks of addresses."""

    values: frozenset[str]
    suffixes: tuple[str, ...]
    networks: tuple[IPv4Network | IPv6Network, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The entity types of a folder of rules. It is immutable and can be shared between threads.

    `custom` maps each custom type, and each built-in type that has further words, to finders. `ignored` maps a type to
    what is not an entity of it.
    """

    custom: Mapping[str, tuple[Find, ...]]
    ignored: Mapping[str, Ignored]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all types and groups."""
        return tuple(dict.fromkeys((*ALL_NAMES, *self.custom)))

    def expand(self, names: str | Iterable[str]) -> frozenset[str]:
        """Return the types for names of types and groups. Raises ValueError for the first unknown name."""
        return expand(names, self.names)

    def scanner(self, types: str | Iterable[str]) -> Scan:
        """Return a function that returns the entities of types and groups in a text. Raises ValueError for others."""
        return _scanner(self, self.expand(types))

    def scanner_of_many(self, types: frozenset[str]) -> ScanMany:
        """Return a function that scans many texts, and maps each text that contains entities to them."""
        if types.isdisjoint(self.custom) and types.isdisjoint(self.ignored):
            from reducer.entities.search import compiled_for_many

            return compiled_for_many(types)
        find = _scanner(self, types)
        return lambda texts: {text: found for text in texts if (found := find(text))}

    def everything(self) -> Scan:
        """Return a function that returns the entities of all default and custom types."""
        return _scanner(self, self.all_types)

    @property
    def all_types(self) -> frozenset[str]:
        """Return all default and custom types."""
        return frozenset((*TYPES, *self.custom))


BUILT_IN = Vocabulary({}, {})


@lru_cache(maxsize=256)
def _scanner(vocabulary: Vocabulary, types: frozenset[str]) -> Scan:
    from reducer.entities.search import compiled

    scan = compiled(types.intersection(ALL_TYPES))
    ignored = {kind: some for kind, some in vocabulary.ignored.items() if kind in types}
    finders = [find for kind, finders in vocabulary.custom.items() if kind in types for find in finders]
    if not finders and not ignored:
        return scan

    def find(text: str) -> Sequence[Entity]:
        found = _without_overlaps([*scan(text), *_custom(text, finders)])
        return tuple([entity for entity in found if not _is_ignored(entity, ignored)])

    return with_cache(find)


def _order(entity: Entity) -> tuple[int, int, str]:
    return entity.start, -entity.end, entity.type


def _custom(text: str, finders: Iterable[Find]) -> list[Entity]:
    """Return the entities of custom types."""
    plain, escapes = decoded(text)
    data = plain.encode("ascii", "replace")
    found: list[Unfolded] = []
    for find in finders:
        found += find(plain, data)
    return entities_of(mapped_back(found, plain, escapes) if escapes else found, text)


def _without_overlaps(found: Iterable[Entity]) -> list[Entity]:
    """Return entities in order, without those that overlap an earlier one of their type."""
    ends: dict[str, int] = {}
    entities: list[Entity] = []
    for entity in sorted(found, key=_order):
        if entity.start >= ends.get(entity.type, 0):
            ends[entity.type] = entity.end
            entities.append(entity)
    return entities


def _is_ignored(entity: Entity, ignored: Mapping[str, Ignored]) -> bool:
    if entity.type not in ignored:
        return False
    values, suffixes, networks = ignored[entity.type]
    value = ignore_key(entity)
    if value in values or value.lower().endswith(suffixes):
        return True
    return bool(networks) and any(ip_address(value) in network for network in networks)


def ignore_key(entity: Entity) -> str:
    """Return the value that identifies an ignored entity: for a name its spelling, otherwise the canonical value."""
    return entity.value.translate(_SPACED).lower() if entity.type in NAMES else entity.canonical
