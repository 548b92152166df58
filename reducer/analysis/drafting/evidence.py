"""Evidence from recorded histories: tool returns, the values that agents used later, and scores of what rules keep."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import takewhile
from math import sqrt
from typing import Any, NamedTuple

from reducer.analysis.measures import size
from reducer.histories.stored import events, returns
from reducer.references import Prompt, Response, Returned, references, searched

_Z = 1.28
"""One of ten samples deviates more than this from the average, in standard deviations and to one side."""
Task = tuple[str, str]
"""A source, and the hash of the prompt that the agent was given."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordedReturn:
    """One tool return, and how the agent used it.

    used: the values that the agent used later and that only tool returns contain
    weight: the average count of a used value; a value that two returns contain counts half
    is_fixed: whether rules never change the return
    is_followed: whether the agent wrote something afterwards
    written: everything that the agent wrote in this history
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
    """A recorded history: its tool returns in order, and the values used later with the numbers of their returns."""

    task: Task
    digest: str
    returns: tuple[RecordedReturn, ...]
    references: tuple[tuple[str, tuple[int, ...]], ...]


class Effect(NamedTuple):
    """The effect of a rule on a return: the characters that remain, and the used values that do not."""

    chars: int
    lost: frozenset[str] = frozenset()


class Score(NamedTuple):
    """Counts of returns, of their characters before and after, and of all references and those that are kept."""

    returns: int = 0
    before: int = 0
    after: int = 0
    references: int = 0
    kept: int = 0

    @property
    def saved(self) -> float:
        """The share of the characters that rules save."""
        return (self.before - self.after) / self.before if self.before else 0.0

    @property
    def retention(self) -> float:
        """The share of the references that rules keep; 1 if there are none."""
        return self.kept / self.references if self.references else 1.0

    @property
    def at_least(self) -> float:
        """The retention to expect of other tasks: the lower bound of Wilson's interval; 0 without references."""
        count, share = self.references, self.retention
        spread = _Z * sqrt(share * (1 - share) * count + _Z**2 / 4)
        return (share * count + _Z**2 / 2 - spread) / (count + _Z**2) if count else 0.0


@dataclass(frozen=True)
class Scores:
    """Scores by source and tool. A reference counts for the tool that returned it first."""

    parts: Mapping[tuple[str, str], Score]

    @cached_property
    def sources(self) -> dict[str, Score]:
        """The scores by source."""
        return {name: total(self.parts[key] for key in self.parts if key[0] == name) for name, _ in self.parts}

    @cached_property
    def tools(self) -> dict[str, Score]:
        """The scores by tool."""
        names = sorted({tool for _, tool in self.parts})
        return {name: total(self.parts[key] for key in self.parts if key[1] == name) for name in names}

    @property
    def total(self) -> Score:
        """The score of everything."""
        return total(self.parts.values())


def total(scores: Iterable[Score]) -> Score:
    """Add scores."""
    return Score(*map(sum, zip(*scores, Score(), strict=True)))


def recorded(source: str, stored: bytes) -> Recording:
    """Read a stored history from a source. Raises `HistoryError` if it is not a history."""
    stored_returns = {each.key: each for each in returns(stored)}
    placed = events(stored)
    happened = [place.event for place in placed]
    novel = [reference for reference in references(happened) if reference.novel]
    responses = [event for event in happened if isinstance(event, Response)]
    texts = [(*event.texts, *(searched(call.arguments) for call in event.calls)) for event in responses]
    written = "\n".join(text for each in texts for text in each)
    last = max((number for number, event in enumerate(happened) if isinstance(event, Response)), default=-1)
    first = takewhile(lambda event: isinstance(event, Prompt), happened)
    prompts = [event.text for event in first if isinstance(event, Prompt)]
    digest = _hash(stored)
    task = (source, _hash("\n".join(prompts).encode("utf-8", "replace")) if prompts else digest)
    recorded_returns: list[RecordedReturn] = []
    for number, (event, key) in enumerate(placed):
        if isinstance(event, Returned):
            values = {each.value: 1 / len(each.sources) for each in novel if len(recorded_returns) in each.sources}
            returned = RecordedReturn(
                tool=stored_returns[key].tool,
                content=event.content,
                chars=size(event.content),
                used=frozenset(values),
                weight=sum(values.values()) / max(1, len(values)),
                task=task,
                is_fixed=bool(stored_returns[key].untouched),
                is_followed=number < last,
                written=written,
            )
            recorded_returns.append(returned)
    return Recording(task, digest, tuple(recorded_returns), tuple((one.value, one.sources) for one in novel))


def evidence(histories: Iterable[Recording], tool: str | None = None) -> list[RecordedReturn]:
    """Return the returns, of one tool or of all, that rules can change and that the agent wrote something after."""
    every = (each for history in histories for each in history.returns)
    return [each for each in every if not each.is_fixed and each.is_followed and tool in (None, each.tool)]


def split(histories: Sequence[Recording], holdout: float) -> tuple[list[Recording], list[Recording]]:
    """Split histories into a training half and a held-out half, which gets the share `holdout` of each source's tasks.

    All histories of a task are in the same half. The hash of a task decides, so adding histories changes little.
    """
    tasks = _tasks(histories)
    # If all histories of a source start with the same prompt (`Hello`), each history is a task.
    distinct = [each if len(tasks[each.task[0]]) > 1 else _as_own_task(each) for each in histories]
    distinct.sort(key=lambda each: (each.task, each.digest))
    held = {task for own in _tasks(distinct).values() for task in own[: round(len(own) * holdout)]}
    return [each for each in distinct if each.task not in held], [each for each in distinct if each.task in held]


def folds(histories: Iterable[Recording], count: int) -> dict[Task, int]:
    """Assign each task to one of `count` folds, the tasks of each source evenly."""
    return {task: number % count for own in _tasks(histories).values() for number, task in enumerate(own)}


def scored(histories: Iterable[Recording], effect: Callable[[RecordedReturn], Effect]) -> Scores:
    """Score the effect of rules on the tool returns of histories."""
    parts: dict[tuple[str, str], list[Score]] = defaultdict(list)
    for history in histories:
        source, recorded_returns = history.task[0], history.returns
        effects = [Effect(each.chars) if each.is_fixed else effect(each) for each in recorded_returns]
        for each, left in zip(recorded_returns, effects, strict=True):
            parts[source, each.tool].append(Score(1, each.chars, left.chars))
        for value, places in history.references:
            is_kept = any(value not in effects[place].lost for place in places)
            tool = recorded_returns[places[0]].tool
            parts[source, tool].append(Score(references=1, kept=int(is_kept)))
    return Scores({key: total(parts[key]) for key in sorted(parts)})


def _tasks(histories: Iterable[Recording]) -> dict[str, list[Task]]:
    """Return the tasks of each source, sorted by their hashes."""
    tasks: dict[str, list[Task]] = defaultdict(list)
    for task in sorted({one.task for one in histories}):
        tasks[task[0]].append(task)
    return tasks


def _as_own_task(history: Recording) -> Recording:
    task = (history.task[0], history.digest)
    return replace(history, task=task, returns=tuple(replace(one, task=task) for one in history.returns))


def _hash(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()
