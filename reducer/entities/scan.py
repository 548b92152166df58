"""Put the finders together: one pass of each over the folded bytes of a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain

from reducer.entities.entity import Entity
from reducer.entities.hosts import MASK, domains, ipv4s
from reducer.entities.refang import fold
from reducer.entities.tokens import attacks, cves, hashes, ipv6s
from reducer.entities.web import Found, emails, urls

_HASHES = frozenset({"md5", "sha1", "sha256", "sha512"})


@lru_cache(maxsize=64)
def compiled(types: frozenset[str]) -> Callable[[str], Sequence[Entity]]:
    """Give the scanner for a set of types."""
    from reducer.entities.names import finder

    want_hash = bool(types & _HASHES)
    want_host = bool(types & {"ipv4", "ipv6", "domain", "email", "url"})
    named = finder(types & {"threat_actor", "malware"})

    def find(text: str) -> Sequence[Entity]:
        data, folded = fold(text)
        found: list[Found] = []
        if want_host:
            web = urls(data)
            if b"@" in data:
                web = sorted(chain(web, emails(data, web)))
            mask: bytes | bytearray = data.translate(MASK)
            if web:
                mask = bytearray(mask)
                for start, end, _, _ in web:
                    mask[start:end] = b" " * (end - start)
            found += web
            if "ipv4" in types:
                found += ipv4s(data, mask)
            if "domain" in types:
                found += domains(data, mask)
            if "ipv6" in types:
                found += ipv6s(data, web)
        if want_hash:
            found += hashes(data)
        if "cve" in types:
            found += cves(data)
        if "mitre_attack" in types:
            found += attacks(data)
        entities = []
        for start, end, kind, canonical in found:
            if kind in types:
                if folded is not None:
                    start, end = folded.start(start), folded.end(end)
                entities.append(Entity(kind, text[start:end], canonical.replace(b"\x01", b".").decode("ascii", "replace"), start, end))
        if named is not None:
            entities += named(text)
        entities.sort(key=lambda e: (e.start, e.end, e.type))
        return entities

    return find
