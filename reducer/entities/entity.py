"""What an entity is, the names of its types, and where an entity may start and end."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Container, Iterable, Sequence
from functools import lru_cache


# Not a typing.NamedTuple: importing `typing` takes longer than the rest of the package.
class Entity(namedtuple("Entity", ("type", "value", "canonical", "start", "end"))):
    """An indicator or a name in a text.

    `value` is as written, `canonical` is for comparisons: refanged, host and hex digits in lower case, a URL without
    the slash at its end. `start` and `end` count characters: `text[start:end] == value`.
    """

    __slots__ = ()

    type: str
    value: str
    canonical: str
    start: int
    end: int


TYPES: tuple[str, ...] = (
    "ipv4", "ipv6", "domain", "url", "email", "md5", "sha1", "sha256", "sha512", "cve", "mitre_attack",
    "threat_actor", "malware",
)  # fmt: skip
GROUPS: dict[str, tuple[str, ...]] = {
    "ip": ("ipv4", "ipv6"),
    "hash": ("md5", "sha1", "sha256", "sha512"),
    "ioc": ("ipv4", "ipv6", "domain", "url", "email", "md5", "sha1", "sha256", "sha512"),
}
Match = tuple[int, int, str, bytes]
"""Start and end in the folded bytes, type, and canonical value, in which 0x01 is a dot that was defanged.

An empty canonical value means the bytes as written, which is the common case: nine in ten.
"""

Scan = Callable[[str], Sequence[Entity]]
ScanMany = Callable[[Iterable[str]], dict[str, Sequence[Entity]]]

SHORT = 256
"""Characters of a text whose entities are cached: two thirds of the bytes of real tool returns are in such texts."""
_CACHED_TEXTS = 2048
"""Texts in the cache, at most 1 MB. It has 73% of the texts of real tool returns, 74% with 65,536."""
MAX_CHARS = 256
"""Characters of the longest value of a custom type."""
LAST_SPACED = "\u058f"
"""The last character of the scripts that separate words with spaces: Latin, Greek, Cyrillic, Armenian."""
_MAX_BRACKETS = 3  # a reader of markers tries 16 closing brackets
_NOT_MENTIONABLE = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|, |…\\[")
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def expand(names: Iterable[str], custom: Container[str] = ()) -> frozenset[str]:
    """Return the types for names of types and groups. Raises KeyError with the first unknown name."""
    types: set[str] = set()
    for name in names:
        if name not in TYPES and name not in GROUPS and name not in custom:
            raise KeyError(name)
        types.update(GROUPS.get(name, (name,)))
    return frozenset(types)


def with_cache(find: Scan) -> Scan:
    """Return a scanner that remembers the entities of short texts."""
    cached = lru_cache(maxsize=_CACHED_TEXTS)(find)
    return lambda text: cached(text) if len(text) <= SHORT else find(text)


def may_start(data: bytes, start: int) -> bool:
    """Return whether a word may start here: after a non-word character, or after an escape as in `\\nevil.com`."""
    if not start or data[start - 1] not in _WORD:
        return True
    return data[start - 1] in b"nrt" and start > 1 and data[start - 2] == 92


def is_separate(text: str, start: int, end: int) -> bool:
    """Return whether no letter or digit is next to a value. The `n` of the escape in `\\nweb01` is not a letter."""
    if end < len(text) and _is_letter(text[end]):
        return False
    before = text[start - 1 : start]
    return not before or not _is_letter(before) or (before in "nrt" and text[start - 2 : start - 1] == "\\")


def is_mentionable(value: str) -> bool:
    """Return whether a marker can mention a value: short, on one line, without `, ` and space at its ends."""
    return (
        0 < len(value) <= MAX_CHARS
        and value == value.strip()
        and not _NOT_MENTIONABLE.search(value)
        and value.count("]") <= _MAX_BRACKETS
    )


def _is_letter(char: str) -> bool:
    return char.isalnum() if char <= "\x7f" else char <= LAST_SPACED and char.isalpha()
