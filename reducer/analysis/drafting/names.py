"""Names of keys: those that analysts use, and how rules write keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from reducer.paths.written import Token, path_text

_KNOWN = """
    account accounts action actor actors address addresses advisory affected alert alerts amount answer app asn
    assigned assignee attack attempts attribute author authors banner behavior behaviors body branch browser
    campaign categories category cause check checks cidr city class classification classifications client closed
    cmd code command commands comment comments commit commits component conclusion condition confidence content
    contents count country created cve cves cvss cwe cwes data date decision dependency desc description
    destination detail details detected detection device devices diagnosis direction display domain domains dst
    due duration effect email end endpoint engine environment error errors event events evidence executions exit
    expires expiry exploit exploitability exploited exposure failed family fields file filename files finding
    findings first fix fixed fixes flags fqdn fragment from function group groups hash hashes heading health
    help hit hits host hostname hostnames hosts http https id identifier ids image impact indicator indicators
    info input installed instance ip ips isp issue issuer item items ja3 jarm job justification keep key kill
    kind known label labels last level license line lineno lines location log login mac machine mail malicious
    malware match matched matches md5 message messages method mitigation mitigations mitre mode model modified
    module msg name names namespace network node note notes number object observed occurred open opened org
    organization os outcome output owner package packages parent passed password patched path paths pattern
    payload permission permissions persistence phase phone pid pkg platform plugin policy port ports priority
    private privilege problem process processes product protocol public published purpose query ransomware
    reachability reachable ready reason recommendation record recurrence region registrar registry related
    remediation replicas replies repo repository reputation request resolution resolved resource resources
    response restart result results role roles rows rule rules running safe sample score scores script seen
    sensor serial server service severity sha sha1 sha256 sha512 sid size snippet software solution source spec
    src stage start started state statement status stderr stdout step subject submitted subnet subtype summary
    suspicious system tactic tactics tag tags target task technique techniques tenant test text threat threats
    ticket time times timestamp title tlp to topic total transport type types updated uri url urls user
    username users valid value vector vendor verdict version victim victims volume vpc vulnerabilities
    vulnerability vulnerable vulns workflow zone
"""
"""The words of the keys that analysts use."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WHOLE = re.compile("sha256|sha512|sha1|md5|ja3")
_MAX_KEY = 200
_ID = re.compile(r"[\d\W_]*\d[\d\W_]*|(?=\D*\d)[0-9a-fA-F:-]{8,}|(?=\D*\d)\S{24,}|.*\d{5}\S*")
"""Keys without letters, such as numbers, dates and addresses, hashes, and words with long numbers or random letters."""


def words(name: str) -> list[str]:
    """Split a key into words in lower case."""
    spaced = _WHOLE.sub(lambda match: f" {match[0].upper()} ", name)
    found: list[str] = []
    for part in spaced.split():
        found += [part] if _WHOLE.fullmatch(part.lower()) else _WORDS.findall(part)
    return [word.lower() for word in found]


@cache
def _known() -> frozenset[str]:
    return frozenset(_KNOWN.split())


def is_known(path: Sequence[Token]) -> bool:
    """Return whether the first or last word of the last key is one that analysts use; `x.value` is named by `x`."""
    keys = [token for token in path[-2:] if type(token) is str]
    if not keys:
        return False
    found = words(keys[-1])
    if found[-1:] == ["value"] and len(keys) > 1:
        found = words(keys[0])
    return not _known().isdisjoint((*found[:1], *found[-1:]))


def is_id(name: str) -> bool:
    """Return whether a key looks like an id, an address or a date instead of a name."""
    return len(name) <= _MAX_KEY and _ID.fullmatch(name) is not None


def is_writable(path: Sequence[Token]) -> bool:
    """Return whether all keys of a path can be written in a rule; ids of the sample are not written."""
    return all(_is_writable_key(token) for token in path)


def _is_writable_key(key: Token) -> bool:
    if type(key) is not str:
        return True
    return bool(key) and key != "*" and key.isprintable() and len(key) <= _MAX_KEY and not is_id(key)


def key_text(keys: Sequence[Token]) -> str:
    """Write the keys that lead to a value for `drop`, where a bare word is a key."""
    names = [*map(str, keys)]
    for name in names:
        if set(name) & set('."[]|'):
            return path_text(names)
    return ".".join(names)
