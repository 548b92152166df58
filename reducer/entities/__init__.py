"""Find entities, which are indicators and names of threats, in text.

>>> [(e.type, e.value, e.canonical) for e in scan("C2 at evil[.]com")]
[('domain', 'evil[.]com', 'evil.com')]

`scan` takes a text and returns its entities in order; `scanner` returns a function that finds some types. A scan takes
linear time for any text and never raises. The value of an entity, scanned alone, is the same entity, and has no line
break, no `, ` and no space at its ends, so that markers can mention it. `README.md` says what is an entity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from reducer.entities.entity import GROUPS, TYPES, Entity, expand

__all__ = ["GROUPS", "TYPES", "Entity", "expand", "scan", "scanner"]


def scan(text: str, types: Iterable[str] | None = None) -> list[Entity]:
    """Return the entities of `types` (types and groups, None for all) in a text, in order.

    Raises KeyError for an unknown type.
    """
    return list(_scanner_for(None if types is None else tuple(types))(text))


def scanner(types: frozenset[str]) -> Callable[[str], Sequence[Entity]]:
    """Return a function that finds the entities of `types` (without groups) in a text. It is cached."""
    from reducer.entities.search import compiled

    return compiled(types)


@lru_cache(maxsize=64)  # expanding the types takes longer than scanning a short text, 2 us
def _scanner_for(types: tuple[str, ...] | None) -> Callable[[str], Sequence[Entity]]:
    return scanner(frozenset(TYPES) if types is None else expand(types))
