"""Drafts with evidence: from recorded histories to a rule for each tool, and a default rule for all others.

The candidates for a tool combine steps that lose nothing with one cut of a given size. The worth of a candidate is the
number of characters that it saves, minus a price for each lost value that agents used later. Cross-validation over the
tasks finds the price for each tool that saves most and, most probably, keeps enough on other tasks.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import accumulate, product, takewhile
from typing import Any, NamedTuple

from reducer.analysis.drafting.evidence import (
    Effect,
    RecordedReturn,
    Recording,
    Score,
    Scores,
    evidence,
    scored,
    split,
)
from reducer.analysis.drafting.profiles import Entry, Path, Profile, profile
from reducer.analysis.drafting.ranking import key_text
from reducer.analysis.drafting.rule_text import Draft, DraftRule, Step, at, compiled, draft, file_names
from reducer.analysis.measures import size
from reducer.engine import attempt
from reducer.formats import decode
from reducer.references import NUMBER, occurrences, searched, searcher
from reducer.rules import Ruleset
from reducer.rules.choose import is_glob

PRICES = tuple(round(250 * 1.3**number) for number in range(22))
"""Prices of one lost value in characters: low prices allow almost any loss, high prices almost none."""
_PRIOR = 0.25
"""The share of one more value that counts as lost, because few observations prove little."""
_FOLDS = 4
_MIN_CHARS, _MIN_RETURNS, _MIN_TASKS, _MIN_USES = 400, 4, 3, 5
"""Shorter returns are left alone. Fewer returns, tasks or values used later are too little evidence."""
_MIN_SAVED = 0.01
"""The share of a tool's characters that each step or cut must save; small savings do not generalise."""
_SIZES = {
    "truncate": (400, 800, 1500, 2000, 3000, 4000, 6000, 8000, 12000, 16000),
    "max_chars": (2000, 3000, 4000, 6000, 8000, 16000),
}
"""The cuts to try, from strict to harmless."""
_DEFAULT_SIZES, _UNPROVEN = (4000, 6000, 8000, 12000, 16000, 24000, 48000), 12000
"""The characters that the default rule leaves of texts and of returns, and those without enough evidence."""
_TOLERANCE = 0.02
"""Other tasks may keep this much less than they should."""
_PER_ENTITY = 400
"""The default rule restores one indicator for this many characters of its size."""
_UNCUT = 1_000_000
"""The `max_chars` of a rule that leaves its tool alone."""
_MIN_KEY_USES, _MIN_ANSWERS, _MIN_PRESENT = 20, 5, 0.6
"""Evidence that a key is unused: uses of the tool, returns with the key, and share of the objects that have it."""
_STATIC = re.compile(r"[A-Za-z_@$][A-Za-z_@$ -]*(?:\d{1,2}[A-Za-z_]*)?")
"""Names of keys, as opposed to ids, addresses and dates."""
_MENTIONED = range(2, 61)
"""Every mention of a value counts as a use if the value has this many characters."""
_MIN_ROWS, _MAX_END = 20, 8
_LITERAL = re.compile(r"[\w .:/-]{0,20}")
"""Texts that rows may end in; longer texts are data."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@-]{3,79}")
_MAX_CONTAINED = 3
_MAX_TOOL = 200

UNWRAP = Step({"unwrap": True}, "JSON in texts is shown as the value that it encodes")
COMPACT = Step({"compact": True}, "Keys without a value are dropped")
_LINES = {"lines": True, "dedupe": {"ignore": "digits", "keep": 3}, "when": {"where": "type([0]) == 'string'"}}
DEDUPE = Step(_LINES, "Of lines of text that differ only in numbers, three stay")


class Candidate(NamedTuple):
    """A possible rule of a tool.

    base: the index of its steps in `Candidates.bases`
    action: `truncate` or `max_chars`, with its size, or empty for no cut
    """

    base: int = 0
    action: str = ""
    size: int = 0


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
    keep: float
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
    by_tool = {tool: find_candidates(training, tool) for tool, why in lacking.items() if not why}
    validated = _cross_validate(training, by_tool)
    chosen = _choose(training, by_tool)
    default = _default(training, keep)
    alone = _score(training, {"*": compiled(default.rule)} if default.rule is not None else {})
    tools = [ToolDraft(tool, why) for tool, why in lacking.items() if why]
    for tool, candidates in by_tool.items():
        enough = [
            (found.tools[tool].saved, price)
            for price, found in validated
            if found.at_least(tool) >= keep - _TOLERANCE
            or (found.tools[tool].retention == 1 and not chosen[price, tool].action)
        ]
        candidate = chosen[max(enough)[1], tool] if enough else Candidate()
        tools.append(_tool_draft(candidates, candidate, alone.tools[tool], keep))
    tools.sort(key=lambda one: one.tool)
    rules = {one.tool: compiled(one.rule) for one in (*tools, default) if one.rule is not None}
    return Learned(
        training=training,
        held=held,
        keep=keep,
        tools=tools,
        default=default,
        trained=_score(training, rules),
        measured=_score(held, rules),
        unseen=_score(held, {"*": rules["*"]} if "*" in rules else {}).total,
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


def _lacking(returns: Sequence[RecordedReturn]) -> str:
    """Describe the evidence that a tool lacks; empty if there is enough."""
    large = [one for one in returns if one.chars >= _MIN_CHARS]
    tasks, uses = len({one.task for one in large}), sum(len(one.used) for one in large)
    if not large:
        return f"small: no return of {_MIN_CHARS} characters or more"
    if len(large) < _MIN_RETURNS or tasks < _MIN_TASKS:
        return f"thin evidence: fewer than {_MIN_RETURNS} returns of {_MIN_CHARS} characters, or {_MIN_TASKS} tasks"
    return f"thin evidence: fewer than {_MIN_USES} values used later" if uses < _MIN_USES else ""


def _tool_draft(candidates: Candidates, candidate: Candidate, default: Score, keep: float) -> ToolDraft:
    """Draft the rule of a tool if the default rule, with its score on the tool, is not as good."""
    tool, returns, rule = candidates.tool, candidates.returns, candidates.rule(candidate)
    if rule is None:
        is_lossy = default.retention < keep - _TOLERANCE
        uncut = DraftRule(tool, (), {"max_chars": _UNCUT}) if is_lossy else None
        return ToolDraft(tool, "left alone: no candidate keeps enough, or what it saves is too little", uncut)
    effects = [candidates.effect(candidate, one) for one in returns]
    after, lost = sum(left.chars for left in effects), sum(len(left.absent) for left in effects)
    if default.saved >= 1 - after / sum(one.chars for one in returns) and default.kept >= default.references - lost:
        return ToolDraft(tool, "the default rule is as good")
    return ToolDraft(tool, rule=rule, sample=_sample(rule, returns))


def _default(training: Sequence[Recording], keep: float) -> ToolDraft:
    """Learn the default rule: the one that saves most, loses half of what may be lost, and twice that for no tool."""
    found: list[tuple[float, DraftRule]] = []
    for most in _DEFAULT_SIZES if len({history.task for history in training}) >= _MIN_TASKS else ():
        cut = Step({"truncate": _ends(most)}, f"Texts of more than {most:,} characters are cut in the middle")
        for steps in ((UNWRAP, COMPACT, cut), (UNWRAP, COMPACT, DEDUPE, cut)):
            rule = DraftRule("*", steps, {"preserve": {"ioc": most // _PER_ENTITY}, "max_chars": most})
            scores = _score(training, {"*": compiled(rule)})
            reliable = [one for one in (scores.total, *scores.tools.values()) if one.references >= 4 * _MIN_USES]
            is_proven = scores.total.retention >= (1 + keep) / 2 and scores.total.at_least >= keep - _TOLERANCE
            is_enough = is_proven if reliable else most == _UNPROVEN
            if is_enough and all(one.retention >= 2 * keep - 1 for one in reliable):
                found.append((scores.total.saved, rule))
    best = max(found, key=lambda one: one[0])[1] if found else None
    if best is not None and (sample := _sample(best, evidence(training))) is not None:
        return ToolDraft("*", rule=best, sample=sample)
    return ToolDraft("*", "no default rule: too little evidence, or nothing to save")


def _ends(size: int) -> dict[str, int]:
    return {"head": size * 7 // 10, "tail": size * 3 // 10}


def _sample(rule: DraftRule, returns: Sequence[RecordedReturn]) -> RecordedReturn | None:
    """Return the best return to show what a rule does: one without losses, at least a fifth shorter, used and short."""
    ruleset = compiled(rule)

    def rank(one: RecordedReturn) -> tuple[bool, bool, bool, bool, int]:
        left = _effect(ruleset, one, one.used)
        return left.chars >= one.chars, bool(left.absent), left.chars > 0.8 * one.chars, not one.used, one.chars

    best = min(((rank(one), number) for number, one in enumerate(returns)), default=None)
    return None if best is None or best[0][0] else returns[best[1]]


def _score(histories: Sequence[Recording], rules: Mapping[str, Ruleset]) -> Scores:
    """Score the rule of each tool, or the default rule `*`, on histories."""

    def effect(one: RecordedReturn) -> Effect:
        rule = rules.get(one.tool, rules.get("*"))
        return Effect(one.chars) if rule is None else _effect(rule, one, one.used)

    return scored(histories, effect)


def _effect(ruleset: Ruleset, one: RecordedReturn, values: frozenset[str]) -> Effect:
    """Return the effect of a rule on a return, which contains all `values`."""
    left = attempt(ruleset, one.tool, one.content).content
    return Effect(one.chars) if left is one.content else Effect(size(left), values - searcher(values)(searched(left)))


# --- candidates


def _choose(histories: Sequence[Recording], by_tool: Mapping[str, Candidates]) -> dict[tuple[int, str], Candidate]:
    """Return the best candidate on histories for each price and tool."""
    chosen: dict[tuple[int, str], Candidate] = {}
    for tool, candidates in by_tool.items():
        worths = [*_savings(evidence(histories, tool), candidates)]
        for price in PRICES:
            net = [saved - price * lost for _, saved, lost in worths]
            chosen[price, tool] = worths[net.index(max(net))][0]
    return chosen


def _savings(returns: Sequence[RecordedReturn], candidates: Candidates) -> Iterator[tuple[Candidate, float, float]]:
    """Yield each candidate with the characters that it saves on returns and the used values that it may lose."""
    chars = sum(one.chars for one in returns)
    for candidate in candidates.every():
        effects = [(one, candidates.effect(candidate, one)) for one in returns]
        saved = chars - sum(left.chars for _, left in effects)
        lost = sum(len(left.absent & one.used) * one.weight for one, left in effects)
        if candidate.action:
            at_risk = sum(len(one.used) * one.weight for one in returns if one.chars > candidate.size)
            lost = (at_risk + _PRIOR) * (lost + _PRIOR) / (at_risk + 2 * _PRIOR)
        yield candidate, saved - _MIN_SAVED * chars * bool(candidate.action), lost


def _cross_validate(histories: Sequence[Recording], by_tool: Mapping[str, Candidates]) -> list[tuple[int, Scores]]:
    """Score each price: choose candidates on three quarters of the tasks, score them on the other, four times."""
    folds = {task: number % _FOLDS for number, task in enumerate(sorted({one.task for one in histories}))}
    chosen = [_choose([one for one in histories if folds[one.task] != fold], by_tool) for fold in range(_FOLDS)]

    def effect(price: int, one: RecordedReturn) -> Effect:
        if one.tool not in by_tool:
            return Effect(one.chars)
        return by_tool[one.tool].effect(chosen[folds[one.task]][price, one.tool], one)

    return [(price, scored(histories, partial(effect, price))) for price in PRICES]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates for one tool, and the returns that they are tried on.

    bases: combinations of steps that lose nothing; the first is empty
    """

    tool: str
    returns: Sequence[RecordedReturn]
    bases: tuple[tuple[Step, ...], ...]

    def every(self) -> list[Candidate]:
        """Return all candidates."""
        cuts = [(action, size) for action, sizes in _SIZES.items() for size in sizes]
        bases = range(len(self.bases))
        return [*map(Candidate, bases), *(Candidate(base, *cut) for base, cut in product(bases, cuts))]

    @cached_property
    def effect(self) -> Callable[[Candidate, RecordedReturn], Effect]:
        """The function that tries a candidate on a return, once for each pair."""
        rules = {candidate: self.rule(candidate) for candidate in self.every()}
        rulesets = {one: compiled(replace(rule, tool="*")) for one, rule in rules.items() if rule is not None}

        @cache
        def effect(candidate: Candidate, one: RecordedReturn) -> Effect:
            if candidate.action and (uncut := effect(Candidate(candidate.base), one)).chars <= candidate.size:
                return uncut
            return _effect(rulesets[candidate], one, one.used) if candidate in rulesets else Effect(one.chars)

        return effect

    def rule(self, candidate: Candidate) -> DraftRule | None:
        """Return the rule of a candidate with its evidence, or None if it does nothing."""
        steps = [*self.bases[candidate.base]]
        settings: dict[str, Any] = {}
        # Cuts preserve indicators by default, but the evidence shows which values are used.
        if candidate.action == "max_chars":
            settings = {"preserve": [], "max_chars": candidate.size}
        elif candidate.action:
            cut = {"truncate": _ends(candidate.size), "preserve": []}
            steps.append(Step(cut, _reason(self.returns, candidate.size)))
        notes = {"max_chars": f"{_reason(self.returns, candidate.size)}."} if settings else {}
        return DraftRule(self.tool, tuple(steps), settings, notes) if steps or settings else None


