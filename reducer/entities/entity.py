"""What an entity is, the names of its types, and where an entity may start and end."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple


class Entity(NamedTuple):
    """An indicator or a name in a text.

    `value` is as written, `canonical` is for comparisons: refanged, host and hex digits in lower case, a URL without
    the slash at its end. `start` and `end` count characters: `text[start:end] == value`.
    """

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
# Other names of types: MISP's attribute types (https://www.misp-project.org/datamodels/), objects and patterns of
# STIX 2.1 (OASIS, sections 4 and 6), and plain words.
_ALIASES = {
    "ipv4": "ip-src ip-dst ipv4-addr ipv4-address ip4 ip-v4",
    "ipv6": "ipv6-addr ipv6-address ip6 ip-v6",
    "ip": "ips ip-addr ip-address ipaddress ipaddr address addresses",
    "domain": "hostname hostnames host domain-name domains fqdn dns",
    "url": "uri urls uris link links",
    "email": "email-src email-dst email-addr email-address email-reply-to email-message mail e-mail emails "
    "whois-registrant-email target-email",
    "md5": "md5sum",
    "sha1": "sha1sum",
    "sha256": "sha256sum",
    "hash": "hashes file-hash filehash checksum",
    "cve": "vulnerability vulnerabilities cves cve-id",
    "mitre_attack": "attack-pattern attack attack-id att&ck mitre mitre-attack-pattern mitre-technique technique "
    "techniques tactic tactics ttp ttps",
    "threat_actor": "intrusion-set actor actors threat-actors adversary apt group threat-group",
    "malware": "malware-type malware-family family ransomware",
    "ioc": "iocs indicator indicators observable observables observed-data",
}
_NAMES = {alias: name for name, aliases in _ALIASES.items() for alias in aliases.split()}
_NAMES.update((name.replace("_", "-"), name) for name in (*TYPES, *GROUPS))
_MAX_NAME_CHARS = 100

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


def types_for(name: str, known: Collection[str] = (*TYPES, *GROUPS)) -> tuple[str, ...]:
    """Return the types or groups of `known` for a name of MISP or STIX: `ip-src`, `domain|ip`, `file:hashes.SHA256`."""
    plain = re.sub("['\"]", "", name[:_MAX_NAME_CHARS].lower().replace("_", "-"))
    if plain.startswith("file:hashes"):
        plain = plain.removeprefix("file:hashes").lstrip(".")
    elif "|" not in plain:
        plain = plain.partition(":")[0]
    parts = (re.sub(r"^(md|sha)-(?=[0-9]+\Z)", r"\1", part) for part in re.split(r"[|:]", plain))
    found = dict.fromkeys(_NAMES.get(part, "") for part in parts)
    return tuple(kind for kind in found if kind in known)


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
