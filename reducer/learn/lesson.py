"""What is learned from recorded histories: for each tool a rule, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reducer.learn.cuts import NOTHING, SHORTEST, Told, amount, cuts
from reducer.learn.evidence import Recorded, Seen, parted
from reducer.learn.familiar import lasting, tasks_of, uses
from reducer.learn.fit import Material, Point, across_folds, evidence, fitted, priced, tried_out, weights
from reducer.learn.form import lists
from reducer.learn.keys import Unused, unused
from reducer.learn.lossless import COMPACT, UNWRAP, ways
from reducer.learn.plan import Plan
from reducer.learn.score import Score, Scores, scored
from reducer.learn.trial import Outcome, compiled, outcome, tries, written
from reducer.rule import Ruleset

LEAST_RETURNS = 4
LEAST_TASKS = 3
LEAST_REFERENCES = 5
"""Fewer returns, tasks or references than these are thin evidence."""
LARGE = 1_000_000
"""Characters that a tool which is left alone may answer: what nobody wants to send."""
_LEAST_SAVED = 0.01
SIZES = (4000, 6000, 8000, 12000, 16000, 24000, 48000)
"""Characters of returns from which on a tool that nobody has seen is cut."""
_ITEMS = 5
"""Items of long lists that nobody has seen: three and two lost as little as fifteen, and saved a third more."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learned about one tool: the rule, None for none, and why. `plan` is what it is made of, and `told` the steps that have reasons of their own."""

    tool: str
    why: str
    rule: dict[str, Any] | None = None
    plan: Plan = ()
    told: tuple[Told, ...] = ()
    sample: Seen | None = None


@dataclass(frozen=True, slots=True)
class Learned:
    """Everything that was learned: `price` is None if no price keeps enough; `folds` are the prices tried inside the training histories."""

    training: tuple[Recorded, ...]
    held: tuple[Recorded, ...]
    keep: float
    price: int | None
    folds: tuple[Point, ...]
    curves: tuple[tuple[int, Mapping[str, Score]], ...]
    lessons: tuple[Lesson, ...]
    default: Lesson
    trained: Scores
    measured: Scores
    unseen: Score
    """What the default rule alone does to all tools of the histories that were held back."""


def learn(histories: Sequence[Recorded], keep: float, holdout: float) -> Learned:
    """Learn a rule for each tool and one for all others that keep the share `keep` of references; the share `holdout` of tasks is not learned from."""
    training, held = parted(histories, holdout)
    weigh = weights(histories)
    tools = sorted({seen.tool for seen in evidence(training)})
    thin = {tool: why for tool in tools if (why := _thin(training, tool))}
    materials = {tool: _material(training, tool) for tool in tools if tool not in thin}
    folds = across_folds(training, materials, weigh)
    price = priced(folds, keep)
    prices = [point.price for point in folds]
    every = fitted(training, materials, weigh, prices)
    curves = tuple((one, tried_out(held, plans, every.used, materials).sources) for one, plans in zip(prices, every.plans, strict=True))
    plans = every.plans[prices.index(price)] if price is not None else {}
    default = _default(training, keep)
    lessons = tuple(
        Lesson(tool, thin[tool]) if tool in thin else _lesson(tool, evidence(training, tool), materials[tool], plans.get(tool, ()), price, weigh, default)
        for tool in tools
    )
    rules = {one.tool: compiled(one.rule) for one in (*lessons, default) if one.rule is not None}
    trained, measured = (scored(some, _by(rules)) for some in (training, held))
    unseen = scored(held, _by({"*": rules["*"]} if "*" in rules else {})).total
    return Learned(tuple(training), tuple(held), keep, price, tuple(folds), curves, lessons, default, trained, measured, unseen)


def _by(rules: Mapping[str, Ruleset]) -> Callable[[Seen], Outcome]:
    """Give what rules leave of returns: that of the tool, else the one for all."""

    def left(seen: Seen) -> Outcome:
        ruleset = None if seen.fixed else rules.get(seen.tool, rules.get("*"))
        return Outcome(seen.chars, frozenset()) if ruleset is None else outcome(ruleset, seen)

    return left


def _thin(training: Sequence[Recorded], tool: str) -> str:
    """Say why there is too little evidence on a tool; nothing if there is enough."""
    found = [seen for seen in evidence(training, tool) if seen.chars >= SHORTEST]
    places = len({(history.source, history.task) for history in training if any(seen.tool == tool and seen.chars >= SHORTEST for seen in history.returns)})
    uses = sum(len(seen.wanted) for seen in found)
    if not found:
        return f"small: no return of {SHORTEST} characters or more"
    if len(found) < LEAST_RETURNS or places < LEAST_TASKS:
        return f"thin evidence: {_counted(len(found), 'return')} of {SHORTEST} characters or more, in {_counted(places, 'task')}"
    if uses < LEAST_REFERENCES:
        return f"thin evidence: {uses} values used later"
    return ""


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _material(training: Sequence[Recorded], tool: str) -> Material:
    returns = evidence(training, tool)
    found = ways(returns)
    values = lasting(uses(training, tool), returns, tasks_of(training))
    return Material(found, tuple(cuts(lists(returns), len(found), any(way.last for way in found))), tries(found, values), values)


