"""Plans: which cuts apply from which size on, and at which price of a lost value they keep enough."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import NamedTuple

from reducer.analysis.drafting.cuts import GATES, Cut, FreeSteps, Plan, Tier, cuts, rule_of
from reducer.analysis.drafting.evidence import RecordedReturn, Recording, Task, evidence
from reducer.analysis.drafting.profiles import Profile
from reducer.analysis.drafting.reused import Uses, reused_values, uses, with_reused
from reducer.analysis.drafting.rule_text import compiled
from reducer.analysis.drafting.scores import Effect, Score, Scores, Search, judged, scored, total
from reducer.analysis.drafting.unused import free_steps, main_list, profile_of
from reducer.engine import attempt
from reducer.references import searched, searcher
from reducer.rules import Ruleset

PRICES = tuple(round(250 * 1.3**number) for number in range(22))
"""Characters that the loss of one value may save: from almost everything to almost nothing."""
MIN_SAVED = 0.01
"""Share of a tool's characters that a further choice must save: few choices generalise."""
_FOLDS = 4
_PRIOR = 0.25
"""Part of one further value that is assumed lost: few observations are no certainty."""

CutEffect = Callable[[Cut, RecordedReturn], Effect]


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """What there is to choose from for one tool: free steps, cuts and their effects, and the values that are reused."""

    tool: str
    returns: Sequence[RecordedReturn]
    profile: Profile
    free: tuple[FreeSteps, ...]
    cuts: tuple[Cut, ...]
    values: tuple[str, ...]
    effect: CutEffect

    def effect_with(self, cut: Cut, one: RecordedReturn, used: Uses) -> Effect:
        """Return the effect of a cut; if it keeps reused values, those of `used` in other tasks are kept."""
        if not cut.reused:
            return self.effect(cut, one)
        return with_reused(self.effect(cut._replace(reused=False), one), one, used)


class Point(NamedTuple):
    """One price and the score of plans for it on histories that they were not made from; `error` is one standard error.

    Values are lost in clusters, many in one task and none in others: the error is that of tasks, not of values.
    """

    price: int
    score: Score
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class PlansByPrice:
    """For each price the plan of each tool; `used` are the values that each tool's returns were used for."""

    plans: tuple[dict[str, Plan], ...]
    used: Mapping[str, Uses]


class _Worth(NamedTuple):
    saved: float
    risk: float


_Table = Mapping[tuple[Cut, int], _Worth]
"""What a cut saves and risks to lose, by the number of the range of sizes."""


def choices(training: Sequence[Recording], tool: str) -> Choices:
    """Return what can be chosen for a tool."""
    returns = evidence(training, tool)
    root, free = profile_of(returns), free_steps(returns)
    values = reused_values(uses(training, tool), returns)
    plain = tuple(cuts(main_list(root), free))
    keeping = tuple(cut._replace(reused=True) for cut in plain if values and not cut.is_bare)
    return Choices(
        tool=tool,
        returns=returns,
        profile=root,
        free=free,
        cuts=plain + keeping,
        values=values,
        effect=_effects(free, values),
    )


def _effects(free: Sequence[FreeSteps], values: Sequence[str]) -> CutEffect:
    """Return the function that tries a cut on a return, once, and looks for `values` besides the used ones."""
    shown = searcher(values)

    @cache
    def ruleset(cut: Cut) -> Ruleset:
        rule = rule_of("*", (Tier(0, cut),), free[cut.free])
        assert rule is not None
        return compiled(rule)

    @cache
    def sought(one: RecordedReturn) -> tuple[frozenset[str], Search]:
        every = one.used.union(shown(searched(one.content)) if values else ())
        return every, searcher(every)

    @cache
    def effect(cut: Cut, one: RecordedReturn) -> Effect:
        if cut == Cut():
            return Effect(one.chars)
        if not cut.is_bare:
            bare = effect(Cut(cut.free), one)
            if _is_short(cut, bare.chars):
                return bare
        return judged(one, attempt(ruleset(cut), one.tool, one.content).content, *sought(one))

    return effect


def _is_short(cut: Cut, chars: int) -> bool:
    """Return whether a return is certainly too short for a cut, with `chars` characters after the free steps."""
    if cut.target is not None:
        return chars <= cut.target
    return cut.items is None and chars <= (cut.length or 0)


def best_plans(
    histories: Sequence[Recording], tools: Mapping[str, Choices], prices: Sequence[int] = PRICES
) -> PlansByPrice:
    """Return for each price the best plan of each tool on histories."""
    used = {tool: uses(histories, tool) for tool in tools}
    plans: tuple[dict[str, Plan], ...] = tuple({} for _ in prices)
    for tool, choice in tools.items():
        returns = evidence(histories, tool)
        table, chars = _table(returns, choice, used[tool]), sum(one.chars for one in returns)
        for found, price in zip(plans, prices, strict=True):
            found[tool] = _best_plan(table, price, chars)
    return PlansByPrice(plans, used)


