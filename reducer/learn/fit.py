"""Fits plans to histories, and finds the price of a lost reference at which enough of them are kept on histories that were not fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from reducer.learn.cuts import Cut, Way
from reducer.learn.evidence import Recorded, Seen
from reducer.learn.familiar import Task, Uses, brought_back, tasks_of, uses
from reducer.learn.plan import Plan, cut_for, planned, table
from reducer.learn.score import Score, Scores, scored, total
from reducer.learn.trial import Outcome, Try

PRICES = tuple(round(250 * 1.3**number) for number in range(22))
"""Characters that the loss of one reference may save: from all but everything to all but nothing."""
FOLDS = 4
_DOUBT = 0.25


class Material(NamedTuple):
    """What there is to fit for one tool: the ways that cost nothing, the cuts that are tried, how, and the values that agents use again."""

    ways: tuple[Way, ...]
    cuts: tuple[Cut, ...]
    tried: Try
    values: tuple[str, ...]

    def left(self, cut: Cut, seen: Seen, used: Uses, task: Task) -> Outcome:
        """Give what a cut leaves of a return, with what was `used` in tasks other than its own if the cut leaves that."""
        if not cut.again:
            return self.tried(cut, seen)
        left = self.tried(cut._replace(again=False), seen)
        chars, back = brought_back(left.absent, used, task) if left.absent else (0, left.absent)
        return Outcome(min(seen.chars, left.chars + chars), left.gone - back, left.absent - back) if back else left


class Point(NamedTuple):
    """One price, and what plans fitted at it amount to; `doubt` is by how much the share that is kept may be off, as one standard error.

    What is lost is lost in bunches, in one task much and in others nothing: the error is that of tasks, not of values.
    """

    price: int
    score: Score
    doubt: float = 0.0


def weights(histories: Iterable[Recorded]) -> dict[int, float]:
    """Give what each reference in a return counts, by the id of the return: half for one that stands in another return too."""
    found: dict[int, float] = {}
    for history in histories:
        shares = [0.0] * len(history.returns)
        for _, places in history.references:
            for place in places:
                shares[place] += 1 / len(places)
        found.update((id(seen), share / len(seen.wanted)) for seen, share in zip(history.returns, shares, strict=True) if seen.wanted)
    return found


def evidence(histories: Iterable[Recorded], tool: str | None = None) -> list[Seen]:
    """Give the returns that tell something: of one tool or of all, that rules apply to and after which the agent went on."""
    return [seen for history in histories for seen in history.returns if not seen.fixed and seen.followed and tool in (None, seen.tool)]


class Fit(NamedTuple):
    """Plans for each price, of each tool; what they were fitted on says what was `used` of each tool."""

    plans: list[dict[str, Plan]]
    used: Mapping[str, Uses]


def fitted(histories: Sequence[Recorded], materials: Mapping[str, Material], weigh: Mapping[int, float], prices: Sequence[int]) -> Fit:
    """Give for each price the best plan for each tool."""
    found = Fit([{} for _ in prices], {tool: uses(histories, tool) for tool in materials})
    tasks = tasks_of(histories)
    for tool, material in materials.items():
        returns = evidence(histories, tool)
        used = found.used[tool]

        def left(cut: Cut, seen: Seen, material: Material = material, used: Uses = used) -> Outcome:
            return material.left(cut, seen, used, tasks[id(seen)])

        cuts = [*material.cuts, *(cut._replace(again=True) for cut in material.cuts if material.values and not cut.is_bare)]
        worth = table(returns, cuts, left, weigh, _DOUBT)
        chars = sum(seen.chars for seen in returns)
        for plans, price in zip(found.plans, prices, strict=True):
            plans[tool] = planned(worth, price, chars)
    return found


def tried_out(histories: Sequence[Recorded], plans: Mapping[str, Plan], used: Mapping[str, Uses], materials: Mapping[str, Material]) -> Scores:
    """Score plans on histories; tools without a plan are left alone."""
    tasks = tasks_of(histories)

    def left(seen: Seen) -> Outcome:
        cut = None if seen.fixed else cut_for(plans.get(seen.tool, ()), seen.chars)
        return Outcome(seen.chars, frozenset()) if cut is None else materials[seen.tool].left(cut, seen, used[seen.tool], tasks[id(seen)])

    return scored(histories, left)


def across_folds(histories: Sequence[Recorded], materials: Mapping[str, Material], weigh: Mapping[int, float]) -> list[Point]:
    """Score for each price plans on histories that they were not fitted to: those of every fourth task, in four turns."""
    by_task: dict[Task, list[Recorded]] = {}
    for history in sorted(histories, key=lambda history: (history.source, history.task)):
        by_task.setdefault((history.source, history.task), []).append(history)
    scores: list[list[Score]] = [[] for _ in PRICES]
    for fold in range(FOLDS):
        inside = [history for number, some in enumerate(by_task.values()) if number % FOLDS != fold for history in some]
        outside = [some for number, some in enumerate(by_task.values()) if number % FOLDS == fold]
        fit = fitted(inside, materials, weigh, PRICES)
        for found, plans in zip(scores, fit.plans, strict=True):
            found += (tried_out(some, plans, fit.used, materials).total for some in outside)
    return [Point(price, total(found), _error(found)) for price, found in zip(PRICES, scores, strict=True)]


def _error(tasks: Sequence[Score]) -> float:
    """Give the standard error of the share that is kept, by task."""
    together = total(tasks)
    if not together.references:
        return 0.0
    return sqrt(sum((task.kept - together.retention * task.references) ** 2 for task in tasks)) / together.references


def priced(points: Sequence[Point], keep: float) -> int | None:
    """Give the price that saves most while the share `keep` of the references is kept even if one doubts it; None where no price does.

    The best of many prices may be a lucky one: of four ways to part the recorded histories that were at hand one kept 88% where 95% were
    asked, and 91% with the doubt. It makes such luck rarer, and is no promise.
    """
    enough = [point for point in points if point.score.retention - point.doubt >= keep]
    return max(enough, key=lambda point: (point.score.saved, point.price)).price if enough else None
