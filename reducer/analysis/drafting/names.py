"""Names of keys: those that analysts use, and how rules write keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from reducer.paths.written import Token, path_text

_KNOWN = """
    account action actor address addresses advisory advisories affected alert amount answer asn assignee attack author
    banner behavior body branch campaign category categories cause check city class client code command comment commit
    condition confidence content count country created cve cvss cwe date description destination detail detection
    device diagnosis dns domain dst due email end endpoint error event evidence exit exploit exposure failed file
    finding first fix fixed found fragment from group hash hashes health heading host hostname id image impact
    indicator info installed ip issue job key kill kind label last level line location log mac machine malicious
    malware match matches md message method mitigation mitre modified module msg name namespace note number observed
    outcome owner package parent patched path pattern phone pid policy port priority privilege problem process
    processes product protocol published query ransomware reason recommendation record region registrar remediation
    repo repository reputation request resolution resolved resource response result risk role row rule score seen
    server service severity sha snippet software solution source src stage start state statement status stderr stdout
    step subject suspicious tactic tag target task technique text threat time timestamp title tlp to transport type
    updated uri url user username value vector vendor verdict version victim vulnerability vulnerabilities vulnerable
"""
"""The words of the keys that analysts use; a last `s` may follow."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MAX_KEY = 200
_ID = re.compile(r"[\d\W_]*\d[\d\W_]*|(?=\D*\d)[0-9a-fA-F:-]{8,}|(?=\D*\d)\S{24,}|.*\d{5}\S*")
"""Keys without letters, such as numbers, dates and addresses, hashes, and words with long numbers or random letters."""


def words(name: str) -> list[str]:
    """Split a key into words in lower case."""
    return [*map(str.lower, _WORDS.findall(name))]


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
    return any(word in _known() or word.removesuffix("s") in _known() for word in (*found[:1], *found[-1:]))


def is_id(name: str) -> bool:
    """Return whether a key looks like an id, an address or a date instead of a name."""
    return len(name) <= _MAX_KEY and _ID.fullmatch(name) is not None


def is_writable(path: Sequence[Token]) -> bool:
    """Return whether all keys of a path can be written in a rule; ids of the sample are not written."""
    return all(map(_is_writable_key, path))


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
