"""Drafts with evidence: from recorded histories to a rule for each tool, or the reason why there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reducer.analysis.drafting.choices import (
    MIN_SAVED,
    Choice,
    Options,
    Uses,
    default_rule,
    effect_of_rule,
    find_options,
    uses,
)
from reducer.analysis.drafting.evidence import Effect, RecordedReturn, Recording, Score, Scores, evidence, scored, split
from reducer.analysis.drafting.rule_text import Draft, DraftRule, SampleTest, compiled, draft, file_names
from reducer.analysis.measures import size
from reducer.engine import attempt
from reducer.references import NUMBER
from reducer.rules import Ruleset
from reducer.rules.choose import is_glob

PRICES = tuple(round(250 * 1.3**number) for number in range(22))
"""Characters that the loss of one value may save: from almost everything to almost nothing."""
_PRIOR = 0.25
"""Part of one further value that is assumed lost: few observations are no certainty."""
_FOLDS = 4
_MIN_CHARS, _MIN_RETURNS, _MIN_TASKS, _MIN_USES = 400, 4, 3, 5
"""Shorter returns are left alone. Fewer returns, tasks or values used later are thin evidence."""
_DEFAULT_SIZES = (4000, 6000, 8000, 12000, 16000, 24000, 48000)
"""Characters of returns from which on the default rule cuts."""
_UNCUT = 1_000_000
"""`max_chars` of a rule that leaves its tool alone."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@-]{3,79}")
_MAX_CONTAINED = 3
_MAX_TOOL = 200

Known = Mapping[str, Options]
"""The tools with enough evidence."""
Chosen = Mapping[str, tuple[Choice, Uses]]
"""For each tool what was chosen, and the uses of its returns that it was chosen by."""


@dataclass(frozen=True, slots=True)
class ToolDraft:
    """What was learned about one tool: its rule, or None and `why`; the sample is a return that the rule shortens."""

    tool: str
    why: str = ""
    rule: DraftRule | None = None
    sample: RecordedReturn | None = None


@dataclass(frozen=True, slots=True)
class Learned:
    """Everything that was learned: `price` is None if no price keeps enough.

    `trained` and `measured` score all rules on both halves, `unseen` the default rule alone on the held-out one.
    """

    training: Sequence[Recording]
    held: Sequence[Recording]
    keep: float
    price: int | None
    tools: Sequence[ToolDraft]
    default: ToolDraft
    trained: Scores
    measured: Scores
    unseen: Score


def learn(histories: Sequence[Recording], keep: float, holdout: float) -> Learned:
    """Learn a rule for each tool and one for all others that keep the share `keep` of the values used later.

    The share `holdout` of the tasks is not learned from; the rules are measured on it.
    """
    training, held = split(histories, holdout)
    thin = {tool: _thin(evidence(training, tool)) for tool in sorted({one.tool for one in evidence(training)})}
    known = {tool: find_options(training, tool) for tool, why in thin.items() if not why}
    # The margin is there because the best of many prices is often a lucky one.
    enough = [
        (found.total.saved, price) for price, found in _cross_validate(training, known) if found.least_retention >= keep
    ]
    price = max(enough)[1] if enough else None
    chosen = _choose(training, known)
    default = _default(training, keep)
    tools = [
        ToolDraft(tool, why or "left alone: no choice keeps enough")
        if why or price is None
        else _tool_draft(known[tool], chosen[price][tool][0], default)
        for tool, why in thin.items()
    ]
    rules = {one.tool: compiled(one.rule) for one in (*tools, default) if one.rule is not None}
    return Learned(
        training=training,
        held=held,
        keep=keep,
        price=price,
        tools=tools,
        default=default,
        trained=_score_rules(training, rules),
        measured=_score_rules(held, rules),
        unseen=_score_rules(held, {"*": rules["*"]} if "*" in rules else {}).total,
    )


