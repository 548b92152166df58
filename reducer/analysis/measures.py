"""What rules cost, measured on recorded histories: what the agent did afterwards is the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from reducer.analysis.losses import (
    LostEntity,
    LostReference,
    Recall,
    Reduced,
    Repeat,
    Timeline,
    lost_entities,
    lost_references,
    repeats,
)
from reducer.analysis.prices import NOTHING, Cost, add_costs, cost
from reducer.analysis.steps import characters
from reducer.histories.stored import InputFormat, Key, events
from reducer.references import Event, Prompt, Response, Returned

MAX_LISTED = 1000
"""Lost references, lost entities and repeated calls that are listed; all are counted."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What rules cost in one history or several.

    `references` counts the novel references, `kept` those that the agent would have seen if the rules had run while it
    worked. `entities` compares reduced returns by type. `recorded` and `reduced` are the cost of the requests. The
    lists have at most `MAX_LISTED` entries; `repeats` counts the calls that were made `again`.
    """

    references: int = 0
    kept: int = 0
    lost_references: tuple[LostReference, ...] = ()
    entities: Mapping[str, Recall] = field(default_factory=dict)
    lost_entities: tuple[LostEntity, ...] = ()
    recorded: Cost = NOTHING
    reduced: Cost = NOTHING
    repeats: int = 0
    again: tuple[Repeat, ...] = ()

    @property
    def retention(self) -> float | None:
        """The share of the references that were kept; None if there are none."""
        return self.kept / self.references if self.references else None


def measure(history: str, data: bytes, reduced: Mapping[Key, Reduced], input_format: InputFormat = "auto") -> Measures:
    """Measure what rules cost in a stored history whose tool returns are `reduced`, by their places."""
    placed = events(data, input_format)
    happened = [place.event for place in placed]
    returns = [reduced.get(place.key) for place in placed if isinstance(place.event, Returned)]
    timeline = Timeline(history, happened, [place.key[0] for place in placed], returns)
    count, lost = lost_references(timeline)
    entities, gone = lost_entities(timeline)
    again = repeats(timeline)
    return Measures(
        references=count,
        kept=count - len(lost),
        lost_references=lost[:MAX_LISTED],
        entities=entities,
        lost_entities=gone[:MAX_LISTED],
        recorded=cost(requests(happened, [entry and entry.content for entry in returns])),
        reduced=cost(requests(happened, [entry and entry.left for entry in returns])),
        repeats=len(again),
        again=again[:MAX_LISTED],
    )


def add(measures: Iterable[Measures]) -> Measures:
    """Sum up the measures of several histories."""
    every = tuple(measures)
    kinds = sorted({kind for one in every for kind in one.entities})
    found = {kind: [one.entities[kind] for one in every if kind in one.entities] for kind in kinds}
    return Measures(
        references=sum(one.references for one in every),
        kept=sum(one.kept for one in every),
        lost_references=tuple(chain.from_iterable(one.lost_references for one in every))[:MAX_LISTED],
        entities={kind: Recall(*map(sum, zip(*recalls, strict=True))) for kind, recalls in found.items()},
        lost_entities=tuple(chain.from_iterable(one.lost_entities for one in every))[:MAX_LISTED],
        recorded=add_costs(one.recorded for one in every),
        reduced=add_costs(one.reduced for one in every),
        repeats=sum(one.repeats for one in every),
        again=tuple(chain.from_iterable(one.again for one in every))[:MAX_LISTED],
    )


def requests(happened: Sequence[Event], contents: Iterable[Any]) -> Iterator[tuple[int, int]]:
    """Yield the characters of each request, and those of the one before, with all of which it begins.

    `contents` are those of the tool returns.
    """
    returned = iter(contents)
    last = total = 0
    for event in happened:
        if isinstance(event, Response):
            yield total, last
            last = total
        total += event_size(event, returned)


def event_size(event: Event, returned: Iterator[Any]) -> int:
    """Count the characters of an event, with the next of the contents `returned` for a tool return."""
    if isinstance(event, Response):  # what the agent wrote is sent back with the next request
        return sum(map(len, event.texts)) + sum(size(call.arguments) for call in event.calls)
    return len(event.text) if isinstance(event, Prompt) else size(next(returned))


def size(value: Any) -> int:
    """Count the characters that a content is sent as; 0 for none, and for one without a JSON form."""
    return 0 if value is None else characters(value)
