"""Find entities (indicators and names of threats) in text.

>>> [(e.type, e.value, e.canonical) for e in scan("C2 at evil[.]com")]
[('domain', 'evil[.]com', 'evil.com')]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from reducer.entities.entity import GROUPS, TYPES, Entity, expand

__all__ = ["GROUPS", "TYPES", "Entity", "expand", "scan", "scanner"]


def scan(text: str, types: Iterable[str] | None = None) -> list[Entity]:
    """Find the entities of `types` (types and groups; None: all) in `text`, in order of where they start.

    Raises KeyError for an unknown type.
    """
    return list(scanner(frozenset(TYPES) if types is None else expand(types))(text))


def scanner(types: frozenset[str]) -> Callable[[str], Sequence[Entity]]:
    """Give the function that finds the entities of `types` (no groups) in a text, compiled once for a set of types."""
    from reducer.entities.search import compiled

    return compiled(types)
