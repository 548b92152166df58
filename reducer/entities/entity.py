"""What an entity is, and the names of its types."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable


# `typing` takes longer to import than all the rest of the package: so this is no typing.NamedTuple.
class Entity(namedtuple("Entity", ("type", "value", "canonical", "start", "end"))):
    """One indicator or name found in a text.

    `value` is what stands in the text, `canonical` what it is compared by (refanged, host and hex in lower case, a URL
    without the slash at its end); `start` and `end` count characters: `text[start:end] == value`.
    """

    __slots__ = ()

    type: str
    value: str
    canonical: str
    start: int
    end: int


TYPES: tuple[str, ...] = (
    "ipv4", "ipv6", "domain", "url", "email", "md5", "sha1", "sha256", "sha512", "cve", "mitre_attack", "threat_actor", "malware",
)  # fmt: skip
GROUPS: dict[str, tuple[str, ...]] = {
    "ip": ("ipv4", "ipv6"),
    "hash": ("md5", "sha1", "sha256", "sha512"),
    "ioc": ("ipv4", "ipv6", "domain", "url", "email", "md5", "sha1", "sha256", "sha512"),
}


def expand(names: Iterable[str]) -> frozenset[str]:
    """Give the types that `names` (types and groups) stand for; raise KeyError with the first unknown name."""
    types: set[str] = set()
    for name in names:
        if name in GROUPS:
            types.update(GROUPS[name])
        elif name in TYPES:
            types.add(name)
        else:
            raise KeyError(name)
    return frozenset(types)


# Start and end in the folded bytes, type, canonical value (0x01: a dot that was defanged; nothing: it is what is written there, as it is of
# nine in ten, and need not be made once more).
Found = tuple[int, int, str, bytes]


def bounded(data: bytes, start: int) -> bool:
    """Tell whether a word may start here: after what is no letter or digit, or after an escape as in `\\nevil.com`."""
    if not start or data[start - 1] not in _WORD:
        return True
    return data[start - 1] in b"nrt" and start > 1 and data[start - 2] == 92


_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
