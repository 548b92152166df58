"""Evidence from recorded histories: tool returns, what agents used of them later, and scores of what rules keep."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import takewhile
from typing import Any, NamedTuple

from reducer.analysis.measures import size
from reducer.histories.stored import events, returns
from reducer.references import Prompt, Response, Returned, references, searched

Task = tuple[str, str]
"""A source, and the hash of what the agent was asked there."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordedReturn:
    """One tool return and `used`: the values that the agent used later and that no other message than returns has.

    Each of them counts `weight`: half if another return has it too. `is_fixed`: rules never change the return.
    `is_followed`: the agent wrote something afterwards. `written` is all that it wrote.
    """

    tool: str
    content: Any
    chars: int
    used: frozenset[str]
    weight: float
    task: Task
    is_fixed: bool
    is_followed: bool
    written: str


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A recorded history: its tool returns in order, and for each value used later the numbers of its returns."""

    task: Task
    digest: str
    returns: tuple[RecordedReturn, ...]
    references: tuple[tuple[str, tuple[int, ...]], ...]


class Effect(NamedTuple):
    """What a rule leaves of a return: its characters, and which of the values searched for are absent."""

    chars: int
    absent: frozenset[str] = frozenset()


class Score(NamedTuple):
    """Returns, their characters before and after, and of the values used later (`references`) those that are kept."""

    returns: int = 0
    before: int = 0
    after: int = 0
    references: int = 0
    kept: int = 0

    @property
    def saved(self) -> float:
        """The share of the characters that was saved."""
        return (self.before - self.after) / self.before if self.before else 0.0

    @property
    def retention(self) -> float:
        """The share of the references that was kept; 1 if there are none."""
        return self.kept / self.references if self.references else 1.0


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by source and by tool, of so many tasks; a reference counts for the tool that showed it first."""

    sources: dict[str, Score]
    tools: dict[str, Score]
    tasks: int

    @property
    def total(self) -> Score:
        """The score of everything."""
        return total(self.sources.values())

    @property
    def least_retention(self) -> float:
        """The retention if one further task of average size lost everything, as losses cluster by task; 1 for none."""
        share = self.total.retention
        return share * self.tasks / (self.tasks + 1) if share < 1 else share


def total(scores: Iterable[Score]) -> Score:
    """Add scores."""
    return Score(*map(sum, zip(*scores, Score(), strict=True)))


def recorded(source: str, stored: bytes) -> Recording:
    """Read a stored history; `source` is where it was found. Raises `HistoryError` if it is none."""
    known = {found.key: found for found in returns(stored)}
    placed = events(stored)
    happened = [place.event for place in placed]
    novel = [reference for reference in references(happened) if reference.novel]
    responses = [(number, event) for number, event in enumerate(happened) if isinstance(event, Response)]
    texts = [(*event.texts, *(searched(call.arguments) for call in event.calls)) for _, event in responses]
    written = "\n".join(text for each in texts for text in each)
    first = takewhile(lambda event: isinstance(event, Prompt), happened)
    asked = [event.text for event in first if isinstance(event, Prompt)]
    digest = _hash(stored)
    task = (source, _hash("\n".join(asked).encode("utf-8", "replace")) if asked else digest)
    found: list[RecordedReturn] = []
    for number, (event, key) in enumerate(placed):
        if isinstance(event, Returned):
            values = {each.value: 1 / len(each.sources) for each in novel if len(found) in each.sources}
            one = RecordedReturn(
                tool=known[key].tool,
                content=event.content,
                chars=size(event.content),
                used=frozenset(values),
                weight=sum(values.values()) / max(1, len(values)),
                task=task,
                is_fixed=bool(known[key].untouched),
                is_followed=bool(responses) and number < responses[-1][0],
                written=written,
            )
            found.append(one)
    return Recording(task, digest, tuple(found), tuple((one.value, one.sources) for one in novel))


def evidence(histories: Iterable[Recording], tool: str | None = None) -> list[RecordedReturn]:
    """Return the returns of one tool or of all that rules can change and after which the agent went on."""
    every = (one for history in histories for one in history.returns)
    return [one for one in every if not one.is_fixed and one.is_followed and tool in (None, one.tool)]


def split(histories: Sequence[Recording], holdout: float) -> tuple[list[Recording], list[Recording]]:
    """Split histories into those to learn from and those to measure on: the share `holdout` of each source's tasks.

    All histories of one task are on the same side. The hash of the task decides, so that other histories change little.
    """
    tasks = _tasks(histories)
    # If all histories of a source begin alike (`Hello`), each of them is a task.
    distinct = [one if len(tasks[one.task[0]]) > 1 else _of_task(one, (one.task[0], one.digest)) for one in histories]
    distinct.sort(key=lambda one: (one.task, one.digest))
    held = {task for own in _tasks(distinct).values() for task in own[: round(len(own) * holdout)]}
    return [one for one in distinct if one.task not in held], [one for one in distinct if one.task in held]


def scored(histories: Iterable[Recording], effect: Callable[[RecordedReturn], Effect]) -> Scores:
    """Score what `effect` leaves of the tool returns of histories."""
    found: list[tuple[str, str, Score]] = []
    tasks: set[Task] = set()
    for history in histories:
        source, seen = history.task[0], history.returns
        tasks |= {history.task} if history.references else set()
        effects = [Effect(one.chars) if one.is_fixed else effect(one) for one in seen]
        found += ((source, one.tool, Score(1, one.chars, left.chars)) for one, left in zip(seen, effects, strict=True))
        for value, places in history.references:
            is_kept = any(value not in effects[place].absent for place in places)
            found.append((source, seen[places[0]].tool, Score(references=1, kept=int(is_kept))))
    by_source = _totals((source, one) for source, _, one in found)
    return Scores(by_source, _totals((tool, one) for _, tool, one in found), len(tasks))


def _totals(scores: Iterable[tuple[str, Score]]) -> dict[str, Score]:
    groups: dict[str, list[Score]] = defaultdict(list)
    for name, score in scores:
        groups[name].append(score)
    return {name: total(group) for name, group in sorted(groups.items())}


def _tasks(histories: Iterable[Recording]) -> dict[str, list[Task]]:
    """Return the tasks of each source in the order of their hashes."""
    tasks: dict[str, list[Task]] = defaultdict(list)
    for task in sorted({one.task for one in histories}):
        tasks[task[0]].append(task)
    return tasks


def _of_task(history: Recording, task: Task) -> Recording:
    return replace(history, task=task, returns=tuple(replace(one, task=task) for one in history.returns))


def _hash(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()
