"""Combine the finders. Each makes one pass over the bytes of a text, and only if its anchors can be there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

from reducer.entities.entity import GROUPS, SHORT, Entity, Match, Scan, ScanMany, with_cache
from reducer.entities.hosts import MASK, dotted
from reducer.entities.names import finder as name_finder
from reducer.entities.refang import fold, refang, with_letters
from reducer.entities.tokens import HEX, SHAPE, hashes, ipv6s, numbered
from reducer.entities.web import emails, urls

_Find = Callable[[bytes], list[Match]]

_JOINED_CHARS = 1 << 16  # characters of texts that are scanned together: 5% faster than 1 MB, because of the CPU cache
# Bytes that no anchor of an address needs.
_NO_ANCHORS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,;-_'\"\n\r\t/=+*!?&%$#|~^`\x80\x81"
_NOT_DEFANGED = b".:@<>"  # anchors, and bytes that no way of defanging uses
_new = tuple.__new__  # the constructor of a named tuple is a Python function: 0.3 us more for each entity


@lru_cache(maxsize=64)
def compiled(types: frozenset[str]) -> Scan:
    """Return the scanner for a set of types: immutable, can be shared between threads."""
    find = _finder(types)

    def scan(text: str) -> tuple[Entity, ...]:
        folded = fold(text)
        found = find(folded) if len(folded) > 2 else []
        if not found:
            return ()
        matches, decode = _decodable(text, folded, found)
        return tuple(
            [
                _new(Entity, (kind, value := text[start:end], decode(canonical) if canonical else value, start, end))
                for start, end, kind, canonical in matches
                if kind in types
            ]
        )

    return with_cache(scan)


@lru_cache(maxsize=64)
def compiled_for_many(types: frozenset[str]) -> ScanMany:
    """Return a function that returns for each of many texts what the scanner returns, without the empty results.

    It joins texts with line breaks and scans them together. No finder matches across a line break, or treats one
    differently from the start or end of a text. That is faster because most texts are short and contain no entity.
    """
    find = _finder(types)

    def scan(texts: Iterable[str]) -> dict[str, Sequence[Entity]]:
        # A text with other characters makes every character take more memory, and folding much slower.
        parts: tuple[list[str], list[str]] = [], []
        for text in texts:
            parts[text.isascii()].append(text)
        found: dict[str, Sequence[Entity]] = {}
        for part in parts:
            starts = _starts(part)
            first = 0
            while first < len(part):
                last = max(first + 1, bisect_right(starts, starts[first] + _JOINED_CHARS, first) - 1)
                _scan_joined(part[first:last], types, find, found)
                first = last
        return found

    return scan


def _starts(texts: list[str]) -> list[int]:
    """Return where each text starts in the joined texts, and where another one would start."""
    return list(accumulate([len(text) + 1 for text in texts], initial=0))


def _scan_joined(texts: list[str], types: frozenset[str], find: _Find, found: dict[str, Sequence[Entity]]) -> None:
    """Add the entities of `types` in texts to `found`."""
    joined = "\n".join(texts)
    folded = fold(joined)
    hits = find(folded)
    if not hits:
        return
    starts = _starts(texts)
    matches, decode = _decodable(joined, folded, hits)
    text, first, end_of_text = "", 0, 0
    entities: list[Entity] = []
    for start, end, kind, canonical in matches:
        if kind not in types:
            continue
        if start >= end_of_text:
            number = bisect_right(starts, start)
            end_of_text, first, text = starts[number], starts[number - 1], texts[number - 1]
            entities = found[text] = []
        start -= first
        end -= first
        value = text[start:end]
        entities.append(_new(Entity, (kind, value, decode(canonical) if canonical else value, start, end)))


def _decodable(
    text: str, folded: bytes, found: list[Match]
) -> tuple[Sequence[tuple[int, int, str, Any]], Callable[[Any], str]]:
    """Return the matches in order, and the function that makes a text of a canonical value."""
    if not text.isascii():
        return with_letters(text, folded, found), str
    found.sort()
    return found, _decode


def _decode(canonical: bytes) -> str:
    return (canonical.replace(b"\x01", b".") if 1 in canonical else canonical).decode()


def _finder(types: frozenset[str]) -> _Find:
    """Return a function that returns matches of at least `types` in the folded bytes of a text, in no order."""
    want_hosts = not types.isdisjoint(("ipv4", "ipv6", "domain", "email", "url"))
    want_hashes = not types.isdisjoint(GROUPS["hash"])
    want_cve, want_attack = "cve" in types, "mitre_attack" in types
    find_names = name_finder(types & {"threat_actor", "malware"})

    def find(folded: bytes) -> list[Match]:
        found: list[Match] = []
        hexed = folded.translate(HEX) if want_hashes and len(folded) > 31 else None
        if want_hosts:
            found = _refanged_hosts(folded, hexed, types)
        if hexed is not None:
            found += hashes(folded, hexed)
        shape = folded.translate(SHAPE)
        if (want_cve or want_attack) and b"0000" in shape:
            found += numbered(folded, shape, want_cve, want_attack)
        if find_names is not None:
            found += find_names(folded, shape)
        return found

    return find


def _refanged_hosts(folded: bytes, hexed: bytes | None, types: frozenset[str]) -> list[Match]:
    """Return the entities with a host, at their positions in the folded bytes. `hexed` is their translation by HEX."""
    anchors = folded if len(folded) > SHORT else folded.translate(None, _NO_ANCHORS)
    if not anchors:
        return []
    if len(folded) > SHORT or anchors.translate(None, _NOT_DEFANGED):
        data, positions = refang(folded)
        if positions is not None:
            return positions.restore(_hosts(data, data, None, types), data)
    return _hosts(folded, anchors, hexed, types)


def _hosts(data: bytes, anchors: bytes, hexed: bytes | None, types: frozenset[str]) -> list[Match]:
    """Return the entities with a host. `anchors` has its anchors at least, `hexed` its translation by HEX."""
    web: list[Match] = []
    colons = 58 in anchors
    if colons:
        web = urls(data)
    if 64 in anchors:
        mails = emails(data, web)
        if mails:
            web += mails
            web.sort()
    found = web
    want_domain = "domain" in types
    want_ipv4 = "ipv4" in types and (len(anchors) > SHORT or anchors.count(46) + anchors.count(1) > 2)
    if (want_domain or want_ipv4) and (46 in anchors or 1 in anchors):
        mask = data.translate(MASK)
        if web:
            masked = bytearray(mask)
            for start, end, _, _ in web:
                masked[start:end] = b" " * (end - start)
            mask = bytes(masked)
        found = found + dotted(data, mask, want_ipv4, want_domain)
    if "ipv6" in types and colons and (len(anchors) > SHORT or b"::" in data or anchors.count(58) > 5):
        found = found + ipv6s(data, data.translate(HEX) if hexed is None else hexed, web)
    return found
