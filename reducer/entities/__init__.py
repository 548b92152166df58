"""Find entities in text: indicators and names of threats.

>>> [(e.type, e.value, e.canonical) for e in scan("C2 at evil[.]com")]
[('domain', 'evil[.]com', 'evil.com')]

`scan` takes a text and returns its entities in order; `scanner` returns a function that finds the given types. A scan
takes linear time for any text and never raises. Every value can be mentioned in a marker: scanned under the key
`mentions`, it is the same entity, and it has no line break and no space at its ends; only a `user_agent` has a `, `.
Tests check this for an example of each type, and a pattern of a rule file is refused if its values cannot be mentioned.
`README.md` describes what counts as an entity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from reducer.entities.entity import GROUPS, TYPES, Entity, expand, under_key

__all__ = ["GROUPS", "TYPES", "Entity", "expand", "scan", "scanner"]


def scan(text: str, types: Iterable[str] | None = None, key: str = "") -> list[Entity]:
    """Return the entities of `types` in a text, in order. `types` are types and groups, or None for all default types.

    The key under which a text is stored is evidence: a `version` is not an address, and a `hostname` may end in `.zip`.
    Raises KeyError for an unknown type.
    """
    find = scanner(frozenset(TYPES) if types is None else expand(types))
    return list(under_key(find, key, text) if key else find(text))


def scanner(types: frozenset[str]) -> Callable[[str], Sequence[Entity]]:
    """Return a function that returns the entities of `types` (without groups) in a text. Scanners are cached."""
    from reducer.entities.search import compiled

    return compiled(types)