def find_candidates(histories: Sequence[Recording], tool: str) -> Candidates:
    """Return the candidates for a tool."""
    returns = evidence(histories, tool)
    root = profile(one.content for one in returns)
    return Candidates(tool, returns, _bases(root, returns))


def _bases(root: Profile, returns: Sequence[RecordedReturn]) -> tuple[tuple[Step, ...], ...]:
    """Return the combinations of steps that save enough and lose nothing: none, all, and all with JSON unwrapped.

    Cuts treat unwrapped JSON value by value and other texts as a whole. Only a trial shows which is better.
    """
    drops = [step for step in (*_unused_keys(root, returns), *_row_ends(returns)) if _is_lossless(step, returns)]
    lossless = ([COMPACT] if _is_lossless(COMPACT, returns) else []) + drops
    unwrapped = [UNWRAP, COMPACT, *drops] if _is_lossless(UNWRAP, returns) else []
    return ((), *(tuple(steps) for steps in (lossless, unwrapped) if steps))


def _is_lossless(step: Step, returns: Sequence[RecordedReturn]) -> bool:
    """Return whether a step saves enough and loses no used value."""
    try:
        ruleset = compiled(DraftRule("*", (step,)))
    except ValueError:  # for example a key that cannot be written
        return False
    effects = [_effect(ruleset, one, one.used) for one in returns]
    before, after = sum(one.chars for one in returns), sum(one.chars for one in effects)
    return before - after >= max(1, _MIN_SAVED * before) and not any(one.absent for one in effects)


