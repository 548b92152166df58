"""Find entities, which are indicators and names of threats, in text.

>>> [(e.type, e.value, e.canonical) for e in scan("C2 at evil[.]com")]
[('domain', 'evil[.]com', 'evil.com')]

`scan` takes a text and returns its entities in order; `scanner` returns a function that finds some types. A scan takes
linear time for any text and never raises. The value of an entity, scanned alone, is the same entity, and has no line
break, no `, ` and no space at its ends, so that markers can mention it. `README.md` says what is an entity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from reducer.entities.entity import GROUPS, TYPES, Entity, expand

__all__ = ["GROUPS", "TYPES", "Entity", "expand", "scan", "scanner"]


def scan(text: str, types: Iterable[str] | None = None) -> list[Entity]:
    """Return the entities of `types` (types and groups, None for all) in a text, in order.

    Raises KeyError for an unknown type.
    """
    return list(scanner(frozenset(TYPES) if types is None else expand(types))(text))


def scanner(types: frozenset[str]) -> Callable[[str], Sequence[Entity]]:
    """Return a function that finds the entities of `types` (without groups) in a text. It is cached."""
    from reducer.entities.search import compiled

    return compiled(types)
