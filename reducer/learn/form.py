"""What a tool's answers look like: where their long lists are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from reducer.codecs import decode
from reducer.learn.cuts import SHORTEST
from reducer.learn.evidence import Seen
from reducer.values import is_media

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEEPEST = 4
_LONG = 4
"""Items from which on a list may be too long."""


def lists(returns: Sequence[Seen]) -> tuple[str, ...]:
    """Give the place of the lists that hold most of what a tool answers: the whole return, or what a key of it holds."""
    chars: dict[str, int] = {}
    total = 0
    for seen in returns:
        if seen.chars >= SHORTEST:
            total += seen.chars
            content = decode(seen.content) if type(seen.content) is str else seen.content
            for path, size in _lists(content, "", seen.chars, 0):
                chars[path] = chars.get(path, 0) + size
    best = max(sorted(chars, key=len), key=lambda path: chars[path], default=None)
    return (best,) if best is not None and chars[best] * 2 > total else ()


def _lists(value: Any, path: str, size: int, depth: int) -> Iterator[tuple[str, int]]:
    """Give the long lists that only keys lead to, each with about the characters that it holds."""
    if type(value) is list:
        if len(value) >= _LONG:
            yield path or "@", size
        return
    if type(value) is not dict or depth >= _DEEPEST or is_media(value):
        return
    sizes = {key: _size(item) for key, item in value.items()}
    whole = max(1, sum(sizes.values()))
    for key, item in value.items():
        if type(key) is str and _NAME.fullmatch(key):
            yield from _lists(item, f"{path}.{key}" if path else key, size * sizes[key] // whole, depth + 1)


def _size(value: Any) -> int:
    """Give about how many characters a value has: no more is needed to tell which key holds most."""
    waiting, size = [value], 0
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            waiting += value.values()
            size += sum(map(len, map(str, value)))
        elif type(value) is list:
            waiting += value
        else:
            size += len(value) if type(value) is str else 4
    return size
