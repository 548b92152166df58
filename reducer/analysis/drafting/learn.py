"""Drafts with evidence: from recorded histories to a rule for each tool, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reducer.analysis.drafting.cuts import MIN_CHARS, FreeSteps, Plan, both_ends, rule_of
from reducer.analysis.drafting.evidence import RecordedReturn, Recording, evidence, split
from reducer.analysis.drafting.plans import (
    MIN_SAVED,
    Choices,
    Point,
    best_plans,
    choices,
    choose_price,
    cross_validate,
    score_plans,
)
from reducer.analysis.drafting.rule_text import DraftRule, Step, compiled
from reducer.analysis.drafting.scores import Effect, EffectOf, Score, Scores, effect_of, scored
from reducer.analysis.drafting.unused import COMPACT, UNWRAP, unused_keys
from reducer.rules import Ruleset

MIN_RETURNS = 4
MIN_TASKS = 3
MIN_REFERENCES = 5
"""Fewer returns, tasks or references are thin evidence."""
LARGE = 1_000_000
"""`max_chars` of a rule that leaves its tool alone."""
SIZES = (4000, 6000, 8000, 12000, 16000, 24000, 48000)
"""Characters of returns from which on the default rule cuts."""
_ITEMS = 5


@dataclass(frozen=True, slots=True)
class ToolDraft:
    """What was learned about one tool: its rule, or None and `why`; `plan` is what the rule is made of."""

    tool: str
    why: str
    rule: DraftRule | None = None
    plan: Plan = ()
    sample: RecordedReturn | None = None


@dataclass(frozen=True, slots=True)
class Learned:
    """Everything that was learned: `price` is None if no price keeps enough.

    `curves` has the scores of the held-out histories at each price, `unseen` what the default rule alone does to them.
    """

    training: tuple[Recording, ...]
    held: tuple[Recording, ...]
    keep: float
    price: int | None
    points: tuple[Point, ...]
    curves: tuple[tuple[int, Mapping[str, Score]], ...]
    tools: tuple[ToolDraft, ...]
    default: ToolDraft
    trained: Scores
    measured: Scores
    unseen: Score


def learn(histories: Sequence[Recording], keep: float, holdout: float) -> Learned:
    """Learn a rule for each tool and one for all others that keep the share `keep` of the values used later.

    The share `holdout` of the tasks is not learned from; the rules are measured on it.
    """
    training, held = split(histories, holdout)
    thin = {tool: _thin(training, tool) for tool in sorted({one.tool for one in evidence(training)})}
    known = {tool: choices(training, tool) for tool, why in thin.items() if not why}
    points = cross_validate(training, known)
    price = choose_price(points, keep)
    best = best_plans(training, known)
    plans = {point.price: plans for point, plans in zip(points, best.plans, strict=True)}
    curves = tuple((each, score_plans(held, found, best.used, known).sources) for each, found in plans.items())
    default = _default(training, keep)
    tools: list[ToolDraft] = []
    for tool, why in thin.items():
        if why or price is None:
            tools.append(ToolDraft(tool, why or "left alone: no choice keeps enough"))
        else:
            tools.append(_tool_draft(known[tool], plans[price][tool], price, default))
    rules = {one.tool: compiled(one.rule) for one in (*tools, default) if one.rule is not None}
    trained, measured = (scored(some, _effect_of_rules(rules)) for some in (training, held))
    unseen = scored(held, _effect_of_rules({"*": rules["*"]} if "*" in rules else {})).total
    return Learned(
        training=tuple(training),
        held=tuple(held),
        keep=keep,
        price=price,
        points=tuple(points),
        curves=curves,
        tools=tuple(tools),
        default=default,
        trained=trained,
        measured=measured,
        unseen=unseen,
    )


def _effect_of_rules(rules: Mapping[str, Ruleset]) -> EffectOf:
    """Return the function that applies the rule of a return's tool, or the default rule."""

    def effect(one: RecordedReturn) -> Effect:
        ruleset = None if one.is_fixed else rules.get(one.tool, rules.get("*"))
        return Effect(one.chars) if ruleset is None else effect_of(ruleset, one)

    return effect


