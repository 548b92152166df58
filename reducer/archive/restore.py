"""Puts the originals of an archive back into a stored history."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from reducer.archive.entries import Place, instant
from reducer.archive.originals import find, holds_mark
from reducer.stored import Copy, InputFormat, Return, returns, splice

_WHY = {
    "several": "the archive has several originals that fit it",
    "elsewhere": "the archive has what may be its original, from another place",
    "damaged": "its original is damaged",
    "": "it holds marks, and the archive has no original of it",
}


class Left(NamedTuple):
    """A return that stays reduced, or may do so, and why."""

    found: Return
    why: str


class Restored(NamedTuple):
    """A history with the originals put back: of how many returns, and what stays for want of a certain one."""

    history: bytes
    put_back: int
    left: tuple[Left, ...]


def restore(history: bytes, connection: sqlite3.Connection, *, newest: bool = False, input_format: InputFormat = "auto") -> Restored:
    """Put back the originals of the tool returns in a stored history, JSON as UTF-8 bytes, each of their copies; all other bytes stay.

    With `newest` the newest original is taken where several fit. Raises `HistoryError` and `sqlite3.Error`.
    """
    changes: list[tuple[Return | Copy, bytes]] = []
    left: list[Left] = []
    put_back = 0
    for found in returns(history, input_format):
        if found.untouched:
            continue
        place = Place(found.tool, found.call_id, found.nth, instant(found.timestamp))
        known = len(changes)
        why = ""
        for number, one in enumerate(found.places, 1):
            original = find(connection, place._replace(copy=number) if found.copies else place, one.content, newest=newest)
            if original.form is not None:
                changes.append((one, original.form))
            elif original.doubt or holds_mark(one.content):
                why = why or _WHY[original.doubt]
        if why:
            left.append(Left(found, why))
        else:
            put_back += len(changes) > known
    return Restored(splice(history, changes) if changes else history, put_back, tuple(left))
