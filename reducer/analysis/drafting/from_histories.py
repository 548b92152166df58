"""Drafts with evidence: from recorded histories to a rule for each tool, or the reason why there is none.

What a rule may do to the returns of one tool is a choice: steps that lose nothing, then one cut in a few strengths. A
choice is worth what it saves, minus a price for each value that agents used later and that it loses. Cross-validation
over the tasks finds the price that saves most and keeps enough.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from hashlib import blake2b
from itertools import product, takewhile
from typing import Any, NamedTuple

from reducer.analysis.drafting.evidence import (
    Effect,
    RecordedReturn,
    Recording,
    Score,
    Scores,
    Task,
    evidence,
    scored,
    split,
)
from reducer.analysis.drafting.from_answers import key_text
from reducer.analysis.drafting.profiles import Entry, Profile, profile
from reducer.analysis.drafting.rule_text import Draft, DraftRule, Step, at, compiled, draft, file_names
from reducer.analysis.measures import size
from reducer.engine import attempt
from reducer.entities.custom import word_error
from reducer.formats import decode
from reducer.paths.written import Token
from reducer.references import NUMBER, occurrences, searched, searcher
from reducer.rules import Ruleset
from reducer.rules.choose import is_glob

PRICES = tuple(round(250 * 1.3**number) for number in range(22))
"""Characters that the loss of one value may save: from almost everything to almost nothing."""
_PRIOR = 0.25
"""Part of one further value that is assumed lost: few observations are no certainty."""
_FOLDS = 4
_MIN_CHARS, _MIN_RETURNS, _MIN_TASKS, _MIN_USES = 400, 4, 3, 5
"""Shorter returns are left alone. Fewer returns, tasks or values used later are thin evidence."""
_MIN_SAVED = 0.01
"""Share of a tool's characters that each choice must save: few choices generalise."""
_SIZES = {
    "truncate": (400, 800, 1500, 2000, 3000, 4000, 6000, 8000, 12000, 16000),
    "max_chars": (2000, 3000, 4000, 6000, 8000, 16000),
}
"""The cuts that are tried, from strict to harmless."""
_DEFAULT_SIZES = (4000, 6000, 8000, 12000, 16000, 24000, 48000)
"""Characters of returns from which on the default rule cuts."""
_UNCUT = 1_000_000
"""`max_chars` of a rule that leaves its tool alone."""
_MAX_REUSED, _REUSED_CHARS = 200, range(4, 61)
"""Values that a rule names, and characters of one."""
_MARKER_CHARS = 4
"""Characters that a mention takes in a marker besides its own."""
_MIN_KEY_USES, _MIN_ANSWERS, _MIN_PRESENT = 20, 5, 0.6
"""Uses of a tool's returns, answers, and share of the objects that must have a key to tell that it is unused."""
_STATIC = re.compile(r"[A-Za-z_@$][A-Za-z_@$ -]*(?:\d{1,2}[A-Za-z_]*)?")
"""Names of keys that are no ids, addresses or dates."""
_MENTIONED = range(2, 61)
"""Characters of values of which every mention counts as a use."""
_MIN_ROWS, _MAX_END = 20, 8
_LITERAL = re.compile(r"[\w .:/-]{0,20}")
"""Texts that rows may end in: longer ones are data."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@-]{3,79}")
_MAX_CONTAINED = 3
_MAX_TOOL = 200

UNWRAP = Step({"unwrap": True}, "JSON in texts is shown as the value that it encodes")
COMPACT = Step({"compact": True}, "Keys without a value are dropped")

Uses = Mapping[str, set[Task]]
"""For each value the tasks in which it was used."""


class Choice(NamedTuple):
    """What to do with returns: the number of the steps that lose nothing (`base`), and what cuts to which size.

    `reused`: values that agents used in other tasks stay.
    """

    base: int = 0
    action: str = ""
    size: int = 0
    reused: bool = False


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
    validated = _cross_validate(training, known)
    enough = [(found.total.saved, price) for price, found in validated if found.least_retention >= keep]
    price = max(enough)[1] if enough else None
    chosen = _choose(training, known)
    default = _default(training, keep)
    tools = [
        ToolDraft(tool, why or "left alone: no choice keeps enough")
        if why or price is None
        else _tool_draft(known[tool], chosen[price, tool][0], default)
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
        trained=_score(training, rules),
        measured=_score(held, rules),
        unseen=_score(held, {"*": rules["*"]} if "*" in rules else {}).total,
    )


def drafts(learned: Learned) -> Iterator[Draft]:
    """Write every rule that was learned."""
    drafted = [one for one in learned.tools if one.rule is not None and is_writable(one.tool)]
    names = file_names((one.tool for one in drafted), taken="default")
    for one in drafted:
        trained, held = (scores.tools.get(one.tool, Score()) for scores in (learned.trained, learned.measured))
        yield _draft(one, names[one.tool], evidence(learned.training, one.tool), trained, held)
    if learned.default.rule is not None:
        yield _draft(learned.default, "default", evidence(learned.training), Score(), learned.unseen)


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


def _tool_draft(options: Options, choice: Choice, default: ToolDraft) -> ToolDraft:
    if (rule := options.rule(choice)) is not None:
        return ToolDraft(options.tool, rule=rule, sample=_sample(rule, options.returns))
    limit = default.rule.settings["max_chars"] if default.rule is not None else _UNCUT
    is_cut = any(one.chars >= limit for one in options.returns)
    alone = DraftRule(options.tool, (), {"max_chars": _UNCUT}) if is_cut else None
    return ToolDraft(options.tool, "left alone: what could be saved is not worth what would be lost", alone)


def _default(training: Sequence[Recording], keep: float) -> ToolDraft:
    """Learn the rule for unknown tools: the strictest that loses half of what may be lost, and no tool twice that."""
    tasks = {history.task for history in training}
    for most in _DEFAULT_SIZES if len(tasks) >= _MIN_TASKS else ():
        when, reason = {"min_chars": most}, f"From {most:,} characters on, long lists and texts are cut"
        cuts = Step({"limit": {"head": 3, "tail": 2}, "when": when}, reason), Step({"truncate": most, "when": when})
        rule = DraftRule("*", (UNWRAP, COMPACT, *cuts), {"max_chars": most + most // 2})
        scores = _score(training, {"*": compiled(rule)})
        known = [one for one in (scores.total, *scores.tools.values()) if one.references >= 4 * _MIN_USES]
        is_enough = scores.total in known and scores.total.retention >= (1 + keep) / 2
        sample = _sample(rule, evidence(training))
        if is_enough and all(one.retention >= 2 * keep - 1 for one in known) and sample is not None:
            return ToolDraft("*", rule=rule, sample=sample)
    return ToolDraft("*", "no default rule: too little evidence, or nothing to save")


def _sample(rule: DraftRule, returns: Sequence[RecordedReturn]) -> RecordedReturn | None:
    """Return a return that the rule shortens: best without a loss, by a fifth or more, with used values, and short."""
    ruleset = compiled(rule)
    effects = [(number, one, _effect(ruleset, one, one.used)) for number, one in enumerate(returns)]
    ranks = [
        (bool(left.absent), left.chars > 0.8 * one.chars, not one.used, one.chars, number)
        for number, one, left in effects
        if left.chars < one.chars
    ]
    return returns[min(ranks)[-1]] if ranks else None


def _score(histories: Sequence[Recording], rules: Mapping[str, Ruleset]) -> Scores:
    """Score the rule of each tool, or the default rule `*`, on histories."""

    def effect(one: RecordedReturn) -> Effect:
        rule = rules.get(one.tool, rules.get("*"))
        return Effect(one.chars) if rule is None else _effect(rule, one, one.used)

    return scored(histories, effect)


def _effect(ruleset: Ruleset, one: RecordedReturn, values: frozenset[str]) -> Effect:
    """Return the effect of a rule on a return and on `values`, all of which the return contains."""
    left = attempt(ruleset, one.tool, one.content).content
    return Effect(one.chars) if left is one.content else Effect(size(left), values - searcher(values)(searched(left)))


# --- choices


def _choose(histories: Sequence[Recording], known: Mapping[str, Options]) -> dict[tuple[int, str], tuple[Choice, Uses]]:
    """Return for each price and tool the best choice on histories, and the uses that it was chosen by."""
    chosen: dict[tuple[int, str], tuple[Choice, Uses]] = {}
    for tool, options in known.items():
        used = uses(histories, tool)
        worths = [*_worths(evidence(histories, tool), options, used)]
        for price in PRICES:
            net = [saved - price * lost for _, saved, lost in worths]
            chosen[price, tool] = worths[net.index(max(net))][0], used
    return chosen


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
        yield choice, saved - _MIN_SAVED * chars * bool(choice.action), lost


def _cross_validate(histories: Sequence[Recording], known: Mapping[str, Options]) -> list[tuple[int, Scores]]:
    """Score the choices at each price on every fourth task in turn, made from all other tasks."""
    folds = {task: number % _FOLDS for number, task in enumerate(sorted({one.task for one in histories}))}
    made = [_choose([one for one in histories if folds[one.task] != fold], known) for fold in range(_FOLDS)]

    def effect(price: int, one: RecordedReturn) -> Effect:
        if one.tool not in known:
            return Effect(one.chars)
        choice, used = made[folds[one.task]][price, one.tool]
        return known[one.tool].effect(choice, one, used)

    return [(price, scored(histories, partial(effect, price))) for price in PRICES]


@dataclass(frozen=True, eq=False)
class Options:
    """What there is to choose from for one tool.

    `bases` are combinations of steps that lose nothing, the first of none. `values` are the reused values.
    """

    tool: str
    returns: Sequence[RecordedReturn]
    bases: tuple[tuple[Step, ...], ...]
    values: tuple[str, ...]

    def choices(self) -> list[Choice]:
        """Return everything to choose from."""
        cuts = [(action, size) for action, sizes in _SIZES.items() for size in sizes]
        bases, reused = range(len(self.bases)), (False, True) if self.values else (False,)
        every = [Choice(base, *cut, keeps) for base, cut, keeps in product(bases, cuts, reused)]
        return [*map(Choice, bases), *every]

    @cached_property
    def _try(self) -> Callable[[Choice, RecordedReturn], Effect]:
        """The function that tries a choice on a return, once."""
        rules = {choice: self.rule(choice) for choice in self.choices() if not choice.reused}
        rulesets = {choice: compiled(replace(rule, tool="*")) for choice, rule in rules.items() if rule is not None}
        search = searcher(self.values)

        @cache
        def effect(choice: Choice, one: RecordedReturn) -> Effect:
            if choice.action and (uncut := effect(Choice(choice.base), one)).chars <= choice.size:
                return uncut
            if choice not in rulesets:
                return Effect(one.chars)
            return _effect(rulesets[choice], one, one.used | search(searched(one.content)))

        return effect

    def effect(self, choice: Choice, one: RecordedReturn, used: Uses) -> Effect:
        """Return the effect of a choice; if it keeps reused values, those of `used` in other tasks are kept."""
        left = self._try(choice._replace(reused=False), one)
        kept = {value for value in left.absent if used.get(value, set()) - {one.task}} if choice.reused else set()
        chars = left.chars + sum(len(value) + _MARKER_CHARS for value in kept)
        return Effect(min(one.chars, chars), left.absent - kept)

    def rule(self, choice: Choice) -> DraftRule | None:
        """Return the rule of a choice, with its evidence; None if it does nothing."""
        steps, kind = [*self.bases[choice.base]], _entity_type(self.tool)
        settings: dict[str, Any] = {}
        notes: dict[str, str] = {}
        if choice.reused:
            settings["entities"] = {kind: {"words": [*self.values], "case_sensitive": True}}
            notes["entities"] = f"{len(self.values):,} values that agents used, and that several tasks show: they stay."
        # Cuts preserve indicators by default. Here it is known what was used.
        preserve = {"preserve": [kind] * choice.reused}
        if choice.action == "max_chars":
            settings |= {**preserve, "max_chars": choice.size}
            notes["max_chars"] = f"{_reason(self.returns, choice.size)}."
        elif choice.action:
            steps.append(Step({choice.action: choice.size, **preserve}, _reason(self.returns, choice.size)))
        return DraftRule(self.tool, tuple(steps), settings, notes) if steps or settings else None


def find_options(histories: Sequence[Recording], tool: str) -> Options:
    """Return what there is to choose from for a tool."""
    returns = evidence(histories, tool)
    root = profile(one.content for one in returns)
    return Options(tool, returns, _bases(root, returns), _reused_values(uses(histories, tool), returns))


def uses(histories: Iterable[Recording], tool: str) -> Uses:
    """Return the values that a tool showed and agents used later, as far as name lists can hold them."""
    found: dict[str, set[Task]] = defaultdict(set)
    for history in histories:
        for value, places in history.references:
            is_short = len(value) in _REUSED_CHARS and not value.startswith(NUMBER)
            if is_short and not word_error(value) and any(history.returns[place].tool == tool for place in places):
                found[value].add(history.task)
    return found


def _bases(root: Profile, returns: Sequence[RecordedReturn]) -> tuple[tuple[Step, ...], ...]:
    """Return the combinations of steps that save enough and lose nothing: first none, last with JSON unwrapped.

    Unwrapped texts are cut value by value, others as a whole: which is better shows only when they are tried.
    """
    rest = [step for step in (*_unused_keys(root, returns), *_row_ends(returns)) if _is_free(step, returns)]
    free = ([COMPACT] if _is_free(COMPACT, returns) else []) + rest
    unwrapped = [UNWRAP, COMPACT, *rest] if _is_free(UNWRAP, returns) else []
    return ((), *(tuple(steps) for steps in (free, unwrapped) if steps))


def _is_free(step: Step, returns: Sequence[RecordedReturn]) -> bool:
    """Return whether a step saves enough and loses no used value."""
    try:
        ruleset = compiled(DraftRule("*", (step,)))
    except ValueError:  # for example a key that cannot be written
        return False
    effects = [_effect(ruleset, one, one.used) for one in returns]
    before, after = sum(one.chars for one in returns), sum(one.chars for one in effects)
    return before - after >= max(1, _MIN_SAVED * before) and not any(one.absent for one in effects)


def _unused_keys(root: Profile, returns: Sequence[RecordedReturn]) -> Iterator[Step]:
    """Yield the steps that drop keys that occur often and were never used."""
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

    dropped: set[tuple[Token, ...]] = set()
    for place in root.walk() if uses >= _MIN_KEY_USES else ():
        is_kept = all(place.path[:length] not in dropped for length in range(len(place.path) + 1))
        keys = place.keys
        unused = [name for name in sorted(keys) if is_unused(name, keys[name], place.objects)]
        # An object that has only unused keys is dropped by its own key, or not at all.
        if is_kept and 0 < len(unused) < len(keys):
            dropped.update((*place.path, name) for name in unused)
            names, share = [*map(key_text, unused)], sum(keys[name].chars for name in unused) / root.chars
            reason = f"{', '.join(names)}: {share:.0%} of the characters, 0 of {uses:,} later uses"
            yield Step(at(place.path, {"drop": names}), reason)


def _row_ends(returns: Sequence[RecordedReturn]) -> Iterator[Step]:
    """Yield for each width of rows the step that cuts off what many of them end in, if no agent used it."""
    used = frozenset[str]().union(*(one.used for one in returns))
    found: dict[tuple[int, tuple[str | None, ...]], list[int]] = defaultdict(list)

    def is_common(item: Any) -> bool:
        return item is None or (type(item) is str and item not in used and _LITERAL.fullmatch(item) is not None)

    for number, one in enumerate(returns):
        opened = decode(one.content) if type(one.content) is str else one.content
        for row in opened if type(opened) is list else ():
            backwards = takewhile(is_common, row[:0:-1]) if type(row) is list else ()
            end = tuple(backwards)[:_MAX_END][::-1]
            for start in range(len(end)):
                found[len(row), end[start:]].append(number)
    frequent = {key: rows for key, rows in found.items() if len(set(rows)) >= _MIN_RETURNS and len(rows) >= _MIN_ROWS}
    # Of the ends of one width, the one with most characters is last.
    by_size = sorted(frequent, key=lambda key: len(frequent[key]) * sum(len(item or "") + 4 for item in key[1]))
    for width, end in dict(by_size).items():
        first, rows = width - len(end), frequent[width, end]
        tests = [f"[{n}] == " + ("`null`" if item is None else f"'{item}'") for n, item in enumerate(end, first)]
        condition = " && ".join([f"length(@) == `{width}`", *tests])
        shown = ", ".join("null" if item is None else f'"{item}"' for item in end)
        reason = f"Rows that end in {shown}: {len(rows):,} in {len(set(rows)):,} returns, 0 later uses"
        yield Step({"path": f"[?{condition}]", "limit": first}, reason)


def _reused_values(used: Uses, returns: Sequence[RecordedReturn]) -> tuple[str, ...]:
    """Return the used values that a tool shows in two tasks or more, at most those that were used in most tasks."""
    search = searcher(used)
    shown: dict[str, set[Task]] = defaultdict(set)
    for one in returns:
        for value in search(searched(one.content)):
            shown[value].add(one.task)
    again = [value for value, tasks in shown.items() if len(tasks) > 1]
    return tuple(sorted(again, key=lambda value: (-len(used[value]), value))[:_MAX_REUSED])


def _entity_type(tool: str) -> str:
    """Return the name of the entity type for the reused values of a tool: no other tool has it."""
    name = re.sub("[^a-z0-9]+", "_", tool.lower()).strip("_")[:24]
    digest = blake2b(tool.encode("utf-8", "replace"), digest_size=2).hexdigest()
    return f"used_{name}" if name == tool else f"used_{name or 'tool'}_{digest}"


def _reason(returns: Sequence[RecordedReturn], most: int) -> str:
    """Return how many returns have so many characters, and how much of everything is in them."""
    inside = [one for one in returns if one.chars > most]
    share = sum(one.chars for one in inside) / max(1, sum(one.chars for one in returns))
    used, of = (sum(len(one.used) for one in some) for some in (inside, returns))
    counts = f"{len(inside):,} of {len(returns):,} returns, {share:.0%} of the characters"
    return f"More than {most:,} characters: {counts}, {used:,} of {of:,} later uses"


def _draft(one: ToolDraft, name: str, returns: Sequence[RecordedReturn], trained: Score, held: Score) -> Draft:
    """Write a rule with the evidence for it, and a test on its sample; the scores are of the training and held half."""
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