def _thin(training: Sequence[Recording], tool: str) -> str:
    """Return why there is too little evidence on a tool; empty if there is enough."""
    found = [one for one in evidence(training, tool) if one.chars >= MIN_CHARS]
    tasks = {
        history.task
        for history in training
        if any(one.tool == tool and one.chars >= MIN_CHARS for one in history.returns)
    }
    references = sum(len(one.used) for one in found)
    if not found:
        return f"small: no return of {MIN_CHARS} characters or more"
    if len(found) < MIN_RETURNS or len(tasks) < MIN_TASKS:
        counts = f"{len(found):,} return{'s' * (len(found) != 1)}", f"{len(tasks):,} task{'s' * (len(tasks) != 1)}"
        return f"thin evidence: {counts[0]} of {MIN_CHARS} characters or more, in {counts[1]}"
    return f"thin evidence: {references} values used later" if references < MIN_REFERENCES else ""


def _tool_draft(choice: Choices, plan: Plan, price: int, default: ToolDraft) -> ToolDraft:
    """Return the rule for a plan, with the steps for unused keys that pay at the price."""
    tool, returns = choice.tool, choice.returns
    free = choice.free[plan[0].cut.free] if plan else FreeSteps()
    least = MIN_SAVED * sum(one.chars for one in returns)
    uses = sum(len(one.used) for one in returns)
    extra: list[Step] = []
    rule = rule_of(tool, plan, free, values=choice.values, returns=returns)
    best = _worth(rule, returns, price)
    for step in unused_keys(choice.profile, uses) if uses >= 4 * MIN_REFERENCES else ():
        further = rule_of(tool, plan, free, extra=[*extra, step], values=choice.values, returns=returns)
        worth = _worth(further, returns, price)
        if worth > best + least:
            best, rule = worth, further
            extra.append(step)
    if rule is not None:
        return ToolDraft(tool, "", rule, plan, sample=_sample(rule, returns))
    why = "left alone: what could be saved is not worth what would be lost"
    is_cut = default.rule is not None and any(one.chars >= default.rule.settings["max_chars"] for one in returns)
    return ToolDraft(tool, why, DraftRule(tool, (), {"max_chars": LARGE}) if is_cut else None)


def _worth(rule: DraftRule | None, returns: Sequence[RecordedReturn], price: int) -> float:
    """Return the characters that a rule saves, less the price of what is lost."""
    if rule is None:
        return 0.0
    try:
        ruleset = compiled(rule)
    except ValueError:  # for example a key that cannot be written
        return float("-inf")
    effects = [effect_of(ruleset, one) for one in returns]
    return sum(
        one.chars - effect.chars - price * len(effect.lost) * one.weight
        for one, effect in zip(returns, effects, strict=True)
    )


def _sample(rule: DraftRule, returns: Sequence[RecordedReturn]) -> RecordedReturn | None:
    """Return a return that the rule shortens: best without a loss, by a fifth or more, with used values, and short."""
    ruleset = compiled(rule)
    found = []
    for number, one in enumerate(returns):
        effect = effect_of(ruleset, one)
        if effect.chars < one.chars:
            found.append((bool(effect.lost), effect.chars > 0.8 * one.chars, not one.used, one.chars, number))
    return returns[min(found)[-1]] if found else None


def _default(training: Sequence[Recording], keep: float) -> ToolDraft:
    """Learn the rule for unknown tools: the strictest that loses half of what may be lost, and no tool twice that."""
    tasks = len({history.task for history in training})
    for size in SIZES if tasks >= MIN_TASKS else ():
        rule = DraftRule("*", _steps_from(size), {"max_chars": size + size // 2})
        scores = scored(training, _effect_of_rules({"*": compiled(rule)}))
        score = scores.total
        known = [one for one in (score, *scores.tools.values()) if one.references >= 4 * MIN_REFERENCES]
        is_enough = score in known and score.retention >= (1 + keep) / 2
        if is_enough and all(one.retention >= 2 * keep - 1 for one in known):
            sample = _sample(rule, evidence(training))
            if sample is not None:
                lost = f"{score.references - score.kept} of {score.references} values lost"
                why = f"{score.saved:.0%} of the characters of all tools together, {lost}"
                return ToolDraft("*", why, rule, sample=sample)
    return ToolDraft("*", "no default rule: too little evidence, or nothing to save")


def _steps_from(size: int) -> tuple[Step, ...]:
    """Return the steps for returns of so many characters and more, whatever they contain."""
    when = {"min_chars": size}
    limit = Step(
        {"limit": both_ends(_ITEMS), "when": when}, f"From {size:,} characters on, long lists and texts are cut"
    )
    return UNWRAP, COMPACT, limit, Step({"truncate": size, "when": when})