def drafts(learned: Learned) -> Iterator[Draft]:
    """Write every rule that was learned."""
    drafted = [one for one in learned.tools if one.rule is not None and is_writable(one.tool)]
    names = file_names((one.tool for one in drafted), taken=["default"])
    for one in drafted:
        trained, held = (scores.tools.get(one.tool, Score()) for scores in (learned.trained, learned.measured))
        yield _draft(one, names[one.tool], evidence(learned.training, one.tool), [trained, held])
    if learned.default.rule is not None:
        yield _draft(learned.default, "default", evidence(learned.training), [Score(), learned.unseen])


def is_writable(tool: str) -> bool:
    """Return whether a tool's name can be used in a rule as its name, and nothing else."""
    return 0 < len(tool) <= _MAX_TOOL and tool.isprintable() and tool == tool.strip() and not is_glob(tool)


def _thin(returns: Sequence[RecordedReturn]) -> str:
    """Return why there is too little evidence on a tool; empty if there is enough."""
    found = [one for one in returns if one.chars >= _MIN_CHARS]
    tasks, uses = len({one.task for one in found}), sum(len(one.used) for one in found)
    if not found:
        return f"small: no return of {_MIN_CHARS} characters or more"
    if len(found) < _MIN_RETURNS or tasks < _MIN_TASKS:
        return f"thin evidence: fewer than {_MIN_RETURNS} returns of {_MIN_CHARS} characters, or {_MIN_TASKS} tasks"
    return f"thin evidence: fewer than {_MIN_USES} values used later" if uses < _MIN_USES else ""


def _choose(histories: Sequence[Recording], known: Known) -> dict[int, Chosen]:
    """Return for each price the best choice for each tool on histories."""
    used = {tool: uses(histories, tool) for tool in known}
    worths = {tool: [*_worths(evidence(histories, tool), every, used[tool])] for tool, every in known.items()}

    def best(tool: str, price: int) -> Choice:
        return max(worths[tool], key=lambda worth: worth[1] - price * worth[2])[0]

    return {price: {tool: (best(tool, price), used[tool]) for tool in known} for price in PRICES}


def _worths(returns: Sequence[RecordedReturn], options: Options, used: Uses) -> Iterator[tuple[Choice, float, float]]:
    """Yield what each choice saves and risks to lose on returns."""
    chars = sum(one.chars for one in returns)
    for choice in options.choices():
        effects = [(one, options.effect(choice, one, used)) for one in returns]
        saved = chars - sum(left.chars for _, left in effects)
        lost = sum(len(left.absent & one.used) * one.weight for one, left in effects)
        if choice.action:
            at_risk = sum(len(one.used) * one.weight for one in returns if one.chars > choice.size)
            lost = (at_risk + _PRIOR) * (lost + _PRIOR) / (at_risk + 2 * _PRIOR)
        yield choice, saved - MIN_SAVED * chars * bool(choice.action), lost


def _score(histories: Sequence[Recording], chosen: Mapping[tuple[str, str], Chosen], known: Known) -> Scores:
    """Score the choices for each task on histories; tools without one are left alone."""

    def effect(one: RecordedReturn) -> Effect:
        if one.tool not in known:
            return Effect(one.chars)
        choice, used = chosen[one.task][one.tool]
        return known[one.tool].effect(choice, one, used)

    return scored(histories, effect)


def _score_rules(histories: Sequence[Recording], rules: Mapping[str, Ruleset]) -> Scores:
    """Score the rule of each tool, or the default rule `*`, on histories."""

    def effect(one: RecordedReturn) -> Effect:
        rule = rules.get(one.tool, rules.get("*"))
        return Effect(one.chars) if rule is None else effect_of_rule(rule, one)

    return scored(histories, effect)


def _cross_validate(histories: Sequence[Recording], known: Known) -> Iterator[tuple[int, Scores]]:
    """Yield each price with the scores of its choices on every fourth task in turn, made from all other tasks."""
    folds = {task: number % _FOLDS for number, task in enumerate(sorted({one.task for one in histories}))}
    made = [_choose([one for one in histories if folds[one.task] != fold], known) for fold in range(_FOLDS)]
    for price in PRICES:
        yield price, _score(histories, {task: made[fold][price] for task, fold in folds.items()}, known)


