"""Find names of threat actors and malware: one automaton over the lower-case text, and the patterns of code names."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files

import ahocorasick

from reducer.entities.entity import Entity

_CODE = re.compile(
    r"\b(?:APT(?:-C-|-Q-|[ -]?)[0-9]{1,3}|UNC[0-9]{3,4}|TA[1-9][0-9]{2,3}|FIN[0-9]{1,2}|(?:Storm|DEV)-[0-9]{4}|UAC-[0-9]{4}|TAG-[0-9]{1,3}"
    r"|[A-Z][a-z]{2,14} (?:Panda|Bear|Kitten|Spider|Typhoon|Blizzard|Sandstorm|Sleet|Tempest|Buffalo|Chollima|Jackal|Leopard|Tsunami)"
    r"|[A-Z]{3,14} (?:PANDA|BEAR|KITTEN|SPIDER|CHOLLIMA|BUFFALO|JACKAL|LEOPARD|TIGER))\b"
)
_TYPES = {"a": "threat_actor", "m": "malware"}


@lru_cache(maxsize=1)
def _names() -> tuple[ahocorasick.Automaton, dict[str, tuple[str, frozenset[str] | None]]]:
    exact: dict[str, set[str]] = {}
    kinds: dict[str, str] = {}
    free: set[str] = set()
    for line in files("reducer.entities").joinpath("names.txt").read_text("utf-8").splitlines():
        name = line[2:]
        low = name.lower()
        kinds[low] = min(kinds.get(low, "z"), line[0])
        if line[1] == "~":
            free.add(low)
        else:
            exact.setdefault(low, set()).update((name, name.upper()))
    table = {low: (_TYPES[kind], None if low in free else frozenset(exact[low])) for low, kind in kinds.items()}
    automaton = ahocorasick.Automaton(ahocorasick.STORE_LENGTH)
    for low in table:
        automaton.add_word(low)
    automaton.make_automaton()
    return automaton, table


def finder(types: frozenset[str]) -> Callable[[str], list[Entity]] | None:
    """Give the function that finds the names of `types` in a text; None if there are none."""
    if not types:
        return None
    automaton, table = _names()
    want_actors = "threat_actor" in types

    def find(text: str) -> list[Entity]:
        low = text.lower()
        if len(low) != len(text):
            low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        hits: list[tuple[int, int, str]] = []
        for last, size in automaton.iter(low):
            end = last + 1
            start = end - size
            if (end < len(low) and (low[end].isalnum() or low[end] == "_")) or (start and (low[start - 1].isalnum() or low[start - 1] == "_")):
                continue
            kind, spellings = table[low[start:end]]
            if spellings is None or text[start:end] in spellings:
                hits.append((start, -end, kind))
        if want_actors:
            hits += [(m.start(), -m.end(), "threat_actor") for m in _CODE.finditer(text)]
        hits.sort()
        found = []
        done = 0
        for start, minus, kind in hits:
            if start >= done:
                done = -minus
                if kind in types:
                    value = text[start:done]
                    found.append(Entity(kind, value, value.lower(), start, done))
        return found

    return find
