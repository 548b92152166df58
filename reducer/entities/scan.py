"""Put the finders together: each looks once over the folded bytes of a text, and only if its anchors can be there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from reducer.entities.entity import GROUPS, Entity, Found
from reducer.entities.hosts import MASK, domains, ipv4s
from reducer.entities.names import finder
from reducer.entities.refang import flat, refang
from reducer.entities.tokens import hashes, ipv6s, numbered
from reducer.entities.web import emails, urls


@lru_cache(maxsize=64)
def compiled(types: frozenset[str]) -> Callable[[str], Sequence[Entity]]:
    """Give the scanner for a set of types."""
    want_hash = not types.isdisjoint(GROUPS["hash"])
    want_host = not types.isdisjoint(("ipv4", "ipv6", "domain", "email", "url"))
    want_four, want_six, want_domain = "ipv4" in types, "ipv6" in types, "domain" in types
    want_cve, want_attack = "cve" in types, "mitre_attack" in types
    named = finder(types & {"threat_actor", "malware"})

    def find(text: str) -> Sequence[Entity]:
        raw = flat(text)
        data, folded = refang(raw)
        found: list[Found] = []
        if want_host:
            web = urls(data) if b"://" in data else []
            if 64 in data:
                web += emails(data, web)
                web.sort()
            found += web
            if 46 in data or folded:
                mask: bytes | bytearray = data.translate(MASK)
                if web:
                    mask = bytearray(mask)
                    for start, end, _, _ in web:
                        mask[start:end] = b" " * (end - start)
                if want_four:
                    found += ipv4s(data, mask)
                if want_domain:
                    found += domains(data, mask)
            if want_six and 58 in data:
                found += ipv6s(data, web)
        if want_hash and len(data) > 31:
            found += hashes(data)
        if want_cve or want_attack:
            found += numbered(data, want_cve, want_attack)
        entities = []
        for start, end, kind, canonical in found:
            if kind in types:
                if folded is not None:
                    start, end = folded.start(start), folded.end(end)
                entities.append(Entity(kind, text[start:end], canonical.replace(b"\x01", b".").decode("ascii", "replace"), start, end))
        if named is not None:
            for start, end, kind, canonical in named(raw):
                entities.append(Entity(kind, text[start:end], canonical.decode(), start, end))
        entities.sort(key=lambda e: (e.start, e.end, e.type))
        return entities

    return find