def _unused_keys(root: Profile, returns: Sequence[RecordedReturn]) -> Iterator[Step]:
    """Yield steps that drop the frequent keys whose values were never used."""
    searches, uses = [searcher(one.used) for one in returns], sum(len(one.used) for one in returns)

    def is_used(entry: Entry) -> bool:
        text = searched([entry.value])
        is_mentioned = len(text) in _MENTIONED and any(occurrences(text, returns[entry.answer].written))
        return is_mentioned or bool(searches[entry.answer](text))

    def is_unused(name: str, below: Profile, objects: int) -> bool:
        is_frequent = len(below.entries) >= _MIN_PRESENT * objects and below.chars >= _MIN_SAVED * root.chars
        if not is_frequent or not _STATIC.fullmatch(name) or len({one.answer for one in below.entries}) < _MIN_ANSWERS:
            return False
        return not any(is_used(entry) for place in below.walk() if not place.below for entry in place.entries)

    dropped: set[Path] = set()
    for place in root.walk() if uses >= _MIN_KEY_USES else ():
        keys = place.keys
        unused = [name for name in sorted(keys) if is_unused(name, keys[name], place.objects)]
        # An object with only unused keys is dropped with its own key, or not at all.
        if dropped.isdisjoint(accumulate((token,) for token in place.path)) and 0 < len(unused) < len(keys):
            dropped.update((*place.path, name) for name in unused)
            names, share = [*map(key_text, unused)], sum(keys[name].chars for name in unused) / root.chars
            reason = f"{', '.join(names)}: {share:.0%} of the characters, 0 of {uses:,} later uses"
            yield Step(at(place.path, {"drop": names}), reason)


