"""Names of keys: their words, ids among them, and how rules write keys."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reducer.paths.written import Token, path_text

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MAX_KEY = 200
_ID = re.compile(r"[\d\W_]*\d[\d\W_]*|(?=\D*\d)[0-9a-fA-F:-]{8,}|(?=\D*\d)\S{24,}|.*\d{5}\S*")
"""Keys without letters, such as numbers, dates and addresses, hashes, and words with long numbers or random letters."""


def words(name: str) -> list[str]:
    """Split a key into words in lower case."""
    return [*map(str.lower, _WORDS.findall(name))]


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
