"""Entries for what was reduced offline: the originals as they are written in the history, blanks and escapes included."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reducer.archive.entries import Entry, Place, canonical, instant
from reducer.stored import InputFormat, returns


def between(before: bytes, after: bytes, rule: Callable[[str], str], input_format: InputFormat = "auto") -> Iterator[Entry]:
    """Give the entries for what differs between a stored history and the same one reduced; `rule` names the rule of a tool.

    A return that stands in several copies gets an entry for each original that its copies have, and where what they were reduced to does
    not tell them apart, one with the number of the copy. Raises `HistoryError` for what is no history, `ValueError` for two that do not
    belong together.
    """
    whole, less = before.decode(), after.decode()
    places = sorted((one.start, one.end) for old in returns(before, input_format) for one in old.places)
    reduced = list(returns(after, input_format))
    # The contents of both stand in the same order, whatever copies of one another they are taken for.
    starts = sorted(one.start for new in reduced for one in new.places)
    originals = dict(zip(starts, places, strict=True))
    for new in reduced:
        copies = []
        for number, one in enumerate(new.places, 1):
            start, end = originals[one.start]
            original = whole[start:end]
            copies.append((original != less[one.start : one.end], number, one.content, original))
        if any(changed for changed, *_ in copies):
            place = Place(new.tool, new.call_id, new.nth, instant(new.timestamp))
            yield from _entries(place, rule(new.tool), sorted(copies, key=lambda copy: not copy[0]))


def _entries(place: Place, rule: str, copies: list[tuple[bool, int, object, str]]) -> Iterator[Entry]:
    """Give the entries of one return, by its copies: whether each changed, its number, content and original; those that did come first."""
    filed: dict[bytes, str] = {}
    for changed, number, content, original in copies:
        reduced = canonical(content)
        if reduced is None:
            continue
        if reduced in filed:
            if filed[reduced] != original:
                yield Entry(place._replace(copy=number), rule, reduced, original.encode())
        elif changed:
            filed[reduced] = original
            yield Entry(place, rule, reduced, original.encode())
