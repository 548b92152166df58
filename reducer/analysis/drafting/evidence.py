"""Evidence from recorded histories: each tool return, and the values in it that the agent used later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from reducer.analysis.measures import size
from reducer.histories.stored import events, returns
from reducer.references import Event, Prompt, Response, Returned, is_bounded, references, searched

Task = tuple[str, str]
"""A source, and the hash of what the agent was asked there."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordedReturn:
    """One tool return and `used`: the values that the agent used later and that no other message than returns has.

    Each of them counts `weight`: half if another return has it too. `is_fixed`: rules never change the return.
    `is_followed`: the agent wrote something afterwards, so that it is known what was not used.
    """

    tool: str
    content: Any
    chars: int
    used: frozenset[str] = frozenset()
    weight: float = 1.0
    task: Task = ("", "")
    is_fixed: bool = False
    is_followed: bool = True
    written: str = ""
    written_before: int = 0

    def is_mentioned(self, value: str) -> bool:
        """Return whether the agent wrote a value afterwards as whole words, whatever its source."""
        start = self.written.find(value, self.written_before)
        while start >= 0:
            if is_bounded(self.written, start, start + len(value), False):
                return True
            start = self.written.find(value, start + 1)
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A recorded history: its tool returns in order, and for each value used later the numbers of its returns."""

    task: Task
    digest: str
    returns: tuple[RecordedReturn, ...]
    references: tuple[tuple[str, tuple[int, ...]], ...]


def recorded(source: str, stored: bytes) -> Recording:
    """Read a stored history; `source` is where it was found. Raises `HistoryError` if it is none."""
    known = {found.key: found for found in returns(stored)}
    placed = events(stored)
    happened = [place.event for place in placed]
    novel = [reference for reference in references(happened) if reference.novel]
    used: dict[int, dict[str, float]] = {}
    for reference in novel:
        for number in reference.sources:
            used.setdefault(number, {})[reference.value] = 1 / len(reference.sources)
    last = max((number for number, event in enumerate(happened) if isinstance(event, Response)), default=-1)
    texts = [_text(event) if isinstance(event, Response) else "" for event in happened]
    written, starts = "".join(texts), [0, *accumulate(map(len, texts))]
    task = (source, _asked(happened) or _hash(stored))
    found: list[RecordedReturn] = []
    for place, one in enumerate(placed):
        if isinstance(one.event, Returned):
            values = used.get(len(found), {})
            found.append(
                RecordedReturn(
                    tool=known[one.key].tool,
                    content=one.event.content,
                    chars=size(one.event.content),
                    used=frozenset(values),
                    weight=sum(values.values()) / max(1, len(values)),
                    task=task,
                    is_fixed=bool(known[one.key].untouched),
                    is_followed=place < last,
                    written=written,
                    written_before=starts[place],
                )
            )
    return Recording(task, _hash(stored), tuple(found), tuple((one.value, one.sources) for one in novel))


def evidence(histories: Iterable[Recording], tool: str | None = None) -> list[RecordedReturn]:
    """Return the returns of one tool or of all that rules can change and after which the agent went on."""
    return [
        one
        for history in histories
        for one in history.returns
        if not one.is_fixed and one.is_followed and tool in (None, one.tool)
    ]


def split(histories: Sequence[Recording], holdout: float) -> tuple[list[Recording], list[Recording]]:
    """Split histories into those to learn from and those to measure on: the share `holdout` of each source's tasks.

    All histories of one task are on the same side. The hash of the task decides, so that other histories change little.
    """
    tasks: dict[str, set[Task]] = {}
    for one in histories:
        tasks.setdefault(one.task[0], set()).add(one.task)
    # If all histories of a source begin alike (`Hello`), each of them is a task.
    distinct = [one if len(tasks[one.task[0]]) > 1 else _alone(one) for one in histories]
    distinct.sort(key=lambda one: (one.task, one.digest))
    held: set[Task] = set()
    for source in tasks:
        own = sorted({one.task for one in distinct if one.task[0] == source})
        held.update(own[: round(len(own) * holdout)])
    return [one for one in distinct if one.task not in held], [one for one in distinct if one.task in held]


def _alone(history: Recording) -> Recording:
    task = (history.task[0], history.digest)
    return replace(history, task=task, returns=tuple(replace(one, task=task) for one in history.returns))


def _text(event: Response) -> str:
    return "\n".join((*event.texts, *(searched(call.arguments) for call in event.calls), ""))


def _asked(happened: Sequence[Event]) -> str:
    """Return a hash of what the agent was asked; empty if it was asked nothing."""
    asked: list[str] = []
    for event in happened:
        if not isinstance(event, Prompt):
            break
        asked.append(event.text)
    return _hash("\n".join(asked).encode("utf-8", "replace")) if asked else ""


def _hash(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()
