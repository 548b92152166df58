"""Which keys matter, by their names and values: what readers ask for, what ranks and dates items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from reducer.analysis.drafting.profiles import Profile
from reducer.paths.written import path_text

Keys = tuple[str, ...]
"""The keys that lead from a record (an item of a list, a value of a map) to a value in it."""
_ASKED_FOR = """
    id ids uid guid key name names title type kind status state severity risk score scores verdict category categories
    level priority cve cves cwe ip ips address addresses host hosts hostname hostnames domain domains fqdn url uri email
    mail user username account port ports protocol service hash md5 sha1 sha256 file filename path process version
    product vendor package action result outcome message summary description subject rule technique techniques tactic
    country city asn label labels tag tags malicious suspicious confidence source target destination src dst family
    actor actors campaign malware count total number amount price date time timestamp created updated modified seen
    first last start end published posted submitted observed expires cvss classification threat alert reason value text
    content query command owner role code error method
    """
_FOR_MACHINES = """
    raw html xml css link links href self permalink icon icons avatar image images img logo thumbnail thumbnails picture
    photo screenshot color colour style pem base64 blob binary etag template schema cursor pagination paging locale x509
    bytes hex embed embeds widget layout x y gravatar
    """
_ASKED_FOR_WORDS, _FOR_MACHINES_WORDS = (frozenset(words.split()) for words in (_ASKED_FOR, _FOR_MACHINES))
_RANK = re.compile(
    r"(?i)cvss|severity|risk|score|critical|malicious|priority|threat|confidence|weight|impact|hits?$|count$|stars"
    r"|rating|popularity"
)
_TIMES = (
    re.compile(
        r"(?i)(last|latest|most_recent).*(seen|update|modif|activ|observ|chang|date|time)|(seen|updated|modified).*last"
    ),
    re.compile(r"(?i)updated|modified|modification|changed"),
    re.compile(r"(?i)date|time|timestamp|when|published|created|creation|started|observed|seen|posted|_at$|At$"),
)
_SEVERE = ("critical", "high", "severe", "malicious", "important")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HASHES = re.compile("sha256|sha1|md5")
_MIN_DIFFERENT = 2
_MIN_SHARE = 0.6
"""The share of the records that must have a key that ranks them."""
_MAX_KEY = 200


def worth(name: str) -> int:
    """Return by its name how much a key is asked for.

    0 is for screens and machines, 2 for what identifies or rates things, 1 for all others.
    """
    if name.startswith("_") and name.strip("_") not in _ASKED_FOR_WORDS:
        return 0
    words = [word.lower() for word in _WORDS.findall(_HASHES.sub("hash", name))]
    if any(word in _FOR_MACHINES_WORDS for word in words):
        return 0
    return 2 if words and (words[-1] in _ASKED_FOR_WORDS or words[0] in _ASKED_FOR_WORDS) else 1


def is_writable(keys: Keys) -> bool:
    """Return whether all keys can be written in a rule."""
    return all(name and name != "*" and name.isprintable() and len(name) <= _MAX_KEY for name in keys)


def key_text(*keys: str) -> str:
    """Write a key for `keep` and `drop`, where a bare word stands for itself."""
    return path_text(keys) if any(set(name) & set('."[]|') for name in keys) else ".".join(keys)


def sort_key(record: Profile) -> tuple[Keys, str]:
    """Return the keys to choose records by, how much they matter or else their time, and what stays; () for none."""
    best = 0
    found: tuple[Keys, str] = ((), "")
    for keys, below in scalars(record):
        is_steady = below.scalars and not below.below and len(below.entries) >= record.objects * _MIN_SHARE
        if is_steady and is_writable(keys):
            time, depth = _time_rank(keys[-1], below.scalars), len(keys) - 1
            rank = 10 - depth if _is_rank(keys[-1], below.scalars) else time * 2 - depth if time else 0
            if rank > best:
                best, found = rank, (keys, "the highest stay" if rank > 2 * len(_TIMES) else "the newest stay")
    return found


def always_keep(record: Profile) -> tuple[Keys, str]:
    """Return the key that rates records and the condition that the severe ones meet; () if there are none or many."""
    for name, below in record.keys.items():
        words = [value for value in below.texts if value.casefold() in _SEVERE]
        if name and worth(name) == 2 and "'" not in name and words and len(words) * 4 <= len(below.texts):
            text, different = path_text((name,)), sorted(set(words))
            condition = f"{text} == '{words[0]}'" if len(different) == 1 else f"contains({different!r}, {text})"
            return (name,), condition
    return (), ""


def scalars(record: Profile) -> Iterator[tuple[Keys, Profile]]:
    """Yield the keys of a record and of objects in it: what an expression reads as one value."""
    for name, below in record.keys.items():
        if name is not None:
            yield (name,), below
            yield from (((name, inner), value) for inner, value in below.keys.items() if inner is not None)


def _is_rank(name: str, samples: Sequence[Any]) -> bool:
    """Return whether values under a key say how much an item matters: different numbers under such a name."""
    numbers = [value for value in samples if type(value) in (int, float)]
    return bool(_RANK.search(name)) and len(numbers) * 2 > len(samples) and len(set(numbers)) >= _MIN_DIFFERENT


def _time_rank(name: str, samples: Sequence[Any]) -> int:
    """Return how well values under a key order items by time: 0 for not at all, 3 for the time of the last change."""
    rank = next((3 - number for number, pattern in enumerate(_TIMES) if pattern.search(name)), 0)
    if not rank or len({str(value) for value in samples}) < _MIN_DIFFERENT:
        return 0
    dates = sum(
        bool(_DATE.match(value)) if type(value) is str else type(value) in (int, float) and value > 10**8
        for value in samples
    )
    # Only dates that begin with the year can be sorted as texts.
    return rank if dates * 10 >= len(samples) * 8 else 0
