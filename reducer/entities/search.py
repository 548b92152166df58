"""Put the finders together: each looks once over the bytes of a text, and only if its anchors can be there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from reducer.entities.entity import GROUPS, Entity, Found
from reducer.entities.hosts import MASK, domains, ipv4s
from reducer.entities.names import finder
from reducer.entities.refang import flat, refang
from reducer.entities.tokens import SHAPE, hashes, ipv6s, numbered
from reducer.entities.web import emails, urls

_BRIEF = 256  # characters: shorter texts are remembered, as records repeat theirs (two thirds of the bytes of real tool returns)
_REMEMBERED = 2048  # texts, at most 1 MB: 73% of the strings of real tool returns are found there, with 65,536 it were 74%
# What no anchor of an address needs: a brief text without anything else costs one pass.
_DULL = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,;-_'\"\n\r\t/=+*!?&%$#|~^`\x80"


_LAST_SPACED = "\u058f"  # Latin, Greek, Cyrillic, Armenian: their words stand between blanks; Chinese needs none around an address


def _within(text: str, start: int, end: int) -> bool:
    """Tell whether letters that are not ASCII make it a part of a word: `münchen.de` is not `nchen.de`."""
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return ("\x7f" < before <= _LAST_SPACED and before.isalpha()) or ("\x7f" < after <= _LAST_SPACED and after.isalpha())


@lru_cache(maxsize=64)
def compiled(types: frozenset[str]) -> Callable[[str], Sequence[Entity]]:
    """Give the scanner for a set of types: immutable, to be shared by threads."""
    find = _finder(types)
    remembered = lru_cache(maxsize=_REMEMBERED)(find)

    def scan(text: str) -> Sequence[Entity]:
        return remembered(text) if len(text) <= _BRIEF else find(text)

    return scan


def _finder(types: frozenset[str]) -> Callable[[str], tuple[Entity, ...]]:
    want_hash = not types.isdisjoint(GROUPS["hash"])
    want_host = not types.isdisjoint(("ipv4", "ipv6", "domain", "email", "url"))
    want_four, want_six, want_domain = "ipv4" in types, "ipv6" in types, "domain" in types
    want_cve, want_attack = "cve" in types, "mitre_attack" in types
    new = tuple.__new__  # the constructor of a NamedTuple is a Python function: 0.3 us more for every entity
    named = finder(types & {"threat_actor", "malware"})

    def hosts(data: bytes) -> list[Found]:
        web = urls(data) if b"://" in data else []
        if 64 in data:
            mails = emails(data, web)
            if mails:
                web += mails
                web.sort()
        found = web
        dots = data.count(46) + data.count(1)
        if dots and (want_domain or (want_four and dots > 2)):
            mask = data.translate(MASK)
            if web:
                holed = bytearray(mask)
                for start, end, _, _ in web:
                    holed[start:end] = b" " * (end - start)
                mask = bytes(holed)
            if want_four and dots > 2:
                found = found + ipv4s(data, mask)
            if want_domain:
                found = found + domains(data, mask)
        if want_six and (b"::" in data or data.count(58) > 6):
            found = found + ipv6s(data, web)
        return found

    def find(text: str) -> tuple[Entity, ...]:
        raw = flat(text)
        size = len(raw)
        if size < 3:
            return ()
        found: list[Found] = []
        if want_host and (size > _BRIEF or raw.translate(None, _DULL)):
            data, folded = refang(raw)
            found = hosts(data)
            if folded is not None and found:
                found = folded.back(found)
        if want_hash and size > 31:
            found += hashes(raw)
        shape = raw.translate(SHAPE)
        if want_cve or want_attack:
            found += numbered(raw, shape, want_cve, want_attack)
        if named is not None:
            found += named(raw, shape)
        if not found:
            return ()
        if not text.isascii():
            found = [f for f in found if not _within(text, f[0], f[1])]
        found.sort()
        return tuple(
            [
                new(Entity, (kind, text[start:end], (canonical.replace(b"\x01", b".") if 1 in canonical else canonical).decode(), start, end))
                for start, end, kind, canonical in found
                if kind in types
            ]
        )

    return find
