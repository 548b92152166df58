"""What is left of recorded returns: the effect of a rule on one of them, and scores of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reducer.analysis.drafting.evidence import RecordedReturn, Recording
from reducer.analysis.measures import size
from reducer.engine import attempt
from reducer.references import searched, searcher
from reducer.rules import Ruleset


class Effect(NamedTuple):
    """What is left of a return: characters, the used values that are lost, and all absent values."""

    chars: int
    lost: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()


EffectOf = Callable[[RecordedReturn], Effect]
Search = Callable[[str], set[str]]


class Score(NamedTuple):
    """Returns, their characters before and after, and of the values used later (`references`) those that are kept."""

    returns: int = 0
    before: int = 0
    after: int = 0
    references: int = 0
    kept: int = 0

    @property
    def saved(self) -> float:
        """Return the share of the characters that was saved."""
        return (self.before - self.after) / self.before if self.before else 0.0

    @property
    def retention(self) -> float:
        """Return the share of the references that was kept; 1 if there are none."""
        return self.kept / self.references if self.references else 1.0

    def __add__(self, other: object) -> Score:
        if not isinstance(other, Score):
            return NotImplemented
        return Score(*(one + two for one, two in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by source and by tool; a reference counts for the tool that showed it first."""

    sources: dict[str, Score]
    tools: dict[str, Score]

    @property
    def total(self) -> Score:
        """Return the score of everything."""
        return total(self.sources.values())


def total(scores: Iterable[Score]) -> Score:
    """Add scores."""
    return sum(scores, Score())


def effect_of(ruleset: Ruleset, one: RecordedReturn) -> Effect:
    """Return the effect of the one rule of a ruleset on a return."""
    return judged(one, attempt(ruleset, one.tool, one.content).content, one.used, searcher(one.used))


def judged(one: RecordedReturn, left: Any, values: frozenset[str], search: Search) -> Effect:
    """Return the effect on a return of which `left` is left; `search` finds `values`, all of which it contained."""
    chars = one.chars if left is one.content else size(left)
    if left is one.content or chars > one.chars:
        return Effect(one.chars)
    absent = values - search(searched(left)) if values else values
    return Effect(chars, absent & one.used, absent)


def scored(histories: Sequence[Recording], effect: EffectOf) -> Scores:
    """Score what `effect` leaves of the tool returns of histories."""
    sources: dict[str, Score] = {}
    tools: dict[str, Score] = {}
    for history in histories:
        effects = [effect(one) for one in history.returns]
        scores = [
            (one.tool, Score(1, one.chars, left.chars)) for one, left in zip(history.returns, effects, strict=True)
        ]
        for value, places in history.references:
            is_kept = any(value not in effects[place].lost for place in places)
            scores.append((history.returns[places[0]].tool, Score(references=1, kept=int(is_kept))))
        for tool, score in scores:
            tools[tool] = tools.get(tool, Score()) + score
        source = history.task[0]
        sources[source] = sources.get(source, Score()) + total(score for _, score in scores)
    return Scores(dict(sorted(sources.items())), dict(sorted(tools.items())))
