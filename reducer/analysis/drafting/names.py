"""What the names of keys tell: what readers ask for, what is for screens and machines, what ranks and dates items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

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


def is_rank(name: str, samples: Sequence[Any]) -> bool:
    """Return whether values under a key say how much an item matters: different numbers under such a name."""
    numbers = [value for value in samples if type(value) in (int, float)]
    return bool(_RANK.search(name)) and len(numbers) * 2 > len(samples) and len(set(numbers)) >= _MIN_DIFFERENT


def time_rank(name: str, samples: Sequence[Any]) -> int:
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


def severe_words(samples: Sequence[Any]) -> list[str]:
    """Return the words among values that rate an item as severe, if few items have them."""
    words = [value for value in samples if type(value) is str]
    severe = [word for word in words if word.casefold() in _SEVERE]
    return sorted(set(severe)) if len(severe) * 4 <= len(words) else []
