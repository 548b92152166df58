"""Scan many texts: brief ones are read as one, with line breaks between them.

No finder looks past a line break, or takes one for something else than the start or the end of a text, so each text is read as it is
alone. Records hold 40 brief texts, of which 30 hold nothing: scanning each takes longer than all else that is done with them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

from reducer.entities.abroad import abroad
from reducer.entities.entity import Entity, Found
from reducer.entities.refang import flat
from reducer.entities.search import BRIEF, finder, reader, written

_TOGETHER = 16_384  # texts, at most 4 MB: what is made on the way of reading them is as large again some times

Reader = Callable[[bytes], list[Found]]


@lru_cache(maxsize=64)
def compiled(types: frozenset[str]) -> Callable[[Iterable[str]], dict[str, Sequence[Entity]]]:
    """Give the function that finds in many texts what the scanner for `types` finds in each: the entities of those that hold any, by text."""
    read = reader(types)
    find = finder(types)

    def scan(texts: Iterable[str]) -> dict[str, Sequence[Entity]]:
        given = list(texts)
        brief = [text for text in given if len(text) <= BRIEF]
        known: dict[str, Sequence[Entity]] = {}
        if len(brief) < len(given):
            known.update([(text, found) for text in [text for text in given if len(text) > BRIEF] if (found := find(text))])
        for first in range(0, len(brief), _TOGETHER):
            some = brief[first : first + _TOGETHER]
            joined = "\n".join(some)
            if joined.isascii():
                _together(some, joined, types, read, known)
            else:  # one such text makes each character of all take more, and it takes ten times as long to fold
                plain = [text for text in some if text.isascii()]
                foreign = [text for text in some if not text.isascii()]
                _together(plain, "\n".join(plain), types, read, known)
                _together(foreign, "\n".join(foreign), types, read, known)
        return known

    return scan


def _together(texts: list[str], joined: str, types: frozenset[str], read: Reader, known: dict[str, Sequence[Entity]]) -> None:
    """Add the entities of `types` in brief texts to those that are known."""
    raw = flat(joined)
    found = read(raw)
    if not found:
        return
    pieces: Iterable[tuple[int, int, str, bytes | str]]
    if joined.isascii():
        found.sort()
        pieces = found
    else:
        pieces = [(entity.start, entity.end, entity.type, entity.canonical) for entity in abroad(joined, raw, found, types)]
    new = tuple.__new__
    starts = [0, *accumulate([len(text) + 1 for text in texts])]
    text, first, past = "", 0, 0
    for start, end, kind, canonical in pieces:
        if kind not in types:
            continue
        before: Sequence[Entity] = ()
        if start >= past:
            number = bisect_right(starts, start)
            first, past, text = starts[number - 1], starts[number], texts[number - 1]
        else:
            before = known.get(text, ())
        start -= first
        end -= first
        whole = canonical if type(canonical) is str else written(canonical)  # type: ignore[arg-type]
        entity = new(Entity, (kind, text[start:end], whole, start, end))
        known[text] = (*before, entity) if before else (entity,)
