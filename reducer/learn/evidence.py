"""What recorded histories tell: each tool return, and the values in it that the agent wrote afterwards and had from nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from reducer.measures import size
from reducer.reading import loads
from reducer.references import Event, Returned, Said, Written, references, searched
from reducer.references.search import stands
from reducer.stored import returns
from reducer.stored.events import events, keyed


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One tool return: `chars` that it is sent as, and `wanted`, the novel references that it is a source of.

    `fixed`: rules never apply to it. `followed`: the agent wrote something after it, so that what it did not use tells something:
    what it wrote is `said[since:]`.
    """

    tool: str
    content: Any
    chars: int
    fixed: bool
    followed: bool
    wanted: frozenset[str]
    said: str = ""
    since: int = 0

    def is_said(self, value: str) -> bool:
        """Tell whether the agent wrote a value afterwards, as a word or words, wherever it had it from."""
        start = self.said.find(value, self.since)
        while start >= 0:
            if stands(self.said, start, start + len(value), False):
                return True
            start = self.said.find(value, start + 1)
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """A recorded history: its tool returns in order, and for each novel reference the returns that it stood in.

    `source`: where it was found. `task` and `digest`: hashes of what was asked, and of all of it.
    """

    source: str
    task: str
    digest: str
    returns: tuple[Seen, ...]
    references: tuple[tuple[str, tuple[int, ...]], ...]


def recorded(source: str, stored: bytes) -> Recorded:
    """Read a stored history. Raises `HistoryError` for what is none, `ValueError` for one too deep to be read as a whole."""
    known = dict(keyed(returns(stored)))
    try:
        placed = list(events(loads(stored)))
    except RecursionError:
        raise ValueError("deeper than can be read as a whole") from None
    happened = [place.event for place in placed]
    novel = [reference for reference in references(happened) if reference.novel]
    wanted: dict[int, set[str]] = {}
    for reference in novel:
        for number in reference.sources:
            wanted.setdefault(number, set()).add(reference.value)
    last = max((number for number, event in enumerate(happened) if isinstance(event, Written)), default=-1)
    texts = [_said(event) if isinstance(event, Written) else "" for event in happened]
    said = "".join(texts)
    since = [0, *accumulate(map(len, texts))]
    seen: list[Seen] = []
    for place, one in enumerate(placed):
        if isinstance(one.event, Returned):
            found, content = known.get(one.key), one.event.content
            tool, fixed = ("", True) if found is None else (found.tool, bool(found.untouched))
            seen.append(Seen(tool, content, size(content), fixed, place < last, frozenset(wanted.get(len(seen), ())), said, since[place]))
    return Recorded(source, _task(happened) or _hash(stored), _hash(stored), tuple(seen), tuple((reference.value, reference.sources) for reference in novel))


def _said(event: Written) -> str:
    return "\n".join((*event.texts, *(searched(call.arguments) for call in event.calls), ""))


def _task(happened: Sequence[Event]) -> str:
    """Give a hash of what the agent was asked, which is the same whoever worked on it; empty where nothing was."""
    asked: list[str] = []
    for event in happened:
        if not isinstance(event, Said):
            break
        asked.append(event.text)
    return _hash("\n".join(asked).encode("utf-8", "replace")) if asked else ""


def _hash(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()


def parted(histories: Sequence[Recorded], holdout: float) -> tuple[list[Recorded], list[Recorded]]:
    """Part histories into those to learn from and those to measure on, which have the share `holdout` of the tasks of each source.

    All histories of one task are on the same side. The hash of the task decides, so that other histories beside it change little.
    Both are in an order of their own.
    """
    histories = sorted(_told_apart(histories), key=lambda one: (one.source, one.task, one.digest))
    held: set[tuple[str, str]] = set()
    for source in {one.source for one in histories}:
        tasks = sorted({one.task for one in histories if one.source == source})
        held.update((source, task) for task in tasks[: round(len(tasks) * holdout)])
    return [one for one in histories if (one.source, one.task) not in held], [one for one in histories if (one.source, one.task) in held]


def _told_apart(histories: Sequence[Recorded]) -> list[Recorded]:
    """Let each history be a task of its own where a source would have one alone: `Hello` is no task."""
    tasks: dict[str, set[str]] = {}
    for one in histories:
        tasks.setdefault(one.source, set()).add(one.task)
    return [one if len(tasks[one.source]) > 1 else replace(one, task=one.digest) for one in histories]
