"""Measure what rules cost the agent, from what it did later in recorded histories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from pathlib import PurePath
from typing import Any, NamedTuple

from reducer.analysis.prices import Cost
from reducer.analysis.texts import characters, entities, opened
from reducer.engine import Outcome
from reducer.histories.stored import InputFormat, Key, Placed, Return, events
from reducer.paths.written import path_text
from reducer.plan.nodes import keys_of
from reducer.references import Event, Prompt, Reference, Response, Returned, references, searched, searcher
from reducer.rules import Rule, Step

CLEARED = "[cleared]"
"""Replaces the content of a return that was cleared."""
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
    """A tool return and the outcome of its rule."""

    found: Return
    outcome: Outcome


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
        return total_of(self.entities)


def total_of(recalls: Mapping[str, Recall]) -> Recall:
    """Return the numbers of entities of all types."""
    total = Recall(0, 0)
    for found in recalls.values():
        total = added(total, found)
    return total


def measure(history: str, data: bytes, reduced: Mapping[Key, Reduced], input_format: InputFormat = "auto") -> Measures:
    """Measure what rules cost in a stored history. `reduced` maps the places of tool returns to their outcomes."""
    placed = events(data, input_format)
    happened, returns = list[Event](), list[Reduced | None]()
    originals, results = list[Any](), list[Any]()
    for event, key in placed:
        happened.append(event)
        if isinstance(event, Returned):
            entry = reduced.get(key)
            returns.append(entry)
            originals.append(entry and entry.found.content)
            results.append(entry and entry.outcome.content)
    novel = novel_references(happened)
    lost = lost_references(novel, originals, results, searcher({reference.value for reference in novel}))
    measures = Measures(
        references=len(novel),
        kept=len(novel) - len(lost),
        lost_references=tuple(_located(history, placed, returns, lost)),
        recorded=cost(happened, originals),
        reduced=cost(happened, results),
    )
    for entry in filter(None, returns):
        recalls, gone = lost_entities(entry.found.tool, entry.found.content, entry.outcome)
        listed = tuple(one._replace(history=history, found=entry.found.name) for one in gone)
        measures = added(measures, Measures(entities=recalls, lost_entities=listed))
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


def novel_references(happened: Sequence[Event]) -> list[Reference]:
    """Return the references whose values only tool returns contain."""
    return [reference for reference in references(happened) if reference.novel]


def lost_references(
    novel: Sequence[Reference],
    old: Sequence[Any],
    new: Sequence[Any],
    search: Callable[[str], Set[str]],
    cleared: Sequence[float] = (),
) -> list[Reference]:
    """Return the references whose value no return contains any more when the agent uses it.

    `old` and `new` are the contents of the returns, `search` finds the values of the references in a text, and
    `cleared` contains the number of the event that clears each return.
    """
    left = [None if content is before else search(searched(content)) for before, content in zip(old, new, strict=True)]
    lost = []
    for reference in novel:
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
        steps = _removed_by(entry.outcome, [reference.value for reference in gone])
        content = opened(entry.found.content)
        for reference in gone:
            yield LostReference(
                history=history,
                value=reference.shown,
                tool=entry.found.tool,
                found=entry.found.name,
                path=path_text(_place(content, searcher([reference.value]))),
                used=placed[reference.event].key.message,
                kind=reference.kind,
                step=steps[reference.value],
            )


def _removed_by(outcome: Outcome, values: Iterable[str]) -> dict[str, str]:
    """Map each value to the step that removed its last occurrence, or to an empty text if no single step did."""
    steps = dict.fromkeys(values, "")
    remaining, search = set(steps), searcher(steps)
    for run in outcome.steps:
        if remaining and run.changed:
            gone = remaining - search(searched(outcome.left_after(run.number)))
            steps.update(dict.fromkeys(gone, step_label(outcome.rule, run.step)))
            remaining -= gone
    return steps


def step_label(rule: Rule | None, step: Step | None) -> str:
    """Return the name of a step with its file and line, such as `lookup.yaml:4 limit rows`."""
    file = PurePath(rule.file).name if rule else ""
    return f"{file}:{step.location.line} {step.name}" if step else f"{file} max_chars"


def _place(value: Any, search: Callable[[str], set[str]]) -> tuple[str | int, ...]:
    """Return the path to the first key or text in which a search finds something."""
    for key in keys_of(value) if isinstance(value, (dict, list)) else ():
        if isinstance(key, str) and search(key):
            return (key,)
        if search(searched(value[key])):
            return (key, *_place(value[key], search))
    return ()


def lost_entities(tool: str, content: Any, outcome: Outcome) -> tuple[dict[str, Recall], list[LostEntity]]:
    """Compare the entities of a content before and after reduction, by type and canonical value."""
    if outcome.rule is None or outcome.content is content:
        return {}, []
    scan = outcome.rule.vocabulary.everything()
    before = entities(opened(content), scan)
    after = entities(opened(outcome.content), scan)
    gone = [entity for key, entity in before.items() if key not in after]
    steps = _removed_by(outcome, [entity.value for entity in gone])
    total, kept = Counter[str](), Counter[str]()
    for key, entity in before.items():
        total[entity.type] += 1
        kept[entity.type] += key in after
    lost = [LostEntity("", one.type, one.value, tool, found="", step=steps[one.value]) for one in gone]
    return {kind: Recall(total[kind], kept[kind]) for kind in sorted(total)}, lost


# --- what the requests send


def cost(happened: Sequence[Event], contents: Iterable[Any], cleared: Iterable[float] = ()) -> Cost:
    """Return the cost of the requests of a history with the given contents of its tool returns.

    Each request sends everything before its response. `cleared` contains, for each return, the number of the event
    from which `CLEARED` replaces it.
    """
    places = [number for number, event in enumerate(happened) if isinstance(event, Returned)]
    clears: dict[float, list[int]] = {}
    for place, start in zip(places, cleared, strict=False):
        clears.setdefault(start, []).append(place)
    returned = iter(contents)
    sizes: list[int] = []
    requests = new = again = changes = last = total = 0
    for number, event in enumerate(happened):
        if isinstance(event, Response):
            same = last
            for place in clears.get(number, ()):
                same = min(same, sum(sizes[:place]))
                total += len(CLEARED) - sizes[place]
                sizes[place] = len(CLEARED)
            requests += 1
            new += total - same
            again += same
            changes += same < last
            last = total
        sizes.append(_event_size(event, returned))
        total += sizes[-1]
    return Cost(requests, new, again, changes)


def _event_size(event: Event, returned: Iterator[Any]) -> int:
    """Count the characters of an event. The content of a tool return is the next one in `returned`."""
    if isinstance(event, Response):  # the next request sends it back
        return sum(map(len, event.texts)) + sum(size(call.arguments) for call in event.calls)
    return len(event.text) if isinstance(event, Prompt) else size(next(returned))


def size(value: Any) -> int:
    """Count the characters of a content, with 0 for None and for a content that cannot be counted."""
    return 0 if value is None else characters(value)
