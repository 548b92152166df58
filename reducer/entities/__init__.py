"""Find entities in text: indicators and names of threats.

>>> [(e.type, e.value, e.canonical) for e in scan("C2 at evil[.]com")]
[('domain', 'evil[.]com', 'evil.com')]

`scan` takes a text and returns its entities in order; `scanner` returns a function that finds the given types. A scan
takes linear time for any text and never raises. Every value can be mentioned in a marker: scanned alone, it is the same
entity, and it has no line break, no `, ` and no space at its ends. `README.md` describes what counts as an entity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from reducer.entities.entity import GROUPS, TYPES, Entity, expand

__all__ = ["GROUPS", "TYPES", "Entity", "expand", "scan", "scanner"]


def scan(text: str, types: Iterable[str] | None = None) -> list[Entity]:
    """Return the entities of `types` in a text, in order. `types` are types and groups, or None for all types.

    Raises KeyError for an unknown type.
    """
    return list(scanner(frozenset(TYPES) if types is None else expand(types))(text))


def scanner(types: frozenset[str]) -> Callable[[str], Sequence[Entity]]:
    """Return a function that returns the entities of `types` (without groups) in a text. Scanners are cached."""
    from reducer.entities.search import compiled

    return compiled(types)
