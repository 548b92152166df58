"""Measure what rules cost the agent, from what it did later in recorded histories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import reduce
from itertools import islice
from pathlib import PurePath
from typing import Any, NamedTuple

from reducer.analysis.costs import Cost, cost
from reducer.analysis.texts import entities, opened
from reducer.engine import Outcome, StepRun
from reducer.entities.entity import Entity, Scan
from reducer.histories.stored import InputFormat, Key, Placed, Return, events
from reducer.paths.written import path_text
from reducer.plan.nodes import keys_of
from reducer.references import Event, Reference, Returned, references, searched, searcher
from reducer.rules import Rule

MAX_LISTED = 1000
"""Lost references and lost entities that are listed; further ones are only counted."""


class LostReference(NamedTuple):
    """A value that the agent used although the rules would have removed it.

    - `found` is the call id of the return of `tool` that contained the value, at `path`.
    - `used` is the message that used it, counted from 0.
    - `kind` is `text` or `arguments` (of a tool call).
    - `step` is the step that removed it, such as `lookup.yaml:4 limit rows`.
    """

    history: str
    value: str
    tool: str
    found: str
    path: str
    used: int
    kind: str
    step: str


class LostEntity(NamedTuple):
    """An entity that a return no longer contains, with the same fields as `LostReference`."""

    history: str
    type: str
    value: str
    tool: str
    found: str
    step: str


class Recall(NamedTuple):
    """The number of entities of a type in the original returns and in the reduced ones, counted once per return."""

    total: int
    kept: int


class Reduced(NamedTuple):
    """A tool return, the outcome of its rule, and its content without what earlier returns show."""

    found: Return
    outcome: Outcome
    content: Any


class Measures(NamedTuple):
    """What rules cost in one or more histories. Each list has at most `MAX_LISTED` entries.

    - `references` counts the novel references, and `kept` those that the agent would still have seen if the rules had
      run while it worked.
    - `entities` compares the reduced returns with the original ones, by type.
    - `recorded` and `reduced` are the cost of the requests before and after reduction.
    """

    references: int = 0
    kept: int = 0
    lost_references: tuple[LostReference, ...] = ()
    entities: Mapping[str, Recall] = {}
    lost_entities: tuple[LostEntity, ...] = ()
    recorded: Cost = Cost()
    reduced: Cost = Cost()

    @property
    def recall(self) -> Recall:
        """The numbers of entities of all types."""
        return reduce(added, self.entities.values(), Recall(0, 0))


def measure(history: str, data: bytes, reduced: Mapping[Key, Reduced], input_format: InputFormat = "auto") -> Measures:
    """Measure what rules cost in a stored history. `reduced` maps the places of tool returns to their outcomes."""
    placed = events(data, input_format)
    happened = [event for event, _ in placed]
    returns = [reduced.get(key) for event, key in placed if isinstance(event, Returned)]
    originals = [entry and entry.found.content for entry in returns]
    results = [entry and entry.content for entry in returns]
    used = used_values(happened)
    lost = lost_references(used, originals, results)
    measures = Measures(
        references=len(used.references),
        kept=len(used.references) - len(lost),
        lost_references=tuple(_located(history, placed, returns, lost)),
        recorded=cost(happened, originals),
        reduced=cost(happened, results),
    )
    for entry in filter(None, returns):
        found = entry.found
        recalls, gone = lost_entities(found.tool, found.content, entry.outcome, history=history, found=found.name)
        measures = added(measures, Measures(entities=recalls, lost_entities=gone))
    return measures


def added(one: Any, other: Any) -> Any:
    """Add two records of different histories: numbers, lists of at most `MAX_LISTED` entries, maps and records."""
    if isinstance(one, dict):
        both = one | other
        for key in one.keys() & other.keys():
            both[key] = added(one[key], other[key])
        return dict(sorted(both.items()))
    if hasattr(one, "_fields"):
        return type(one)(*map(added, one, other))
    return (one + other)[:MAX_LISTED] if isinstance(one, tuple) else one + other


# --- what was lost


class Used(NamedTuple):
    """The novel references of a history; `find` returns those of their values that a content contains."""

    references: Sequence[Reference]
    find: Callable[[Any], Set[str]]


def used_values(happened: Sequence[Event]) -> Used:
    """Return the references whose values only tool returns contain."""
    novel = [reference for reference in references(happened) if reference.novel]
    return Used(novel, finder(reference.value for reference in novel))


def finder(values: Iterable[str]) -> Callable[[Any], Set[str]]:
    """Return a function that returns those of the values that a content contains."""
    search = searcher(values)
    return lambda content: search(searched(content))


def lost_references(
    used: Used, old: Sequence[Any], new: Sequence[Any], cleared: Sequence[float] = ()
) -> list[Reference]:
    """Return the references whose value no return contains any more when the agent uses it.

    `old` and `new` are the contents of the returns, and `cleared` contains the number of the event that clears each.
    """
    left = [None if content is before else used.find(content) for before, content in zip(old, new, strict=True)]
    lost = []
    for reference in used.references:
        for source in reference.sources:
            is_there = not cleared or reference.event < cleared[source]
            values = left[source]
            if is_there and (values is None or reference.value in values):
                break
        else:
            lost.append(reference)
    return lost


def _located(
    history: str, placed: Sequence[Placed], returns: Sequence[Reduced | None], lost: Iterable[Reference]
) -> Iterator[LostReference]:
    """Yield the first lost references with the places of their values and the steps that removed them."""
    by_source: dict[int, list[Reference]] = {}
    for reference in islice(lost, MAX_LISTED):
        by_source.setdefault(reference.sources[0], []).append(reference)
    for source, gone in by_source.items():
        entry = returns[source]
        assert entry is not None
        steps = removing_steps(entry.outcome, [reference.value for reference in gone])
        content = opened(entry.found.content)
        for reference in gone:
            yield LostReference(
                history=history,
                value=reference.shown,
                tool=entry.found.tool,
                found=entry.found.name,
                path=path_text(_place(content, finder([reference.value]))),
                used=placed[reference.event].key.message,
                kind=reference.kind,
                step=steps[reference.value],
            )


def removing_steps(outcome: Outcome, values: Sequence[str]) -> dict[str, str]:
    """Map values to the name of the step that removed their last occurrence, or to an empty text if several did."""
    runs = removed_by(outcome, values, finder(values))
    return {value: step_label(outcome.rule, runs.get(value)) for value in values}


def removed_by(outcome: Outcome, values: Iterable[str], find: Callable[[Any], Set[str]]) -> dict[str, StepRun]:
    """Map values to the step that removed their last occurrence; a value that no single step removed is missing.

    `find` returns those of the values that a content contains.
    """
    runs: dict[str, StepRun] = {}
    remaining = set(values)
    for run in outcome.steps:
        if remaining and run.changed:
            gone = remaining - find(outcome.left_after(run.number))
            runs.update(dict.fromkeys(gone, run))
            remaining -= gone
    return runs


def step_label(rule: Rule | None, run: StepRun | None) -> str:
    """Return the name of a step with its file and line, such as `lookup.yaml:4 limit rows`, or an empty text."""
    if rule is None or run is None:
        return ""
    line = f":{run.line}" if run.line else ""
    return f"{PurePath(rule.file).name}{line} {run.name}"


def _place(value: Any, find: Callable[[Any], Set[str]]) -> tuple[str | int, ...]:
    """Return the path to the first key or text in which something is found."""
    for key in keys_of(value) if isinstance(value, (dict, list)) else ():
        if isinstance(key, str) and find(key):
            return (key,)
        if find(value[key]):
            return (key, *_place(value[key], find))
    return ()


def missing(content: Any, result: Any, scan: Scan) -> list[Entity]:
    """Return the entities of a content that its result neither contains as entities nor as they are written."""
    found = entities(opened(content), scan)
    left = entities(opened(result), scan)
    written = finder(entity.value for entity in found.values())(result)
    return [entity for key, entity in found.items() if key not in left and entity.value not in written]


def lost_entities(
    tool: str, content: Any, outcome: Outcome, history: str = "", found: str = ""
) -> tuple[dict[str, Recall], tuple[LostEntity, ...]]:
    """Compare the entities of a content before and after reduction, by type and canonical value."""
    if outcome.rule is None or outcome.content is content:
        return {}, ()
    scan = outcome.rule.vocabulary.everything()
    after = entities(opened(outcome.content), scan)
    gone: list[Entity] = []
    total, kept = Counter[str](), Counter[str]()
    for key, entity in entities(opened(content), scan).items():
        total[entity.type] += 1
        kept[entity.type] += key in after
        if key not in after:
            gone.append(entity)
    steps = removing_steps(outcome, [entity.value for entity in gone])
    lost = []
    for entity in gone:
        lost.append(LostEntity(history, entity.type, entity.value, tool, found=found, step=steps[entity.value]))
    return {kind: Recall(total[kind], kept[kind]) for kind in sorted(total)}, tuple(lost)
