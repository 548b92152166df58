"""What is learned from recorded histories: for each tool a rule, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reducer.codecs import decode
from reducer.engine import attempt
from reducer.learn.cuts import SHORTEST, TARGETS, Cut, cuts
from reducer.learn.evidence import Recorded, Seen, parted
from reducer.learn.fit import Material, Point, across_folds, evidence, fitted, priced, tried_out, weights
from reducer.learn.keys import Unused, unused
from reducer.learn.plan import Plan
from reducer.learn.score import Score, Scores, scored
from reducer.learn.trial import Outcome, compiled, outcome, tries
from reducer.rule import Ruleset

LEAST_RETURNS = 4
LEAST_TASKS = 3
LEAST_REFERENCES = 5
"""Fewer returns, tasks or references than these are thin evidence."""
LARGE = 1_000_000
"""Characters that a tool which is left alone may answer: what nobody wants to send."""
_LEAST_SAVED = 0.01


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learned about one tool: the rule, None for none, and why. `plan` and `extras` are what it is made of."""

    tool: str
    why: str
    rule: dict[str, Any] | None = None
    plan: Plan = ()
    extras: tuple[tuple[str, tuple[dict[str, Any], ...]], ...] = ()
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
    materials = {tool: Material(tuple(cuts(*_form(evidence(training, tool)))), tries()) for tool in tools if tool not in thin}
    folds = across_folds(training, materials, weigh)
    price = priced(folds, keep)
    prices = [point.price for point in folds]
    every = fitted(training, materials, weigh, prices)
    curves = tuple((one, tried_out(held, plans, materials).sources) for one, plans in zip(prices, every, strict=True))
    plans = every[prices.index(price)] if price is not None else {}
    default = _default(training, keep)
    lessons = tuple(
        Lesson(tool, thin[tool]) if tool in thin else _lesson(tool, evidence(training, tool), plans.get(tool, ()), price, weigh, default) for tool in tools
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


def _form(returns: Sequence[Seen]) -> tuple[tuple[str, ...], bool]:
    """Tell where a tool's answers are long lists, and whether they have JSON in texts."""
    large = [seen.content for seen in returns if seen.chars >= SHORTEST]
    opened = [decode(content) if type(content) is str else content for content in large]
    ruleset = compiled({"version": 1, "tool": "*", "steps": [{"unwrap": True}]})
    nested = any(type(content) is not str and attempt(ruleset, "any", content).content is not content for content in opened)
    return ("@",) if sum(type(content) is list for content in opened) * 2 > len(large) else (), nested


def _lesson(tool: str, returns: Sequence[Seen], plan: Plan, price: int | None, weigh: Mapping[int, float], default: Lesson) -> Lesson:
    if price is None:
        return Lesson(tool, "left alone: no choice keeps enough")
    extras: list[tuple[str, tuple[dict[str, Any], ...]]] = []
    best = _worth(tool, returns, (), plan, price, weigh)
    least = _LEAST_SAVED * sum(seen.chars for seen in returns)
    for why, steps in _extras(returns):
        value = _worth(tool, returns, (*_flat(extras), *steps), plan, price, weigh)
        if value > best + least:
            best = value
            extras.append((why, steps))
    rule = written(tool, _flat(extras), plan)
    if rule is None:
        why = "left alone: what could be saved is not worth what would be lost"
        spared = default.rule is not None and any(seen.chars > default.rule["max_chars"] for seen in returns)
        return Lesson(tool, why, {"version": 1, "tool": tool, "max_chars": LARGE} if spared else None)
    return Lesson(tool, "", rule, plan, tuple(extras), _sample(rule, returns))


def _extras(returns: Sequence[Seen]) -> list[tuple[str, tuple[dict[str, Any], ...]]]:
    uses = sum(len(seen.wanted) for seen in returns)
    found: list[tuple[str, tuple[dict[str, Any], ...]]] = [
        ("JSON in texts is shown as what it says", ({"unwrap": True},)),
        ("Keys without a value go", ({"compact": True},)),
    ]
    for one in unused(returns) if uses >= 4 * LEAST_REFERENCES else ():
        found.append((_named(one, sum(seen.chars for seen in returns), uses), (one.step(),)))
    return found


def _named(one: Unused, chars: int, uses: int) -> str:
    more = f" and {len(one.keys) - 1} other keys" if len(one.keys) > 2 else f" and `{one.keys[1]}`" if len(one.keys) == 2 else ""
    return f"`{one.keys[0]}`{more}: {one.chars / chars:.0%} of the characters, 0 of {uses} later uses"


def _flat(extras: Sequence[tuple[str, tuple[dict[str, Any], ...]]]) -> tuple[dict[str, Any], ...]:
    return tuple(step for _, steps in extras for step in steps)


def written(tool: str, before: Sequence[dict[str, Any]], plan: Plan) -> dict[str, Any] | None:
    """Write the rule that a plan and the steps before it are; None for one that does nothing."""
    rule: dict[str, Any] = {"version": 1, "tool": tool}
    steps = list(before)
    for tier in plan:
        steps += tier.cut.steps(tier.gate if tier.cut.target is None else 0)
        if tier.cut.target is not None:
            rule["max_chars"] = tier.cut.target
            if tier.gate > tier.cut.target or tier.cut.unwrap:
                rule["when"] = {"min_chars": tier.gate}
            if not tier.cut.kept:
                rule["preserve"] = []
    if steps:
        rule["steps"] = steps
    return rule if steps or plan else None


def _worth(tool: str, returns: Sequence[Seen], before: Sequence[dict[str, Any]], plan: Plan, price: int, weigh: Mapping[int, float]) -> float:
    rule = written(tool, before, plan)
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
    """Learn the rule for tools that were not seen: the lowest target that loses half as many references of all tools together as is allowed."""
    returns = evidence(training)
    tasks = len({(history.source, history.task) for history in training})
    for target in (*(target for target in TARGETS if target >= 4000), 32000, 64000):
        cut = Cut(target=target)
        tried = tries()

        def left(seen: Seen, cut: Cut = cut, tried: Any = tried) -> Outcome:
            return Outcome(seen.chars, frozenset()) if seen.fixed else tried(cut, seen)

        score = scored(training, left).total
        if score.references >= 4 * LEAST_REFERENCES and tasks >= LEAST_TASKS and score.retention >= (1 + keep) / 2:
            why = f"{score.saved:.0%} of the characters of all tools together, {score.references - score.kept} of {score.references} values lost"
            rule = {"version": 1, "tool": "*", "max_chars": target}
            sample = _sample(rule, returns)
            if sample is not None:
                return Lesson("*", why, rule, sample=sample)
    return Lesson("*", "no default rule: too little evidence, or nothing to save")
