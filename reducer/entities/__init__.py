"""Find entities (indicators and names of threats) in text.

>>> [(e.type, e.value, e.canonical) for e in scan("C2 at evil[.]com")]
[('domain', 'evil[.]com', 'evil.com')]

- A host of a URL or of an e-mail address is no domain of its own, nor is an address there; a hash or a CVE number within a URL is given
  besides the URL. Whatever types are asked for: `scan(text, types)` is `scan(text)` without the other types.
- Names are only domains with a top-level domain of IANA's list (and `.onion`). Written plainly they must not look like a file, code or a
  detection name (`lookalikes`); defanged they are taken as meant.
- Hosts in other scripts are read as written (`münchen.de`, `пример.рф`), canonical in small letters, not as punycode.
- Four numbers are an address unless what stands beside them says version or range, or they are nobody's address (0.1.2.3) or an object id
  (2.5.4.3). A text that is `1.0.147.174` and nothing else reads as an address, though its key may have said `engine_version`.
- `mitre_attack`: techniques (T1059), sub-techniques (T1059.001, T1566/002) and tactics (TA0043). Ids of groups and software (G0016,
  S0154) are not read: four digits behind a letter are too often something else.
- An entity begins and ends beside what is no ASCII letter or digit (`_` counts as none), but for the escapes of JSON: in `\\nevil.com` it
  is `evil.com`.
- What is written of an entity, scanned alone, reads as that entity; it holds no line break, no `, ` and no blank at its ends. So marks
  can name entities and be read back.
- Time is linear in the length of the text, whatever it holds, and no text raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from reducer.entities.entity import GROUPS, TYPES, Entity, expand

__all__ = ["GROUPS", "TYPES", "Entity", "expand", "scan", "scanner"]


def scan(text: str, types: Iterable[str] | None = None) -> list[Entity]:
    """Find the entities of `types` (types and groups; None: all) in `text`, in order of where they start.

    Raises KeyError for an unknown type.
    """
    return list(_chosen(None if types is None else tuple(types))(text))


def scanner(types: frozenset[str]) -> Callable[[str], Sequence[Entity]]:
    """Give the function that finds the entities of `types` (no groups) in a text, compiled once for a set of types."""
    from reducer.entities.search import compiled

    return compiled(types)


@lru_cache(maxsize=64)  # a brief text is scanned in 2 us: choosing the types again would take longer
def _chosen(types: tuple[str, ...] | None) -> Callable[[str], Sequence[Entity]]:
    return scanner(frozenset(TYPES) if types is None else expand(types))
