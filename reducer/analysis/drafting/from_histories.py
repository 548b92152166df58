"""Drafts with evidence: from recorded histories to a rule for each tool, and a default rule for all others.

The rule of a tool drops what no agent used, and cuts returns according to their size. One number decides how strict it
is: the share of the values that agents used later and that it may lose. Cross-validation over the tasks finds the
shares with which all rules together save most and, most probably, keep enough on other tasks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from reducer.analysis.drafting.candidates import (
    COMPACT,
    DEDUPE,
    MIN_RETURNS,
    MIN_USES,
    SIZES,
    UNCUT,
    UNWRAP,
    WHOLE,
    Candidate,
    Candidates,
    Cut,
    Try,
    cached_effect,
    effect_of,
    find_candidates,
    left_by,
    size_number,
)
from reducer.analysis.drafting.evidence import (
    Effect,
    RecordedReturn,
    Recording,
    Score,
    Scores,
    evidence,
    folds,
    scored,
    split,
)
from reducer.analysis.drafting.rule_text import Draft, DraftRule, Step, compiled, draft, ends, file_names
from reducer.analysis.measures import size
from reducer.engine import attempt
from reducer.references import NUMBER
from reducer.rules import Ruleset
from reducer.rules.choose import is_glob

_NO_RULE = -1.0
_SHARES = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, _NO_RULE)
"""Shares of the used values that the rule of a tool may lose on the histories that it is chosen on."""
_PRICES = (*(round(500 * 1.3**number) for number in range(26)), 10**9)
"""Prices of one lost value in characters. A price decides which cuts, and which shares of all tools, are worth it."""
_MIN_CUT = 0.005
"""The share of a tool's characters that each cut must save."""
_PRIOR = 0.5
"""The values that each cut may lose in addition to those observed: few observations prove little."""
_FOLDS = 4
_MIN_CHARS, _MIN_TASKS = 400, 3
"""Shorter returns are left alone. Fewer tasks are too little evidence."""
_TOLERANCE, _MANY = 0.02, 50
"""Other tasks may keep this much less than they should, in total and in sources with this many references."""
_DEFAULT, _MAX_DEFAULT = 12000, 15000
"""The characters that the default rule leaves of a text, and of a return."""
_MARKER = 100
"""The characters that the marker of a cut has at most, without mentions."""
_PER_ADDRESS = 800
"""The default rule restores one address for this many characters of its size."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@-]{3,79}")
_MAX_CONTAINED = 3
_MAX_TOOL = 200


@dataclass(frozen=True, slots=True)
class ToolDraft:
    """The rule of a tool with a sample, a return that the rule shortens, or the reason why there is no rule."""

    tool: str
    why: str = ""
    rule: DraftRule | None = None
    sample: RecordedReturn | None = None


@dataclass(frozen=True, slots=True)
class Learned:
    """The rules, and their scores.

    trained: the scores of all rules on the training half
    measured: their scores on the held-out half
    unseen: the score of the default rule alone on the held-out half
    """

    training: Sequence[Recording]
    held: Sequence[Recording]
    tools: Sequence[ToolDraft]
    default: ToolDraft
    trained: Scores
    measured: Scores
    unseen: Score


def learn(histories: Sequence[Recording], keep: float, holdout: float) -> Learned:
    """Learn a rule for each tool, and a default rule, that keep the share `keep` of the values used later.

    The share `holdout` of the tasks is held out to measure the rules on.
    """
    training, held = split(histories, holdout)
    lacking = {tool: _lacking(evidence(training, tool)) for tool in sorted({one.tool for one in evidence(training)})}
    default = _default(training)
    by_tool = {tool: find_candidates(training, tool) for tool, why in lacking.items() if not why}
    effect_of_default = cached_effect(default.rule)
    chosen = _choose(training, by_tool, effect_of_default, keep)
    tools = [
        _tool_draft(by_tool[tool], chosen[tool]) if tool in by_tool else ToolDraft(tool, why)
        for tool, why in lacking.items()
    ]
    rules = {one.tool: compiled(one.rule) for one in (*tools, default) if one.rule is not None}
    alone = {"*": rules["*"]} if "*" in rules else {}
    return Learned(
        training=training,
        held=held,
        tools=tools,
        default=default,
        trained=score(training, rules),
        measured=score(held, rules),
        unseen=score(held, alone).total,
    )


def drafts(learned: Learned) -> Iterator[Draft]:
    """Write all rules that were learned."""
    drafted = [one for one in learned.tools if one.rule is not None and is_writable(one.tool)]
    names = file_names((one.tool for one in drafted), taken="default")
    for one in drafted:
        trained, held = (scores.tools.get(one.tool, Score()) for scores in (learned.trained, learned.measured))
        yield _draft(one, names[one.tool], evidence(learned.training, one.tool), trained=trained, held=held)
    if learned.default.rule is not None:
        yield _draft(learned.default, "default", evidence(learned.training), trained=Score(), held=learned.unseen)


def is_writable(tool: str) -> bool:
    """Return whether a rule can name this tool, and matches no other tool then."""
    return 0 < len(tool) <= _MAX_TOOL and tool.isprintable() and tool == tool.strip() and not is_glob(tool)


def score(histories: Sequence[Recording], rules: Mapping[str, Ruleset]) -> Scores:
    """Score the rule of each tool, or the default rule `*`, on histories."""

    def effect(one: RecordedReturn) -> Effect:
        rule = rules.get(one.tool, rules.get("*"))
        return Effect(one.chars) if rule is None else effect_of(rule, one)

    return scored(histories, effect)


def _lacking(returns: Sequence[RecordedReturn]) -> str:
    """Describe the evidence that a tool lacks; empty if there is enough."""
    large = [one for one in returns if one.chars >= _MIN_CHARS]
    tasks, uses = len({one.task for one in large}), sum(len(one.used) for one in large)
    if not large:
        return f"small: no return of {_MIN_CHARS} characters or more"
    if len(large) < MIN_RETURNS or tasks < _MIN_TASKS:
        return f"little evidence: fewer than {MIN_RETURNS} returns of {_MIN_CHARS} characters, or {_MIN_TASKS} tasks"
    return f"little evidence: fewer than {MIN_USES} values used later" if uses < MIN_USES else ""


def _tool_draft(candidates: Candidates, candidate: Candidate | None) -> ToolDraft:
    """Draft the rule of a tool from its candidate, or None for the default rule."""
    if candidate is None:
        return ToolDraft(candidates.tool, "the default rule is as good")
    rule = candidates.rule(candidate)
    if rule is None:
        uncut = DraftRule(candidates.tool, (), {"max_chars": UNCUT})
        return ToolDraft(candidates.tool, "left alone: nothing can be removed", uncut)
    return ToolDraft(candidates.tool, rule=rule, sample=_sample(rule, candidates.returns))


def _default(training: Sequence[Recording]) -> ToolDraft:
    """Draft the default rule, with lines deduplicated if this saves more and loses no more."""
    if len({one.task for one in evidence(training)}) < _MIN_TASKS:
        return ToolDraft("*", f"no default rule: fewer than {_MIN_TASKS} tasks")
    most = _DEFAULT - _MARKER
    cut = Step({"truncate": ends(most)}, f"Texts of more than {most:,} characters are cut in the middle")
    # Whatever is restored stays small: links may have thousands of characters, addresses have not.
    settings = {"preserve": {"ip": _DEFAULT // _PER_ADDRESS}, "max_chars": _MAX_DEFAULT}
    rules = [DraftRule("*", steps, settings) for steps in ((UNWRAP, COMPACT, cut), (UNWRAP, COMPACT, DEDUPE, cut))]
    plain, deduped = (scored(training, cached_effect(rule)).total for rule in rules)
    rule = rules[deduped.after < plain.after and deduped.kept >= plain.kept]
    return ToolDraft("*", rule=rule, sample=_sample(rule, evidence(training)))


def _sample(rule: DraftRule, returns: Sequence[RecordedReturn]) -> RecordedReturn | None:
    """Return the best return to show what a rule does: one that all steps change, without losses, used and short."""
    ruleset = compiled(rule)

    def rank(one: RecordedReturn) -> tuple[bool, int, bool, bool, bool, int]:
        outcome = attempt(ruleset, one.tool, one.content)
        left = left_by(outcome, one)
        idle = sum(not step.changed for step in outcome.steps)
        return left.chars >= one.chars, idle, bool(left.lost), left.chars > 0.8 * one.chars, not one.used, one.chars

    best = min(((rank(one), number) for number, one in enumerate(returns)), default=None)
    return None if best is None or best[0][0] else returns[best[1]]


# --- the choice


class Worth(NamedTuple):
    """The characters that a rule saves on returns, and the used values that it loses."""

    saved: float
    lost: float


Choices = Mapping[float, Candidate | None]
"""The best candidate of a tool for each share of the used values that it may lose; None is the default rule."""


def _choose(
    histories: Sequence[Recording], by_tool: Mapping[str, Candidates], effect_of_default: Try, keep: float
) -> dict[str, Candidate | None]:
    """Return the candidate of each tool. Together they save most, and keep enough on tasks not chosen on."""
    fold_of = folds(histories, _FOLDS)

    def choices(fold: int) -> dict[str, Choices]:
        some = [one for one in histories if fold_of[one.task] != fold]
        return {tool: _choices(one, evidence(some, tool), effect_of_default) for tool, one in by_tool.items()}

    chosen = [choices(fold) for fold in range(_FOLDS)]

    def score_shares(shares: Mapping[str, float]) -> Scores:
        def effect(one: RecordedReturn) -> Effect:
            candidate = chosen[fold_of[one.task]][one.tool][shares[one.tool]] if one.tool in by_tool else None
            return effect_of_default(one) if candidate is None else by_tool[one.tool].effect(candidate, one)

        return scored(histories, effect)

    found = {share: score_shares(dict.fromkeys(by_tool, share)).tools for share in _SHARES}
    best, most = dict.fromkeys(by_tool, _NO_RULE), 0.0
    for price in _PRICES:
        nets = {
            tool: {share: found[share][tool].kept * price - found[share][tool].after for share in _SHARES}
            for tool in by_tool
        }
        shares = {tool: max(net, key=net.__getitem__) for tool, net in nets.items()}
        scores = score_shares(shares)
        if scores.total.saved > most and keeps_enough(scores, keep - _TOLERANCE):
            best, most = shares, scores.total.saved
    final = choices(_FOLDS)  # no task is in this fold
    return {tool: final[tool][share] for tool, share in best.items()}


def keeps_enough(scores: Scores, least: float) -> bool:
    """Return whether other tasks keep a share of the references, in total and in each source with many references."""
    many = [score for score in scores.sources.values() if score.references >= _MANY]
    return scores.total.at_least >= least and all(score.retention >= least for score in many)


def _choices(candidates: Candidates, returns: Sequence[RecordedReturn], effect_of_default: Try) -> Choices:
    """Return the best candidate on returns for each share."""
    least = _MIN_CUT * sum(one.chars for one in returns)
    found: list[tuple[Worth, Candidate | None]] = [(_worth(returns, effect_of_default), None)]
    for base in range(len(candidates.bases)):
        worths = _worths(returns, candidates, base)
        for cuts in dict.fromkeys(_best_cuts(worths, price, least + price * _PRIOR) for price in _PRICES):
            parts = [worth[cut] for worth, cut in zip(worths, cuts, strict=True)]
            found.append((Worth(*map(sum, zip(*parts, strict=True))), Candidate(base, cuts)))
    uses, fewest = sum(len(one.used) * one.weight for one in returns), min(worth.lost for worth, _ in found)
    best: dict[float, Candidate | None] = {_NO_RULE: None}
    for share in _SHARES[:-1]:
        allowed = [one for one in found if one[0].lost <= max(fewest, share * uses)]
        best[share] = max(allowed, key=lambda one: one[0].saved)[1]
    return best


def _best_cuts(worths: Sequence[Mapping[Cut, Worth]], price: float, least: float) -> tuple[Cut, ...]:
    """Return the cuts for all sizes that are worth most at a price; every further cut must save `least` characters."""
    best: dict[Cut, tuple[float, tuple[Cut, ...]]] = {WHOLE: (0, ())}
    for of_size in worths:
        found: dict[Cut, tuple[float, tuple[Cut, ...]]] = {}
        for cut, worth in of_size.items():
            milder = [(net - least * (cut != last), cuts) for last, (net, cuts) in best.items() if cut.is_within(last)]
            net, cuts = max(milder, key=lambda one: one[0])
            found[cut] = (net + worth.saved - price * worth.lost, (*cuts, cut))
        best = found
    return max(best.values(), key=lambda one: one[0])[1]


def _worths(returns: Sequence[RecordedReturn], candidates: Candidates, base: int) -> list[dict[Cut, Worth]]:
    """Return the worth of each cut for each size; the smallest returns are not cut."""

    def worths(number: int, cuts: Sequence[Cut]) -> dict[Cut, Worth]:
        group = [one for one in returns if size_number(one) == number]
        return {cut: _worth(group, partial(candidates.tried, base, cut)) for cut in cuts}

    return [worths(0, [WHOLE]), *(worths(number, candidates.cuts) for number in range(1, len(SIZES)))]


def _worth(returns: Sequence[RecordedReturn], effect: Try) -> Worth:
    effects = [effect(one) for one in returns]
    saved = sum(one.chars - left.chars for one, left in zip(returns, effects, strict=True))
    return Worth(saved, sum(len(left.lost) * one.weight for one, left in zip(returns, effects, strict=True)))


def _draft(one: ToolDraft, name: str, returns: Sequence[RecordedReturn], *, trained: Score, held: Score) -> Draft:
    """Write a rule with its evidence, its scores on the training and held-out halves, and a test on its sample."""
    assert one.rule is not None
    chars, used = sum(each.chars for each in returns), sum(len(each.used) for each in returns)
    header = [
        "Drafted from recorded histories by `reducer learn`. Read it, and change what you know better.",
        f"Evidence: {len(returns):,} returns of {chars:,} characters. Agents later used {used:,} values from them.",
        *([f"{one.why.capitalize()}."] if one.why else []),
    ]
    for score, where in (trained, "all returns that it was learned from"), (held, "held-out returns"):
        if score.returns:
            lost = f"{score.references - score.kept:,} of {score.references:,} values are lost"
            header.append(f"On {where} ({score.returns:,}), it saves {score.saved:.0%} of the characters; {lost}.")
    return draft(one.rule, name, header, _test(one.rule, one.sample) if one.sample else None)


def _test(rule: DraftRule, sample: RecordedReturn) -> dict[str, Any]:
    left = attempt(compiled(rule), sample.tool, sample.content).content
    shown = left if type(left) is str else json.dumps(left, ensure_ascii=False)
    values = sorted(sample.used, key=lambda value: (-len(value), value))
    plain = [value for value in values if not value.startswith(NUMBER) and _PLAIN.fullmatch(value) and value in shown]
    name = "a recorded answer is shortened" + (", and what the agent used of it stays" if plain else "")
    expected: dict[str, Any] = {"min_reduction": f"{int(100 * (1 - size(left) / size(sample.content)))}%"}
    expected |= {"contains": plain[:_MAX_CONTAINED]} if plain else {}
    return {"name": name, "sample": sample.content, "expect": expected}
