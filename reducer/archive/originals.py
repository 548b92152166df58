"""Finds the original of a return that stands in a history, by its place and by what it was reduced to."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Literal, NamedTuple

from reducer.archive.entries import Filed, Place, at_no_time, at_place, candidates, canonical, key_of, original
from reducer.marks import is_marked

_MOST_STEPS = 50
"""How often a return may have been reduced again, by other rules each time."""

Doubt = Literal["", "several", "elsewhere", "damaged"]


class Original(NamedTuple):
    """What an archive says of one return: the `form` that was filed, JSON, or None; `doubt` says why something was found and is not given.

    `several`: different originals fit its place. `elsewhere`: one was filed from another place only. `damaged`: it cannot be read.
    """

    form: bytes | None
    doubt: Doubt = ""


def find(connection: sqlite3.Connection, place: Place, content: Any, *, newest: bool = False) -> Original:
    """Find the original of the return at `place` whose content is `content`, plain JSON; with `newest` the newest where several fit.

    What newer rules reduced again is followed back to what the tool returned. Raises `sqlite3.Error`.
    """
    found = _step(connection, place, content, newest, first=True)
    seen = {found.form}
    while found.form is not None and len(seen) < _MOST_STEPS:
        before = _step(connection, place, json.loads(found.form), newest, first=False)
        if before.form is None or before.form in seen:
            break
        seen.add(before.form)
        found = before
    return found


def _step(connection: sqlite3.Connection, place: Place, content: Any, newest: bool, first: bool) -> Original:
    form = canonical(content)
    filed: list[Filed] = []
    for copy in (place.copy, 0) if place.copy else (0,):
        if form is not None and not filed:
            filed = candidates(connection, key_of(place.tool, place.call_id, form, copy))
    if not filed:
        return Original(None)
    fitting = at_place(filed, place)
    if not fitting and first:
        # A return without a time, in a history whose beginning is gone: what was reduced for sure has its original under any number.
        loose = at_no_time(filed, place)
        fitting = loose if holds_mark(content) else []
        if not fitting:
            return _read(connection, filed[0]) if newest else Original(None, "elsewhere")
    if not fitting:
        return Original(None)
    if len({one.original for one in fitting}) > 1 and not newest:
        return Original(None, "several")
    return _read(connection, fitting[0])


def _read(connection: sqlite3.Connection, filed: Filed) -> Original:
    form = original(connection, filed.original)
    return Original(form, "" if form is not None else "damaged")


def holds_mark(content: Any) -> bool:
    """Tell whether something in a content looks like a mark, so that rules have most likely cut it."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if type(value) is str:
            if is_marked(value):
                return True
        elif type(value) is list:
            waiting += value
        elif type(value) is dict:
            waiting += value.values()
    return False
