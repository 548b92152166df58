"""Entries for what was reduced offline: the originals as they are written in the history, blanks and escapes included."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reducer.archive.entries import Entry, Place, canonical, instant
from reducer.stored import returns


def between(before: bytes, after: bytes, rule: Callable[[str], str]) -> Iterator[Entry]:
    """Give an entry for each return that differs between a stored history and the same one reduced; `rule` names the rule of a tool.

    Raises `HistoryError` for what is no history, `ValueError` for two that do not belong together.
    """
    whole, less = before.decode(), after.decode()
    for old, new in zip(returns(before), returns(after), strict=True):
        original = whole[old.start : old.end]
        if original != less[new.start : new.end]:
            reduced = canonical(new.content)
            if reduced is not None:
                yield Entry(Place(old.tool, old.call_id, old.nth, instant(old.timestamp)), rule(old.tool), reduced, original.encode())
