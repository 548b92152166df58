"""Combine the finders. Each finder reads the bytes of a text once, and only if they can contain its anchors."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, groupby

from reducer.entities.entity import GROUPS, SHORT, Entity, Match, Scan, ScanMany, Unfolded, entities_of, with_cache
from reducer.entities.escapes import MARK, decoded
from reducer.entities.evidence import FOUR_NUMBERS, Row, version_rows
from reducer.entities.folding import fold, undefanged, unfolded
from reducer.entities.hosts import MASK, Weighed, addresses_and_domains, domains_of_other_scripts
from reducer.entities.names import listed, names
from reducer.entities.observables import REFANGED, WITH_BACKSLASHES, observables
from reducer.entities.pieces import mapped_back
from reducer.entities.tokens import HEX, SHAPE, hashes, identifiers, ipv6s
from reducer.entities.web import emails, urls

_Find = Callable[[str], Iterable[Unfolded]]

_FOUR = re.compile(rb"(?<![0-9A-Za-z.\x01])(?:[0-9]{1,3}[.\x01]){3}[0-9]{1,3}(?![0-9])")
_JOINED_CHARS = 1 << 16  # of texts that are scanned together: 5% faster than 1 MB, because of the CPU cache
# Bytes that are not part of the anchor of any address.
_NO_ANCHORS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,;-_'\"\n\r\t/=+*!?&%$#|~^`\x80\x81\x82"


@lru_cache(maxsize=64)
def compiled(types: frozenset[str]) -> Scan:
    """Return the scanner for `types`. It is immutable and can be shared between threads."""
    find = _finder(types)

    def scan(text: str) -> Sequence[Entity]:
        return tuple(entities_of(find(text), text))

    return with_cache(scan)


@lru_cache(maxsize=64)
def compiled_for_many(types: frozenset[str]) -> ScanMany:
    """Return a function that scans many texts, and maps each text that contains entities to them.

    It joins texts with line breaks and scans them together, which is faster because most texts are short and contain no
    entities. To every finder, a line break is the same as the start or end of a text.
    """
    find = _finder(types)

    def scan(texts: Iterable[str]) -> dict[str, Sequence[Entity]]:
        found: dict[str, Sequence[Entity]] = {}
        # Texts that are not ASCII are joined separately, because they make folding much slower.
        parts: tuple[list[str], list[str]] = [], []
        sizes = [0, 0]
        for text in texts:
            is_plain = text.isascii() and MARK not in text
            parts[is_plain].append(text)
            sizes[is_plain] += len(text)
            if sizes[is_plain] > _JOINED_CHARS:
                _scan_joined(parts[is_plain], find, found)
                parts[is_plain].clear()
                sizes[is_plain] = 0
        for part in parts:
            _scan_joined(part, find, found)
        return found

    return scan


def _scan_joined(texts: list[str], find: _Find, found: dict[str, Sequence[Entity]]) -> None:
    """Add the entities in texts to `found`."""
    matches = [*find("\n".join(texts))]
    starts = list(accumulate([len(text) + 1 for text in texts], initial=0)) if matches else []
    for number, of_text in groupby(matches, lambda match: bisect_right(starts, match[0]) - 1):
        text, first = texts[number], starts[number]
        found[text] = tuple(entities_of(of_text, text, first))


def _finder(types: frozenset[str]) -> _Find:
    """Return a function that returns the matches of `types` in a text, in order."""
    want_hosts = not types.isdisjoint(("ipv4", "ipv6", "domain", "email", "url", *REFANGED))
    want_hashes = not types.isdisjoint(GROUPS["hash"])
    want_identifiers = not types.isdisjoint(("cve", "mitre_attack"))
    as_written = types & WITH_BACKSLASHES
    of_one_row = types.intersection(GROUPS["observable"]) - REFANGED - WITH_BACKSLASHES
    want_names = not types.isdisjoint(("threat_actor", "malware", "tool"))
    if want_names:
        listed()  # 60 ms, which the first text should not wait for

    def find(text: str) -> Iterable[Unfolded]:
        plain, escapes = decoded(text)
        matches = find_decoded(plain)
        if escapes:
            matches = mapped_back([*matches], plain, escapes)
        if as_written:
            folded = fold(text)
            paths = unfolded(text, folded, [*observables(folded, as_written)], as_written)
            matches = sorted((*matches, *paths))
        return matches

    def find_decoded(text: str) -> Iterable[Unfolded]:
        folded = fold(text)
        found = _hosts(folded, types) if want_hosts else []
        if want_hashes and len(folded) > 31:
            found += hashes(folded, folded.translate(HEX))
        shape = folded.translate(SHAPE)
        if want_identifiers and b"0000" in shape:
            found += identifiers(folded, shape)
        if want_names:
            found += names(folded, shape)
        if of_one_row:
            found += observables(folded, of_one_row)
        return unfolded(text, folded, found, types) if found else ()

    return find


def explained(text: str) -> list[tuple[str, tuple[Row, ...]]]:
    """Return what may be an address or a domain in a text, in order, with the rows of evidence that apply to it.

    It is a host if the sum of their points is above zero.
    """
    text = decoded(text)[0]
    data, pieces = undefanged(fold(text))
    weighed: Weighed = []
    mask = bytearray(data.translate(MASK))
    for start, end, _, _ in urls(data):
        mask[start:end] = b" " * (end - start)
    addresses_and_domains(data, bytes(mask), weighed)
    for m in _FOUR.finditer(data):
        weighed.append((*m.span(), (FOUR_NUMBERS, *version_rows(data, *m.span()))))
    weighed.sort(key=lambda each: each[:2])
    found = [(start, end, str(number), b"") for number, (start, end, _) in enumerate(weighed)]
    matches = mapped_back(found, data, pieces) if pieces else found
    return [(text[start:end], weighed[int(number)][2]) for start, end, number, _ in matches]


def _hosts(folded: bytes, types: frozenset[str]) -> list[Match]:
    """Return the addresses, domains, URLs and e-mail addresses in folded bytes."""
    if len(folded) <= SHORT and b"&#" not in folded and not folded.translate(None, _NO_ANCHORS):
        return []
    data, pieces = undefanged(folded)
    found = urls(data) if 58 in data else []
    if 64 in data:
        found = sorted(found + emails(data, found))
    # The further checks of short texts are there because most colons are in times.
    want_ipv6 = "ipv6" in types and 58 in data and (len(data) > SHORT or b"::" in data or data.count(58) > 5)
    further = ipv6s(data, data.translate(HEX), found) if want_ipv6 else []
    if not types.isdisjoint(REFANGED):
        further += observables(data, types & REFANGED)
    if not types.isdisjoint(("ipv4", "domain")) and (46 in data or 1 in data):
        if 0x82 in data:
            found += domains_of_other_scripts(data, found)
        mask = bytearray(data.translate(MASK))
        for start, end, _, _ in found:
            mask[start:end] = b" " * (end - start)
        found += addresses_and_domains(data, bytes(mask))
    found += further
    return mapped_back(found, data, pieces) if pieces else found