def _tool_draft(options: Options, choice: Choice, default: ToolDraft) -> ToolDraft:
    rule = options.rule(choice)
    if rule is not None:
        return ToolDraft(options.tool, rule=rule, sample=_sample(rule, options.returns))
    limit = default.rule.settings["max_chars"] if default.rule is not None else _UNCUT
    is_cut = any(one.chars >= limit for one in options.returns)
    alone = DraftRule(options.tool, (), {"max_chars": _UNCUT}) if is_cut else None
    return ToolDraft(options.tool, "left alone: what could be saved is not worth what would be lost", alone)


def _sample(rule: DraftRule, returns: Sequence[RecordedReturn]) -> RecordedReturn | None:
    """Return a return that the rule shortens: best without a loss, by a fifth or more, with used values, and short."""
    ruleset = compiled(rule)
    effects = [(one, effect_of_rule(ruleset, one)) for one in returns]
    shortened = [(one, left) for one, left in effects if left.chars < one.chars]

    def rank(pair: tuple[RecordedReturn, Effect]) -> tuple[bool, bool, bool, int]:
        one, left = pair
        return bool(left.absent), left.chars > 0.8 * one.chars, not one.used, one.chars

    return min(shortened, key=rank)[0] if shortened else None


def _default(training: Sequence[Recording], keep: float) -> ToolDraft:
    """Learn the rule for unknown tools: the strictest that loses half of what may be lost, and no tool twice that."""
    tasks = {history.task for history in training}
    for most in _DEFAULT_SIZES if len(tasks) >= _MIN_TASKS else ():
        rule = default_rule(most)
        scores = _score_rules(training, {"*": compiled(rule)})
        known = [one for one in (scores.total, *scores.tools.values()) if one.references >= 4 * _MIN_USES]
        is_enough = scores.total in known and scores.total.retention >= (1 + keep) / 2
        sample = _sample(rule, evidence(training))
        if is_enough and all(one.retention >= 2 * keep - 1 for one in known) and sample is not None:
            return ToolDraft("*", rule=rule, sample=sample)
    return ToolDraft("*", "no default rule: too little evidence, or nothing to save")


def _draft(one: ToolDraft, name: str, returns: Sequence[RecordedReturn], scores: Sequence[Score]) -> Draft:
    """Write a rule with the evidence for it, and a test on its sample; `scores` are of the training and held half."""
    assert one.rule is not None
    chars, used = sum(each.chars for each in returns), sum(len(each.used) for each in returns)
    header = [
        "Drafted from recorded histories by `reducer learn`. Read it, and change what you know better.",
        f"Evidence: {len(returns):,} returns of {chars:,} characters. Agents later used {used:,} values from them.",
        *([f"{one.why.capitalize()}."] if one.why else []),
    ]
    for score, where in zip(scores, ("all returns that it was learned from", "held-out returns"), strict=True):
        if score.returns:
            lost = f"{score.references - score.kept:,} of {score.references:,} values are lost"
            header.append(f"On {where} ({score.returns:,}), it saves {score.saved:.0%} of the characters; {lost}.")
    return draft(one.rule, name, header, _test(one.rule, one.sample) if one.sample else None)


def _test(rule: DraftRule, sample: RecordedReturn) -> SampleTest:
    left = attempt(compiled(rule), sample.tool, sample.content).content
    shown = left if type(left) is str else json.dumps(left, ensure_ascii=False)
    values = sorted(sample.used, key=lambda value: (-len(value), value))
    plain = [value for value in values if not value.startswith(NUMBER) and _PLAIN.fullmatch(value) and value in shown]
    name = "a recorded answer is shortened" + (", and what the agent used of it stays" if plain else "")
    expected = {"min_reduction": f"{int(100 * (1 - size(left) / size(sample.content)))}%"}
    return SampleTest(name, expected | ({"contains": plain[:_MAX_CONTAINED]} if plain else {}), sample.content)
