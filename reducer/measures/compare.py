"""Rules and blunt baselines side by side: what each saves, what it costs, on the same histories."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reducer.engine import reduce_content
from reducer.measures import requests, size, sizes
from reducer.measures.baselines import CLEARED, Baseline
from reducer.measures.cost import NOTHING, Cost, add_costs, cost
from reducer.measures.recall import entities_of
from reducer.reading import loads
from reducer.references import Event, Reference, Returned, Written, references, searched, searcher
from reducer.rule import Ruleset
from reducer.stored import returns
from reducer.stored.events import events, keyed

Left = Callable[[str, Any], Any]


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to shorten returns: `left(tool, content)` gives what it leaves; `last` is how many requests send the returns they bring."""

    name: str
    left: Left
    last: int | None = None
    rules: bool = False


def of_rules(name: str, ruleset: Ruleset) -> Contender:
    """Make a contender of rules."""
    return Contender(name, lambda tool, content: reduce_content(ruleset, tool, content), rules=True)


def of_baseline(one: Baseline) -> Contender:
    """Make a contender of a baseline."""
    return Contender(one.name, lambda tool, content: one.left(content), one.last)


class Score(NamedTuple):
    """How one contender does: characters of the returns before and after, references and entities that there were and that were kept,
    its cost and that of what was recorded."""

    before: int = 0
    after: int = 0
    references: int = 0
    references_kept: int = 0
    entities: int = 0
    entities_kept: int = 0
    cost: Cost = NOTHING
    recorded: Cost = NOTHING

    @property
    def saved(self) -> float:
        """Give the share of the characters of the returns that was saved."""
        return (self.before - self.after) / self.before if self.before else 0.0

    @property
    def retention(self) -> float | None:
        """Give the share of the references that was kept."""
        return self.references_kept / self.references if self.references else None

    @property
    def recall(self) -> float | None:
        """Give the share of the entities that was kept."""
        return self.entities_kept / self.entities if self.entities else None


def add_scores(scores: Sequence[Score]) -> Score:
    """Sum up the scores of one contender on several histories."""
    before, after, all_references, kept, entities, entities_kept = map(sum, zip(*(score[:6] for score in (Score(), *scores)), strict=True))
    return Score(
        before, after, all_references, kept, entities, entities_kept, add_costs(score.cost for score in scores), add_costs(score.recorded for score in scores)
    )


def compare(data: bytes, contenders: Sequence[Contender]) -> list[Score]:
    """Score each contender on one stored history; returns that rules never apply to stay with all of them. Raises `HistoryError`."""
    tools = {key: found.tool for key, found in keyed(returns(data)) if not found.untouched}
    try:
        placed = list(events(loads(data)))
    except (ValueError, RecursionError):
        placed = []
    happened = [place.event for place in placed]
    of_return = [tools.get(place.key) for place in placed if isinstance(place.event, Returned)]
    contents = [event.content for event in happened if isinstance(event, Returned)]
    novel = [reference for reference in references(happened) if reference.novel]
    scan = entities_of()
    found = [scan(content) for content in contents]
    brought = list(_brought(happened))
    return [_score(one, happened, contents, of_return, novel, found, scan, brought) for one in contenders]


def _brought(happened: Sequence[Event]) -> Iterator[int]:
    """Give for each tool return how many requests were sent before it."""
    count = 0
    for event in happened:
        if isinstance(event, Written):
            count += 1
        elif isinstance(event, Returned):
            yield count


def _score(
    one: Contender,
    happened: Sequence[Event],
    contents: Sequence[Any],
    tools: Sequence[str | None],
    novel: Sequence[Reference],
    found: Sequence[frozenset[tuple[str, str]]],
    scan: Callable[[Any], frozenset[tuple[str, str]]],
    brought: Sequence[int],
) -> Score:
    left = [content if tool is None else one.left(tool, content) for tool, content in zip(tools, contents, strict=True)]
    lengths = [size(content) for content in contents]
    # What would get longer stays.
    left = [new if size(new) <= old else content for new, old, content in zip(left, lengths, contents, strict=True)]
    shown = _shown(one, brought, lengths)
    texts = [searched(new) for new in left]
    answers = [number for number, event in enumerate(happened) if isinstance(event, Written)]
    asked = {number: request for request, number in enumerate(answers, 1)}
    end = len(answers) + 1
    kept = sum(
        any(shown(source, asked[reference.event]) and bool(searcher([reference.value])(texts[source])) for source in reference.sources) for reference in novel
    )
    entities_kept = sum(
        len(entities & (entities if new is content else scan(new)) if shown(source, end) else frozenset())
        for source, (entities, new, content) in enumerate(zip(found, left, contents, strict=True))
    )
    after = sum(size(new) if shown(source, end) else len(CLEARED) for source, new in enumerate(left))
    spent = cost(requests(happened, left)) if one.last is None else cost(_clearing(happened, left, shown))
    return Score(sum(lengths), after, len(novel), kept, sum(map(len, found)), entities_kept, spent, cost(requests(happened, contents)))


def _shown(one: Contender, brought: Sequence[int], lengths: Sequence[int]) -> Callable[[int, int], bool]:
    """Give the function that tells whether a return is sent in full with a request, the first being 1."""
    last = one.last
    if last is None:
        return lambda source, request: True
    # Requests that bring no returns do not push others out.
    bringing = sorted(set(brought))
    rounds = {request: number for number, request in enumerate(bringing)}

    def shown(source: int, request: int) -> bool:
        return rounds[brought[source]] >= bisect_left(bringing, request) - last or lengths[source] <= len(CLEARED)

    return shown


def _clearing(happened: Sequence[Event], left: Sequence[Any], shown: Callable[[int, int], bool]) -> Iterator[tuple[int, int]]:
    """Give of each request its characters, and how many of them the one before began with, when returns are cleared later on."""
    things: list[tuple[int, int | None]] = []  # its characters, and which return it is
    sent: list[int] = []
    request = number = 0
    for one in sizes(happened, left):
        if one is not None:
            returned = isinstance(happened[len(things)], Returned)
            things.append((one, number if returned else None))
            number += returned
            continue
        request += 1
        now = [one if source is None or shown(source, request) else len(CLEARED) for one, source in things]
        same = next((place for place, (old, new) in enumerate(zip(sent, now, strict=False)) if old != new), len(sent))
        yield sum(now), sum(now[:same])
        sent = now
