"""Rules and baselines side by side: what each saves and what it costs, on the same histories."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reducer.analysis.baselines import CLEARED, Contender
from reducer.analysis.measures import requests, size, sizes
from reducer.analysis.prices import NOTHING, Cost, add_costs, cost
from reducer.analysis.texts import entities, opened
from reducer.entities import TYPES, scanner
from reducer.histories.stored import events, returns
from reducer.references import Event, Reference, Response, Returned, references, searched, searcher


class Score(NamedTuple):
    """How one contender does: characters of returns, references and entities, before and after, and costs."""

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
        """The share of the characters of the returns that was saved."""
        return (self.before - self.after) / self.before if self.before else 0.0

    @property
    def retention(self) -> float | None:
        """The share of the references that was kept."""
        return self.references_kept / self.references if self.references else None

    @property
    def recall(self) -> float | None:
        """The share of the entities that was kept."""
        return self.entities_kept / self.entities if self.entities else None


def add_scores(scores: Sequence[Score]) -> Score:
    """Sum up the scores of one contender on several histories."""
    before, after, every, kept, entities, entities_kept = map(
        sum, zip(*(score[:6] for score in (Score(), *scores)), strict=True)
    )
    costs = add_costs(score.cost for score in scores), add_costs(score.recorded for score in scores)
    return Score(before, after, every, kept, entities, entities_kept, *costs)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A history as it was recorded: its events, and for each tool return its content and size.

    `tools` has None for returns that rules never apply to, `entities` the entities of each content, and `requests` how
    many requests were sent before it.
    """

    events: Sequence[Event]
    contents: Sequence[Any]
    tools: Sequence[str | None]
    sizes: Sequence[int]
    entities: Sequence[frozenset[tuple[str, str]]]
    requests: Sequence[int]
    novel: Sequence[Reference]


def compare(data: bytes, contenders: Sequence[Contender]) -> list[Score]:
    """Score each contender on one stored history; none changes returns that rules never apply to.

    Raises `HistoryError`.
    """
    tools = {found.key: found.tool for found in returns(data) if not found.untouched}
    placed = events(data)
    happened = [place.event for place in placed]
    contents = [event.content for event in happened if isinstance(event, Returned)]
    recorded = _Recorded(
        events=happened,
        contents=contents,
        tools=[tools.get(place.key) for place in placed if isinstance(place.event, Returned)],
        sizes=[size(content) for content in contents],
        entities=[_entities(content) for content in contents],
        requests=list(_requests_before(happened)),
        novel=[reference for reference in references(happened) if reference.novel],
    )
    return [_score(one, recorded) for one in contenders]


def _requests_before(happened: Sequence[Event]) -> Iterator[int]:
    count = 0
    for event in happened:
        if isinstance(event, Response):
            count += 1
        elif isinstance(event, Returned):
            yield count


def _entities(content: Any) -> frozenset[tuple[str, str]]:
    return frozenset(entities(opened(content), scanner(frozenset(TYPES))))


def _score(one: Contender, recorded: _Recorded) -> Score:
    left = list(_left(one, recorded))
    shown = _shown(one, recorded)
    texts = [searched(new) for new in left]
    answers = [number for number, event in enumerate(recorded.events) if isinstance(event, Response)]
    asked = {number: request for request, number in enumerate(answers, 1)}
    end = len(answers) + 1
    kept = sum(
        any(
            shown(source, asked[reference.event]) and bool(searcher([reference.value])(texts[source]))
            for source in reference.sources
        )
        for reference in recorded.novel
    )
    entities_kept = sum(
        len(found if new is content else found & _entities(new))
        for source, (found, new, content) in enumerate(zip(recorded.entities, left, recorded.contents, strict=True))
        if shown(source, end)
    )
    sent = requests(recorded.events, left) if one.last is None else _clearing(recorded.events, left, shown)
    return Score(
        before=sum(recorded.sizes),
        after=sum(size(new) if shown(source, end) else len(CLEARED) for source, new in enumerate(left)),
        references=len(recorded.novel),
        references_kept=kept,
        entities=sum(map(len, recorded.entities)),
        entities_kept=entities_kept,
        cost=cost(sent),
        recorded=cost(requests(recorded.events, recorded.contents)),
    )


def _left(one: Contender, recorded: _Recorded) -> Iterator[Any]:
    """Yield what is left of each return: the content itself if it would get longer."""
    for tool, content, length in zip(recorded.tools, recorded.contents, recorded.sizes, strict=True):
        new = content if tool is None else one.left(tool, content)
        yield new if size(new) <= length else content


def _shown(one: Contender, recorded: _Recorded) -> Callable[[int, int], bool]:
    """Return the function that tells whether a return is sent in full with a request; requests count from 1."""
    last = one.last
    if last is None:
        return lambda source, request: True
    # Requests that bring no returns do not clear others.
    bringing = sorted(set(recorded.requests))
    rounds = {request: number for number, request in enumerate(bringing)}

    def shown(source: int, request: int) -> bool:
        is_recent = rounds[recorded.requests[source]] >= bisect_left(bringing, request) - last
        return is_recent or recorded.sizes[source] <= len(CLEARED)

    return shown


def _clearing(
    happened: Sequence[Event], left: Sequence[Any], shown: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Yield the characters of each request, and those it begins with as the one before, if returns are cleared."""
    things: list[tuple[int, int | None]] = []  # its characters, and which return it is
    sent: list[int] = []
    request = number = 0
    for one in sizes(happened, left):
        if one is not None:
            is_return = isinstance(happened[len(things)], Returned)
            things.append((one, number if is_return else None))
            number += is_return
            continue
        request += 1
        now = [one if source is None or shown(source, request) else len(CLEARED) for one, source in things]
        same = next((place for place, (old, new) in enumerate(zip(sent, now, strict=False)) if old != new), len(sent))
        yield sum(now), sum(now[:same])
        sent = now