def _row_ends(returns: Sequence[RecordedReturn]) -> Iterator[Step]:
    """Yield a step for each width of rows that removes their most frequent end, if no agent used it."""
    used = frozenset[str]().union(*(one.used for one in returns))
    rows_by_end: dict[tuple[int, tuple[str | None, ...]], list[int]] = defaultdict(list)

    def is_common(item: Any) -> bool:
        return item is None or (type(item) is str and item not in used and _LITERAL.fullmatch(item) is not None)

    for number, one in enumerate(returns):
        opened = decode(one.content) if type(one.content) is str else one.content
        for row in opened if type(opened) is list else ():
            end = tuple(takewhile(is_common, row[:0:-1]))[:_MAX_END][::-1] if type(row) is list else ()
            for start in range(len(end)):
                rows_by_end[len(row), end[start:]].append(number)
    frequent = [key for key, rows in rows_by_end.items() if len({*rows}) >= _MIN_RETURNS and len(rows) >= _MIN_ROWS]
    # `dict` keeps the last end of each width: the one with most characters.
    frequent.sort(key=lambda key: len(rows_by_end[key]) * sum(len(item or "") + 4 for item in key[1]))
    for width, end in dict(frequent).items():
        first, rows = width - len(end), rows_by_end[width, end]
        tests = [f"[{n}] == " + ("`null`" if item is None else f"'{item}'") for n, item in enumerate(end, first)]
        condition = " && ".join([f"length(@) == `{width}`", *tests])
        shown = ", ".join("null" if item is None else f'"{item}"' for item in end)
        reason = f"Rows that end in {shown}: {len(rows):,} in {len({*rows}):,} returns, 0 later uses"
        yield Step({"path": f"[?{condition}]", "limit": first}, reason)


def _reason(returns: Sequence[RecordedReturn], most: int) -> str:
    """Describe the returns with more than `most` characters and their share of all characters and uses."""
    inside = [one for one in returns if one.chars > most]
    share = sum(one.chars for one in inside) / max(1, sum(one.chars for one in returns))
    used, of = (sum(len(one.used) for one in some) for some in (inside, returns))
    counts = f"{len(inside):,} of {len(returns):,} returns, {share:.0%} of the characters"
    return f"More than {most:,} characters: {counts}, {used:,} of {of:,} later uses"


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
