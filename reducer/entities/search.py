"""Put the finders together: each looks once over the bytes of a text, and only if its anchors can be there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from reducer.entities.abroad import abroad
from reducer.entities.entity import GROUPS, Entity, Found
from reducer.entities.hosts import MASK, dotted
from reducer.entities.names import finder as names
from reducer.entities.refang import flat, refang
from reducer.entities.tokens import HEX, SHAPE, hashes, ipv6s, numbered
from reducer.entities.web import emails, urls

BRIEF = 256  # characters: shorter texts are remembered, as records repeat theirs (two thirds of the bytes of real tool returns)
_REMEMBERED = 2048  # texts, at most 1 MB: 73% of the strings of real tool returns are found there, with 65,536 it were 74%
# What no anchor of an address needs: a brief text without anything else costs one pass.
_DULL = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,;-_'\"\n\r\t/=+*!?&%$#|~^`\x80\x81"


_PLAIN = b".:@<>"  # anchors, and what takes no part in any defanging


@lru_cache(maxsize=64)
def compiled(types: frozenset[str]) -> Callable[[str], Sequence[Entity]]:
    """Give the scanner for a set of types: immutable, to be shared by threads."""
    find = finder(types)
    remembered = lru_cache(maxsize=_REMEMBERED)(find)

    def scan(text: str) -> Sequence[Entity]:
        return remembered(text) if len(text) <= BRIEF else find(text)

    return scan


@lru_cache(maxsize=64)
def finder(types: frozenset[str]) -> Callable[[str], tuple[Entity, ...]]:
    """Give the scanner that remembers nothing."""
    read = reader(types)
    new = tuple.__new__  # the constructor of a NamedTuple is a Python function: 0.3 us more for every entity

    def find(text: str) -> tuple[Entity, ...]:
        raw = flat(text)
        if len(raw) < 3:
            return ()
        found = read(raw)
        if not found:
            return ()
        pieces, spelled = spellable(text, raw, found)
        return tuple(
            [
                new(Entity, (kind, value := text[start:end], spelled(canonical) if canonical else value, start, end))
                for start, end, kind, canonical in pieces
                if kind in types
            ]
        )

    return find


def spellable(text: str, raw: bytes, found: list[Found]) -> tuple[Sequence[tuple[int, int, str, Any]], Callable[[Any], str]]:
    """Give what was found in the bytes `raw` of `text`, in order, and what makes text of a canonical value, if there is one."""
    if not text.isascii():
        return abroad(text, raw, found), str
    found.sort()
    return found, _written


def _written(canonical: bytes) -> str:
    return (canonical.replace(b"\x01", b".") if 1 in canonical else canonical).decode()


def reader(types: frozenset[str]) -> Callable[[bytes], list[Found]]:
    """Give the function that finds the entities of at least `types` in the bytes of a text, in no order."""
    want_hash = not types.isdisjoint(GROUPS["hash"])
    want_host = not types.isdisjoint(("ipv4", "ipv6", "domain", "email", "url"))
    want_four, want_six, want_domain = "ipv4" in types, "ipv6" in types, "domain" in types
    want_cve, want_attack = "cve" in types, "mitre_attack" in types
    named = names(types & {"threat_actor", "malware"})

    def hosts(data: bytes, marks: bytes, hexed: bytes | None) -> list[Found]:
        """Find what has a host; `marks` holds at least the anchors of `data`, `hexed` is its translation by HEX if there is one."""
        web: list[Found] = []
        colons = 58 in marks
        if colons:
            web = urls(data)
        if 64 in marks:
            mails = emails(data, web)
            if mails:
                web += mails
                web.sort()
        found = web
        several = len(marks) > BRIEF or marks.count(46) + marks.count(1) > 2
        if (want_domain or (want_four and several)) and (46 in marks or 1 in marks):
            mask = data.translate(MASK)
            if web:
                holed = bytearray(mask)
                for start, end, _, _ in web:
                    holed[start:end] = b" " * (end - start)
                mask = bytes(holed)
            found = found + dotted(data, mask, want_four and several, want_domain)
        if want_six and colons and (len(marks) > BRIEF or b"::" in data or marks.count(58) > 5):
            found = found + ipv6s(data, data.translate(HEX) if hexed is None else hexed, web)
        return found

    def read(raw: bytes) -> list[Found]:
        size = len(raw)
        found: list[Found] = []
        hexed = raw.translate(HEX) if want_hash and size > 31 else None
        if want_host:
            if size > BRIEF:
                marks, fanged = raw, True
            else:
                marks = raw.translate(None, _DULL)
                fanged = bool(marks) and bool(marks.translate(None, _PLAIN))
            if fanged:
                data, folded = refang(raw)
                if folded is None:
                    found = hosts(raw, marks, hexed)
                else:
                    found = hosts(data, data, None)
                    if found:
                        found = folded.back(found, data)
            elif marks:
                found = hosts(raw, marks, hexed)
        if hexed is not None:
            found += hashes(raw, hexed)
        shape = raw.translate(SHAPE)
        if (want_cve or want_attack) and b"0000" in shape:
            found += numbered(raw, shape, want_cve, want_attack)
        if named is not None:
            found += named(raw, shape)
        return found

    return read
