"""Fits plans to histories, and finds the price of a lost reference at which enough of them are kept on histories that were not fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reducer.learn.cuts import Cut
from reducer.learn.evidence import Recorded, Seen
from reducer.learn.plan import Plan, cut_for, planned, table
from reducer.learn.score import Score, Scores, scored
from reducer.learn.trial import Outcome, Try

PRICES = tuple(round(250 * 1.3**number) for number in range(22))
"""Characters that the loss of one reference may save: from all but everything to all but nothing."""
FOLDS = 4
_DOUBT = 0.25


class Material(NamedTuple):
    """What there is to fit for one tool: the cuts that are tried, and how."""

    cuts: tuple[Cut, ...]
    tried: Try


class Point(NamedTuple):
    """One price, and what plans fitted at it amount to."""

    price: int
    score: Score


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


def fitted(histories: Sequence[Recorded], materials: Mapping[str, Material], weigh: Mapping[int, float], prices: Sequence[int]) -> list[dict[str, Plan]]:
    """Give for each price the best plan for each tool."""
    found: list[dict[str, Plan]] = [{} for _ in prices]
    for tool, material in materials.items():
        returns = evidence(histories, tool)
        worth = table(returns, material.cuts, material.tried, weigh, _DOUBT)
        chars = sum(seen.chars for seen in returns)
        for plans, price in zip(found, prices, strict=True):
            plans[tool] = planned(worth, price, chars)
    return found


def tried_out(histories: Sequence[Recorded], plans: Mapping[str, Plan], materials: Mapping[str, Material]) -> Scores:
    """Score plans on histories; tools without a plan are left alone."""

    def left(seen: Seen) -> Outcome:
        cut = None if seen.fixed else cut_for(plans.get(seen.tool, ()), seen.chars)
        return Outcome(seen.chars, frozenset()) if cut is None else materials[seen.tool].tried(cut, seen)

    return scored(histories, left)


def across_folds(histories: Sequence[Recorded], materials: Mapping[str, Material], weigh: Mapping[int, float]) -> list[Point]:
    """Score for each price plans on histories that they were not fitted to: those of every fourth task, in four turns."""
    tasks = sorted({(history.source, history.task) for history in histories})
    folds = {task: number % FOLDS for number, task in enumerate(tasks)}
    scores = [Score() for _ in PRICES]
    for fold in range(FOLDS):
        inside = [history for history in histories if folds[history.source, history.task] != fold]
        outside = [history for history in histories if folds[history.source, history.task] == fold]
        for number, plans in enumerate(fitted(inside, materials, weigh, PRICES)):
            scores[number] += tried_out(outside, plans, materials).total
    return [Point(price, score) for price, score in zip(PRICES, scores, strict=True)]


def priced(points: Sequence[Point], keep: float) -> int | None:
    """Give the price that saves most while the share `keep` of the references is kept; None where no price does."""
    enough = [point for point in points if point.score.retention >= keep]
    return max(enough, key=lambda point: (point.score.saved, point.price)).price if enough else None
