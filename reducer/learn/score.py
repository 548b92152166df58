"""What choices or rules amount to on histories: characters before and after, novel references and those that were kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reducer.learn.evidence import Recorded, Seen
from reducer.learn.trial import Outcome

Left = Callable[[Seen], Outcome]


class Score(NamedTuple):
    """Returns and their characters before and after; novel references, and how many of them the agent would still have seen."""

    returns: int = 0
    before: int = 0
    after: int = 0
    references: int = 0
    kept: int = 0

    @property
    def saved(self) -> float:
        """Give the share of the characters that was saved."""
        return (self.before - self.after) / self.before if self.before else 0.0

    @property
    def retention(self) -> float:
        """Give the share of the references that was kept; 1 where there are none."""
        return self.kept / self.references if self.references else 1.0

    def __add__(self, other: object) -> Score:
        if not isinstance(other, Score):
            return NotImplemented
        return Score(*(one + two for one, two in zip(self[:], other[:], strict=True)))


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by source, by tool (a reference is counted for the tool that showed it first), and of everything."""

    sources: dict[str, Score]
    tools: dict[str, Score]

    @property
    def total(self) -> Score:
        """Give the score of everything."""
        return total(self.sources.values())


def total(scores: Iterable[Score]) -> Score:
    """Sum up scores."""
    return sum(scores, Score())


def scored(histories: Sequence[Recorded], left: Left) -> Scores:
    """Score what `left` leaves of the tool returns of histories."""
    sources: dict[str, Score] = {}
    tools: dict[str, Score] = {}
    for history in histories:
        found = [left(seen) for seen in history.returns]
        added = Score()
        for seen, one in zip(history.returns, found, strict=True):
            score = Score(1, seen.chars, one.chars)
            added += score
            tools[seen.tool] = tools.get(seen.tool, Score()) + score
        for value, places in history.references:
            score = Score(references=1, kept=int(any(value not in found[place].gone for place in places)))
            added += score
            tool = history.returns[places[0]].tool
            tools[tool] = tools.get(tool, Score()) + score
        sources[history.source] = sources.get(history.source, Score()) + added
    return Scores(dict(sorted(sources.items())), dict(sorted(tools.items())))
