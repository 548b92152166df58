"""Entities, the names of their types, and where they may start and end."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, lru_cache

from msgspec import Struct
from msgspec.structs import asdict, replace

from reducer.entities.observables import TABLE
from reducer.entities.words import word_lists
from reducer.errors import did_you_mean, nearest


class Entity(Struct, frozen=True, gc=False):
    """An indicator or a name in a text, so that `text[start:end] == value`.

    `canonical` is the value for comparisons: refanged, with hex digits in lower case, IPv6 addresses as in RFC 5952 and
    host names in lower case and punycode. A URL has no default port, and no `/` as its whole path.

    `evidence` is what shows that a domain is one: `defanged`; `name` if the name alone does; `alone` if it is alone on
    its line, in its cell or in quotes; `host` if a word, a port, a path or a host beside it does; `code` if it is one
    in spite of code around it; `prose` otherwise. For other types it is `defanged` or "".
    """

    type: str
    value: str
    canonical: str
    start: int
    end: int
    evidence: str = ""

    def to_dict(self) -> dict[str, str | int]:
        """Return the fields by name, in order, as values that JSON can write."""
        return asdict(self)


TYPES: tuple[str, ...] = (
    "ipv4", "ipv6", "domain", "url", "email", "md5", "sha1", "sha256", "sha512", "cve", "mitre_attack",
    "threat_actor", "malware", "tool",
)  # fmt: skip
"""The types that are read unless others are requested."""
GROUPS: dict[str, tuple[str, ...]] = {
    "ip": ("ipv4", "ipv6"),
    "hash": ("md5", "sha1", "sha256", "sha512"),
    "ioc": ("ipv4", "ipv6", "domain", "url", "email", "md5", "sha1", "sha256", "sha512"),
    "observable": tuple(row.type for row in TABLE),
}
ALL_TYPES = (*TYPES, *GROUPS["observable"])
"""Also those that are read only on request."""
ALL_NAMES = (*ALL_TYPES, *GROUPS)
"""The names of all types and groups."""
_NOT_IN_NAMES = re.compile("[^a-z0-9]")

Match = tuple[int, int, str, bytes]
"""Start and end in the folded bytes, type, and canonical value, in which 0x01 is a defanged dot.

After the type, a space and the evidence may follow, as in `domain alone`. One text for both needs less memory.
The canonical value is empty if it is the value as written, as for nine matches in ten.
"""

Unfolded = tuple[int, int, str, str]
"""Start and end in a text, type, and canonical value, which is empty if it is the value as written."""

Scan = Callable[[str], Sequence[Entity]]
ScanMany = Callable[[Iterable[str]], dict[str, Sequence[Entity]]]

SHORT = 256
"""The longest text whose entities are cached. Such texts hold two thirds of the bytes of real tool returns."""
_CACHED_TEXTS = 2048
"""Size of the cache, at most 1 MB. It finds 73% of the texts of real tool returns; 65,536 entries would find 74%."""
MAX_CHARS = 256
"""Length of the longest value of a custom type."""
LAST_SPACED = "\u058f"
"""The last character of the scripts that separate words with spaces: Latin, Greek, Cyrillic, Armenian."""
_MAX_BRACKETS = 3  # a reader of markers tries 16 closing brackets
_NOT_MENTIONABLE = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|, |…\\[")
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def expand(names: str | Iterable[str], known: Collection[str] = ALL_NAMES) -> frozenset[str]:
    """Return the types for a name of a type or group, or for several. Raises ValueError for the first unknown name."""
    types: set[str] = set()
    for name in (names,) if isinstance(names, str) else names:
        if name not in known:
            raise ValueError(f"unknown entity type {name}; {expected(name, known)}")
        types.update(GROUPS.get(name, (name,)))
    return frozenset(types)


def similar(name: str, known: Collection[str]) -> str:
    """Return the types in `known` that were probably meant, or an empty text."""
    return "` and `".join(types_for(name, known)) or nearest(name, known)


def expected(name: str, known: Collection[str]) -> str:
    """Return advice for an unknown type: the types that were probably meant, or else all that are known."""
    return did_you_mean(similar(name, known)) or f"expected one of {', '.join(known)}"


@cache
def _types_by_name() -> dict[str, str]:
    types: dict[str, str] = {}
    for kind in ALL_NAMES:
        names = word_lists().get(b"also_" + kind.encode(), frozenset())
        for name in (kind, *(alias.decode() for alias in names)):
            types[_NOT_IN_NAMES.sub("", name)] = kind
    return types


def types_for(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the types and groups in `known` that MISP or STIX call `ip-src`, `domain|ip` or `file:hashes.SHA256`."""
    found: dict[str, None] = {}
    for part in re.split(r"[|:.]", name.lower().removeprefix("file:hashes")):
        kind = _types_by_name().get(_NOT_IN_NAMES.sub("", part), "")
        if kind in known:
            found[kind] = None
    return tuple(found)


def with_cache(find: Scan) -> Scan:
    """Return a scanner that caches the entities of short texts."""
    cached = lru_cache(maxsize=_CACHED_TEXTS)(find)
    return lambda text: cached(text) if len(text) <= SHORT else find(text)


@cache
def type_and_evidence(kind: str) -> tuple[str, str]:
    """Return the type and the evidence of a match, each once in memory."""
    name, _, evidence = kind.partition(" ")
    return name, evidence


def entities_of(matches: Iterable[Unfolded], text: str, first: int = 0) -> list[Entity]:
    """Return the entities of the matches in a text that starts at `first` of what was searched."""
    share = dict[str, str]().setdefault  # a dense text repeats its values: without copies, 10 MB need 130 MB less
    found: list[Entity] = []
    for start, end, kind, canonical in matches:
        value = text[start - first : end - first]
        value = share(value, value)
        name, evidence = type_and_evidence(kind)
        found.append(Entity(name, value, canonical or value, start - first, end - first, evidence))
    return found


def under_key(find: Scan, key: str, text: str) -> Sequence[Entity]:
    """Return the entities of a text that is stored under a key."""
    before = f"{key}: "
    size = len(before)
    found = find(before + text)
    return [replace(one, start=one.start - size, end=one.end - size) for one in found if one.start >= size]


def may_start(data: bytes, start: int) -> bool:
    """Return whether a word may start here: after a non-word character, or after an escape as in `\\nevil.com`."""
    if not start or data[start - 1] not in _WORD:
        return True
    return data[start - 1] in b"nrt" and start > 1 and data[start - 2] == 92


def is_separate(text: str, start: int, end: int) -> bool:
    """Return whether no letter or digit is next to a value. The `n` of the escape in `\\nweb01` does not count."""
    if end < len(text) and _is_letter(text[end]):
        return False
    before = text[start - 1 : start]
    return not before or not _is_letter(before) or (before in "nrt" and text[start - 2 : start - 1] == "\\")


def is_mentionable(value: str) -> bool:
    """Return whether a marker can mention a value: short, on one line, without `, ` and without space at its ends."""
    return (
        0 < len(value) <= MAX_CHARS
        and value == value.strip()
        and not _NOT_MENTIONABLE.search(value)
        and value.count("]") <= _MAX_BRACKETS
    )


def _is_letter(char: str) -> bool:
    return char.isalnum() if char <= "\x7f" else char <= LAST_SPACED and char.isalpha()