def _table(returns: Sequence[RecordedReturn], choice: Choices, used: Uses) -> _Table:
    ranges: dict[int, list[RecordedReturn]] = {}
    for one in returns:
        number = bisect_right(GATES, one.chars) - 1
        if number >= 0:
            ranges.setdefault(number, []).append(one)
    table: dict[tuple[Cut, int], _Worth] = {}
    for number, inside in ranges.items():
        references = sum(len(one.used) * one.weight for one in inside)
        for cut in choice.cuts:
            effects = [choice.effect_with(cut, one, used) for one in inside]
            saved = sum(one.chars - effect.chars for one, effect in zip(inside, effects, strict=True))
            if saved:
                lost = sum(len(effect.lost) * one.weight for one, effect in zip(inside, effects, strict=True))
                risk = (references + _PRIOR) * (lost + _PRIOR) / (references + 2 * _PRIOR)
                table[cut, number] = _Worth(saved, lost if cut.is_bare else risk)
    return table


def _best_plan(table: _Table, price: float, chars: int) -> Plan:
    """Return the best tiers of one family, stricter for larger returns, if a lost value costs `price` characters."""
    families: dict[object, dict[Cut, None]] = {}
    for cut, _ in table:
        families.setdefault(cut.family, {})[cut] = None
    best: tuple[float, Plan] = (0.0, ())
    for members in families.values():
        found = _best_of_family([*members], table, price, MIN_SAVED * chars)
        if found[0] > best[0] + 1e-9:
            best = found
    return best[1]


def _best_of_family(members: Sequence[Cut], table: _Table, price: float, least: float) -> tuple[float, Plan]:
    """Return the value and tiers of the best plan, built up range by range; each tier must save `least` characters."""
    bare = Cut(members[0].free)
    # For each cut that may apply to a range of sizes, the best tiers that lead to it. Free steps apply to all sizes.
    before: dict[Cut, tuple[float, Plan]] = {bare: (0.0, (Tier(GATES[0], bare),) if bare.free else ())}
    for number, gate in enumerate(GATES):
        after: dict[Cut, tuple[float, Plan]] = {}
        for cut in [bare, *(cut for cut in members if not cut.is_bare)]:
            ways = [before[cut]] if cut in before else []
            # A tier begins where something shows that it pays, or at the first size if it is for all sizes.
            if not cut.is_bare and (number == 0 if cut.is_for_all_sizes else (cut, number) in table):
                ways += [
                    (value - least, (*plan, Tier(gate, cut)))
                    for other, (value, plan) in before.items()
                    if other != cut and (other.is_bare or (cut.target is None and cut.is_stricter(other)))
                ]
            if ways:
                value, plan = _best(ways)
                worth = table.get((cut, number), _Worth(0, 0))
                after[cut] = (value + worth.saved - price * worth.risk, plan)
        before = after
    return _best(before.values())


def _best(ways: Iterable[tuple[float, Plan]]) -> tuple[float, Plan]:
    return max(ways, key=lambda way: (way[0], -len(way[1])))


def score_plans(
    histories: Sequence[Recording], plans: Mapping[str, Plan], used: Mapping[str, Uses], tools: Mapping[str, Choices]
) -> Scores:
    """Score plans on histories; tools without a plan are left alone."""

    def effect(one: RecordedReturn) -> Effect:
        found = [tier.cut for tier in plans.get(one.tool, ()) if one.chars >= tier.gate and not one.is_fixed]
        return tools[one.tool].effect_with(found[-1], one, used[one.tool]) if found else Effect(one.chars)

    return scored(histories, effect)


def cross_validate(histories: Sequence[Recording], tools: Mapping[str, Choices]) -> list[Point]:
    """Score plans for each price on every fourth task in turn, made from all other tasks."""
    by_task: dict[Task, list[Recording]] = {}
    for history in sorted(histories, key=lambda history: history.task):
        by_task.setdefault(history.task, []).append(history)
    groups = [*by_task.values()]
    scores: list[list[Score]] = [[] for _ in PRICES]
    for fold in range(_FOLDS):
        training = [history for number, group in enumerate(groups) if number % _FOLDS != fold for history in group]
        best = best_plans(training, tools)
        for found, plans in zip(scores, best.plans, strict=True):
            found += (score_plans(group, plans, best.used, tools).total for group in groups[fold::_FOLDS])
    return [Point(price, total(found), _standard_error(found)) for price, found in zip(PRICES, scores, strict=True)]


def _standard_error(tasks: Sequence[Score]) -> float:
    """Return the standard error of the share that is kept, by task."""
    together = total(tasks)
    if not together.references:
        return 0.0
    return sqrt(sum((task.kept - together.retention * task.references) ** 2 for task in tasks)) / together.references


def choose_price(points: Sequence[Point], keep: float) -> int | None:
    """Return the price that saves most and keeps the share `keep` even if one standard error less is kept.

    None if there is none. The margin is there because the best of many prices is often a lucky one.
    """
    enough = [point for point in points if point.score.retention - point.error >= keep]
    return max(enough, key=lambda point: (point.score.saved, point.price)).price if enough else None
