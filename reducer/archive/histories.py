"""Archive the originals of stored histories, and restore them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
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
        problems, before = [], len(changes)
        for number, copy in enumerate(found.copies, 1 if len(found.copies) > 1 else 0):
            original = find_original(connection, _id(found, number), copy.content)
            if original.data is not None:
                changes.append((copy, original.data))
            elif original.problem:
                problems.append(original.problem)
        if problems:
            unrestored.append((found, problems[0]))
        elif len(changes) > before:
            restored += 1
    return Restored(splice(history, changes) if changes else history, restored, tuple(unrestored))


def entries_between(
    before: bytes, after: bytes, rule: Callable[[str], str], input_format: InputFormat = "auto"
) -> Iterator[Entry]:
    """Yield an entry for each content that differs between a stored history and its reduced form.

    `rule(tool)` returns the name of the rule for a tool. Raises `HistoryError`, and `ValueError` if the two histories
    do not contain the same returns.
    """
    # Match contents by position: which copies belong to one return can depend on what they contain.
    originals = sorted((copy.start, copy.end) for found in returns(before, input_format) for copy in found.copies)
    changed = list(returns(after, input_format))
    starts = sorted(copy.start for found in changed for copy in found.copies)
    spans = dict(zip(starts, originals, strict=True))
    for found in changed:
        copies = [
            (number, before[slice(*spans[copy.start])], after[copy.start : copy.end], canonical(copy.content))
            for number, copy in enumerate(found.copies, 1)
        ]
        # Changed copies come first: all copies with the same reduced content share their original.
        copies.sort(key=lambda copy: copy[1] == copy[2])
        shared: dict[bytes, bytes] = {}
        for number, original, reduced, content in copies:
            if content is None:
                continue
            if content not in shared:
                if original != reduced:
                    shared[content] = original
                    yield Entry(_id(found), rule(found.tool), content, original)
            elif shared[content] != original:
                yield Entry(_id(found, number), rule(found.tool), content, original)


def _id(found: Return, copy: int = 0) -> ReturnId:
    return ReturnId(found.tool, found.call_id, found.nth, time=microseconds(found.timestamp), copy=copy)
