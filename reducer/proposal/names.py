"""What the names of keys tell: what a reader asks for, what is for screens and machines, what tells rank and time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

Worth = Literal[0, 1, 2]
"""How much a key is asked for: 0 for screens and machines, 2 what tells things apart or says how bad they are, 1 all others."""

_ASKED = """
    id ids uid guid key name names title type kind status state severity risk score scores verdict category categories level priority cve cves cwe
    ip ips address addresses host hosts hostname hostnames domain domains fqdn url uri email mail user username account port ports protocol service
    hash md5 sha1 sha256 file filename path process version product vendor package action result outcome message summary description subject
    rule technique techniques tactic country city asn label labels tag tags malicious suspicious confidence source target destination src dst family
    actor actors campaign malware count total number amount price date time timestamp created updated modified seen first last start end
    published posted submitted observed expires cvss classification threat alert reason value text content query command owner role code error method
    """
_MACHINE = """
    raw html xml css link links href self permalink icon icons avatar image images img logo thumbnail thumbnails picture photo screenshot color colour
    style pem base64 blob binary etag template schema cursor pagination paging locale x509 bytes hex
    embed embeds widget layout x y gravatar
    """
_ASKED_WORDS, _MACHINE_WORDS = (frozenset(words.split()) for words in (_ASKED, _MACHINE))
_RANK = re.compile(r"(?i)cvss|severity|risk|score|critical|malicious|priority|threat|confidence|weight|impact|hits?$|count$|stars|rating|popularity")
_TIMES = (
    re.compile(r"(?i)(last|latest|most_recent).*(seen|update|modif|activ|observ|chang|date|time)|(seen|updated|modified).*last"),
    re.compile(r"(?i)updated|modified|modification|changed"),
    re.compile(r"(?i)date|time|timestamp|when|published|created|creation|started|observed|seen|posted|_at$|At$"),
)
_BAD = ("critical", "high", "severe", "malicious", "important")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FEWEST = 2


def worth(name: str) -> Worth:
    """Tell by its name how much a key is asked for."""
    if name.startswith("_") and name.strip("_") not in _ASKED_WORDS:
        return 0
    words = [word.lower() for word in _WORDS.findall(name.replace("sha256", "hash").replace("sha1", "hash").replace("md5", "hash"))]
    if any(word in _MACHINE_WORDS for word in words):
        return 0
    return 2 if words and (words[-1] in _ASKED_WORDS or words[0] in _ASKED_WORDS) else 1


def ranks(name: str, seen: Sequence[Any]) -> bool:
    """Tell whether values under a key say how much an item matters: numbers, not all the same, under such a name."""
    numbers = [value for value in seen if type(value) in (int, float)]
    return bool(_RANK.search(name)) and len(numbers) * 2 > len(seen) and len(set(numbers)) >= _FEWEST


def tells_time(name: str, seen: Sequence[Any]) -> int:
    """Tell how well values under a key order items by time: 0 not at all, then more for what changes last."""
    order = next((3 - number for number, pattern in enumerate(_TIMES) if pattern.search(name)), 0)
    if not order or len({str(value) for value in seen}) < _FEWEST:
        return 0
    dates = sum(bool(_DATE.match(value)) if type(value) is str else type(value) in (int, float) and value > 10**8 for value in seen)
    # Of dates as texts only those that begin with the year can be sorted.
    return order if dates * 10 >= len(seen) * 8 else 0


def grave(seen: Sequence[Any]) -> list[str]:
    """Give the words among values that call an item bad, as they are written, if they are few enough to keep all of those items."""
    words = [value for value in seen if type(value) is str]
    bad = [word for word in words if word.casefold() in _BAD]
    # Where most are bad, keeping all of them is no limit.
    return sorted(dict.fromkeys(bad)) if bad and len(bad) * 4 <= len(words) else []
