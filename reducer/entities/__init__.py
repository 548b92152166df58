"""Find entities, which are indicators and names of threats, in text.

>>> [(e.type, e.value, e.canonical) for e in scan("C2 at evil[.]com")]
[('domain', 'evil[.]com', 'evil.com')]

- `scan` takes a text and returns its entities in order. `scan(text, types)` is `scan(text)` without the other types.
- The host of a URL or an e-mail address is not an entity of its own. A hash or a CVE number in a URL is.
- A domain ends in a top-level domain of IANA's list or `.onion`. Plain names that look like a file, code or a detection
  name are not domains (`domains`), defanged names always are. Names in other scripts keep their letters in lower case
  (`münchen.de`), not punycode.
- Four numbers are an IPv4 address unless the context shows a version or a range, or they are reserved (0.1.2.3) or an
  object id (2.5.4.3).
- `mitre_attack` has techniques (T1059), sub-techniques (T1059.001, T1566/002) and tactics (TA0043), but not groups and
  software (G0016, S0154): four digits after a letter usually mean something else.
- No ASCII letter or digit is next to an entity. `_` does not count, and in `\\nevil.com` the escape is not a letter.
- The value of an entity, scanned alone, is the same entity. It has no line break, no `, ` and no space at its ends, so
  that markers can mention it.
- A scan takes linear time for any text and never raises.
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
