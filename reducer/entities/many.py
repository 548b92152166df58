"""Tell which of many brief texts may hold an entity: the anchors of all of them are looked for at once.

Only where a text is worth a look is found this way; it is then scanned alone, as no entity may be read across texts.
Records have 40 brief texts of which 30 hold nothing: scanning each of those takes longer than all else that is done with them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

from reducer.entities.entity import GROUPS
from reducer.entities.names import anchors
from reducer.entities.tokens import HEX, SHAPE

_BRIEF = 256  # characters: longer texts are worth a look in any case
_SEPARATOR = "\n"  # stands in no anchor
# What a host, an address or a URL has, or what may be a defanged part of one: brackets, backslashes, control characters.
_HOST = re.compile(
    rb"""[^a-zA-Z0-9 ,;\-_'"\n\r\t/=+*!?&%$\#|~^`<>] (?: (?<=[^@:.]) | (?<=@)
    | (?<=\.) (?: [a-zA-Z] | [0-9]{1,3}\.[0-9]{1,3}\.[0-9] )
    | (?<=:) (?: // | : | (?:[0-9a-fA-F]{1,4}:){3} ) )""",
    re.VERBOSE,
)
_HASH = b"h" * 32
_NUMBERS = {"cve": (b"cve",), "mitre_attack": (b"t0000", b"ta0000")}


@lru_cache(maxsize=64)
def promising(types: frozenset[str]) -> Callable[[Iterable[str]], Iterator[str]]:
    """Give the function that leaves out of many texts those that hold no entity of `types`; long ones come last."""
    hosts = not types.isdisjoint(("ipv4", "ipv6", "domain", "email", "url"))
    hashes = not types.isdisjoint(GROUPS["hash"])
    names = not types.isdisjoint(("threat_actor", "malware"))
    literals = [literal for kind, found in _NUMBERS.items() if kind in types for literal in found]

    def among(brief: list[str]) -> set[int]:
        data = _SEPARATOR.join(brief).encode()
        starts = [0, *accumulate(len(text) + 1 for text in brief)]
        found: set[int] = set()
        add = found.add
        if hosts:
            match = _HOST.search(data)
            while match:
                number = bisect_right(starts, match.start())
                add(number - 1)
                match = _HOST.search(data, starts[number])
        if hashes:
            _mark(data.translate(HEX), _HASH, starts, add)
        if names or literals:
            shape = data.translate(SHAPE)
            for literal in literals:
                _mark(shape, literal, starts, add)
            if names:
                found.update([bisect_right(starts, start) - 1 for start in anchors(shape)])
        return found

    def choose(texts: Iterable[str]) -> Iterator[str]:
        brief: list[str] = []
        others: list[str] = []
        for text in texts:
            if len(text) > _BRIEF or not text.isascii():
                others.append(text)
            elif len(text) > 2:
                brief.append(text)
        yield from [brief[number] for number in sorted(among(brief))] if brief else ()
        yield from others

    return choose


def _mark(data: bytes, literal: bytes, starts: list[int], add: Callable[[int], None]) -> None:
    at = data.find(literal)
    while at >= 0:
        number = bisect_right(starts, at)
        add(number - 1)
        at = data.find(literal, starts[number])
