"""Archive the originals of stored histories, and restore them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reducer.archive.database import Entry, ReturnId, canonical, find_original, microseconds
from reducer.histories.stored import Content, InputFormat, Return, returns, splice


class Restored(NamedTuple):
    """A restored history, the number of restored returns, and those that may still be reduced, each with a reason."""

    history: bytes
    restored: int
    unrestored: tuple[tuple[Return, str], ...]


def restore(history: bytes, connection: sqlite3.Connection, input_format: InputFormat = "auto") -> Restored:
    """Restore the original tool returns of a stored history (UTF-8 JSON). All other bytes stay the same.

    Raises `HistoryError` and `sqlite3.Error`.
    """
    changes: list[tuple[Content, bytes]] = []
    unrestored: list[tuple[Return, str]] = []
    restored = 0
    for found in returns(history, input_format):
        if found.untouched:
            continue
        problems = []
        is_changed = False
        for copy in found.copies:
            original = find_original(connection, _id(found), copy.content)
            if original.data is not None:
                changes.append((copy, original.data))
                is_changed = True
            elif original.problem:
                problems.append(original.problem)
        if problems:
            unrestored.append((found, problems[0]))
        elif is_changed:
            restored += 1
    return Restored(splice(history, changes) if changes else history, restored, tuple(unrestored))


def entries_between(before: bytes, after: bytes, input_format: InputFormat = "auto") -> Iterator[Entry]:
    """Yield an entry for each content that differs between a stored history and its reduced form.

    Equal copies of a return share an entry. Raises `HistoryError`, and `ValueError` if the two histories do not contain
    the same returns.
    """
    # Match contents by position: which copies belong to one return can depend on what they contain.
    originals = _texts(before, returns(before, input_format))
    changed = list(returns(after, input_format))
    reduced = _texts(after, changed)
    original_of = dict(zip(reduced, originals.values(), strict=True))
    for found in changed:
        entries = set()
        for copy in found.copies:
            original = original_of[copy.start]
            content = canonical(copy.content)
            if original != reduced[copy.start] and content is not None:
                entries.add(Entry(_id(found), content, original))
        yield from sorted(entries)


def _texts(history: bytes, found: Iterable[Return]) -> dict[int, bytes]:
    """Return the JSON of every copy of tool returns by its start, in order."""
    texts = {}
    for one in found:
        for copy in one.copies:
            text = history[copy.start : copy.end]
            texts[copy.start] = json.loads(b'"%b"' % text).encode() if copy.is_in_text else text
    return dict(sorted(texts.items()))


def _id(found: Return) -> ReturnId:
    return ReturnId(found.tool, found.call_id, found.nth, time=microseconds(found.timestamp))
