"""What rules cost: measured on recorded histories, with what the agent did afterwards as the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reducer.engine import Outcome
from reducer.measures.asked_again import AskedAgain, asked_again
from reducer.measures.cost import NOTHING, Cost, add_costs, cost
from reducer.measures.recall import LostEntity, Recall, recall
from reducer.measures.retention import LostReference, Retention, retention
from reducer.reading import loads
from reducer.references import Event, Returned, Said, Written
from reducer.stored import Key
from reducer.stored.events import events
from reducer.values import Unreducible, chars

__all__ = ["AskedAgain", "Cost", "LostEntity", "LostReference", "Measures", "Reduced", "add", "measure"]

MOST_TOLD = 1000
"""Lost references, lost entities and repeated calls that are listed; all are counted."""


class Reduced(NamedTuple):
    """One tool return of a history and what its rule made of it: `name` is its call id, `outcome` None where rules never apply."""

    name: str
    tool: str
    content: Any
    outcome: Outcome | None

    @property
    def left(self) -> Any:
        """Give the content as the rule leaves it."""
        return self.content if self.outcome is None else self.outcome.content


@dataclass(frozen=True, slots=True)
class Measures:
    """What rules cost in one history or several.

    `references` and `kept`: the novel references, and how many of them the agent would have seen had the rules run while it worked;
    `entities`: of each type how many stood in the returns that were reduced and how many still do; `recorded` and `reduced`: what the
    requests cost.
    `lost_references`, `lost_entities` and `again` list at most `MOST_TOLD` each. `repeats` counts the calls that were made again.
    """

    references: int = 0
    kept: int = 0
    lost_references: tuple[LostReference, ...] = ()
    entities: Mapping[str, Recall] = field(default_factory=dict)
    lost_entities: tuple[LostEntity, ...] = ()
    recorded: Cost = NOTHING
    reduced: Cost = NOTHING
    repeats: int = 0
    again: tuple[AskedAgain, ...] = ()

    @property
    def retention(self) -> float | None:
        """Give the share of the references that were kept; None where there are none."""
        return self.kept / self.references if self.references else None


def measure(history: str, data: bytes, reduced: Mapping[Key, Reduced]) -> Measures:
    """Measure what rules cost in a stored history: `reduced` has its tool returns by their places; others count as they are."""
    try:
        messages = loads(data)
    except (ValueError, RecursionError):
        return Measures()  # too deep: what cannot be read as a whole is not measured
    placed = list(events(messages))
    happened = [place.event for place in placed]
    where = [place.message for place in placed]
    returns = [reduced.get(place.key) for place in placed if isinstance(place.event, Returned)]
    found: Retention = retention(history, happened, where, returns)
    entities, lost_entities = recall(history, [entry for entry in returns if entry is not None])
    again = asked_again(history, happened, where, returns)
    return Measures(
        found.references, found.kept, found.lost[:MOST_TOLD], entities, lost_entities[:MOST_TOLD],
        cost(requests(happened, [entry and entry.content for entry in returns])), cost(requests(happened, [entry and entry.left for entry in returns])),
        len(again), again[:MOST_TOLD],
    )  # fmt: skip


def add(measures: Iterable[Measures]) -> Measures:
    """Sum up what was measured of several histories."""
    references = kept = repeats = 0
    lost: list[LostReference] = []
    entities: dict[str, Recall] = {}
    gone: list[LostEntity] = []
    again: list[AskedAgain] = []
    recorded, reduced = [], []
    for one in measures:
        references += one.references
        kept += one.kept
        repeats += one.repeats
        lost += one.lost_references[: MOST_TOLD - len(lost)]
        gone += one.lost_entities[: MOST_TOLD - len(gone)]
        again += one.again[: MOST_TOLD - len(again)]
        for type, found in one.entities.items():
            before = entities.get(type, Recall(0, 0))
            entities[type] = Recall(before.total + found.total, before.kept + found.kept)
        recorded.append(one.recorded)
        reduced.append(one.reduced)
    return Measures(references, kept, tuple(lost), dict(sorted(entities.items())), tuple(gone), add_costs(recorded), add_costs(reduced), repeats, tuple(again))


def sizes(happened: Sequence[Event], contents: Sequence[Any]) -> Iterator[int | None]:
    """Give how many characters each thing that happened is sent as, with `contents` for the tool returns; None before each request.

    What the agent wrote is sent back with the next request.
    """
    number = 0
    for event in happened:
        if isinstance(event, Written):
            yield None
            yield sum(map(len, event.texts)) + sum(size(call.arguments) for call in event.calls)
        elif isinstance(event, Said):
            yield len(event.text)
        else:
            yield size(contents[number])
            number += 1


def requests(happened: Sequence[Event], contents: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Give of each request how many characters it has, and how many the one before had: all of them begin it, as no content changes later."""
    last = total = 0
    for one in sizes(happened, contents):
        if one is None:
            yield total, last
            last = total
        else:
            total += one


def size(value: Any) -> int:
    """Count the characters that a content is sent as; 0 for none, and for one that has no JSON form."""
    try:
        return 0 if value is None else chars(value)
    except Unreducible:
        return 0