def _lesson(tool: str, returns: Sequence[Seen], material: Material, plan: Plan, price: int | None, weigh: Mapping[int, float], default: Lesson) -> Lesson:
    if price is None:
        return Lesson(tool, "left alone: no choice keeps enough")
    way = material.ways[plan[0].cut.way] if plan else NOTHING
    least = _LEAST_SAVED * sum(seen.chars for seen in returns)
    rule, keys = written(tool, way, plan, (), material.values), list[Told]()
    best = _worth(rule, returns, price, weigh)
    for one in _keys(returns):
        further = written(tool, way, plan, [step for _, step in (*keys, one)], material.values)
        value = _worth(further, returns, price, weigh)
        if value > best + least:
            best, rule = value, further
            keys.append(one)
    if rule is None:
        why = "left alone: what could be saved is not worth what would be lost"
        return Lesson(tool, why, {"version": 1, "tool": tool, "max_chars": LARGE} if _is_cut(default, returns) else None)
    return Lesson(tool, "", rule, plan, (*way.first, *keys, *way.last), _sample(rule, returns))


def _keys(returns: Sequence[Seen]) -> list[Told]:
    chars, uses = sum(seen.chars for seen in returns), sum(len(seen.wanted) for seen in returns)
    return [(_named(one, chars, uses), one.step()) for one in unused(returns)] if uses >= 4 * LEAST_REFERENCES else []


def _is_cut(default: Lesson, returns: Sequence[Seen]) -> bool:
    return default.rule is not None and any(seen.chars >= default.rule["max_chars"] for seen in returns)


def _named(one: Unused, chars: int, uses: int) -> str:
    more = f" and {len(one.keys) - 1} other keys" if len(one.keys) > 2 else f" and `{one.keys[1]}`" if len(one.keys) == 2 else ""
    return f"`{one.keys[0]}`{more}: {one.chars / chars:.0%} of the characters, 0 of {uses} later uses"


def _worth(rule: dict[str, Any] | None, returns: Sequence[Seen], price: int, weigh: Mapping[int, float]) -> float:
    if rule is None:
        return 0.0
    try:
        ruleset = compiled(rule)
    except ValueError:  # a step that check finds fault with is none
        return float("-inf")
    value = 0.0
    for seen in returns:
        left = outcome(ruleset, seen)
        value += seen.chars - left.chars - price * len(left.gone) * weigh.get(id(seen), 1.0)
    return value


def _sample(rule: dict[str, Any], returns: Sequence[Seen]) -> Seen | None:
    """Give a return that the rule shortens: best without a loss, with something that was used, by a fifth or more, and short."""
    ruleset = compiled(rule)
    found = []
    for number, seen in enumerate(returns):
        left = outcome(ruleset, seen)
        if left.chars < seen.chars:
            found.append((bool(left.gone), left.chars > 0.8 * seen.chars, not seen.wanted, seen.chars, number))
    return returns[min(found)[-1]] if found else None


def _default(training: Sequence[Recorded], keep: float) -> Lesson:
    """Learn the rule for tools that were not seen: the strictest that loses half as many references as is allowed, and of no tool twice as many."""
    returns = evidence(training)
    tasks = len({(history.source, history.task) for history in training})
    for size in SIZES if tasks >= LEAST_TASKS else ():
        told = _of_size(size)
        rule = {"version": 1, "tool": "*", "max_chars": size + size // 2, "steps": [step for _, step in told]}
        scores = scored(training, _by({"*": compiled(rule)}))
        score = scores.total
        enough = all(one.retention >= 2 * keep - 1 for one in scores.tools.values() if one.references >= 4 * LEAST_REFERENCES)
        if enough and score.references >= 4 * LEAST_REFERENCES and score.retention >= (1 + keep) / 2:
            why = f"{score.saved:.0%} of the characters of all tools together, {score.references - score.kept} of {score.references} values lost"
            sample = _sample(rule, returns)
            if sample is not None:
                return Lesson("*", why, rule, told=told, sample=sample)
    return Lesson("*", "no default rule: too little evidence, or nothing to save")


def _of_size(size: int) -> tuple[Told, ...]:
    """Give the steps for returns of so many characters and more, whatever they are."""
    when = {"min_chars": size}
    return (
        UNWRAP,
        COMPACT,
        (f"From {size:,} characters on: long lists and texts are cut", {"limit": amount(_ITEMS), "when": when}),
        ("", {"truncate": size, "when": when}),
    )
