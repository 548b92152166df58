"""Drafts with evidence: from recorded histories to a rule for each tool, and a default rule for all others.

The rule of a tool drops what no agent used, and cuts returns according to their size. One number decides how strict it
is: the share of the values that agents used later and that it may lose. Cross-validation over the tasks finds the
shares with which all rules together save most and, most probably, keep enough on other tasks.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

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
from reducer.analysis.drafting.profiles import Entry, Path, Profile, profile
from reducer.analysis.drafting.ranking import is_writable_path, key_text
from reducer.analysis.drafting.rule_text import Draft, DraftRule, Step, at, compiled, draft, ends, file_names
from reducer.analysis.measures import size
from reducer.engine import Outcome, attempt
from reducer.formats import decode
from reducer.references import NUMBER, occurrences, searched, searcher
from reducer.rules import Ruleset
from reducer.rules.choose import is_glob

_NO_RULE = -1.0
_SHARES = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, _NO_RULE)
"""Shares of the used values that the rule of a tool may lose on the histories that it is chosen on."""
_PRICES = (*(round(500 * 1.3**number) for number in range(26)), 10**9)
"""Prices of one lost value in characters."""
_PRIOR = 0.5
"""The values that each cut may lose in addition to those observed: few observations prove little."""
_FOLDS = 4
_TOLERANCE, _MANY = 0.02, 50
"""Other tasks may keep this much less than they should, in total and in sources with this many references."""
_MIN_CHARS, _MIN_RETURNS, _MIN_TASKS, _MIN_USES = 400, 4, 3, 20
"""Shorter returns are left alone. Fewer returns, tasks or values used later are too little evidence."""
_MIN_SAVED, _MIN_CUT = 0.01, 0.005
"""The shares of a tool's characters that each step, and each cut, must save; small savings do not generalise."""
_SIZES = (0, 1000, 2000, 4000, 9000)
"""Returns of at least this many characters are cut alike, unless they have the next size. The smallest stay whole."""
_DEFAULT, _MAX_DEFAULT = 12000, 15000
"""The characters that the default rule leaves of a text, and of a return."""
_MARKER = 100
"""The characters that the marker of a cut has at most, without mentions."""
_PER_ADDRESS = 800
"""The default rule restores one address for this many characters of its size."""
_UNCUT = 1_000_000
"""The `max_chars` of a rule that leaves its tool alone."""
_MIN_ANSWERS, _MIN_PRESENT = 5, 0.6
"""Evidence that a key is unused: returns with the key, and share of the objects that have it."""
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

Try = Callable[[RecordedReturn], Effect]
"""Tries a rule on a return."""

UNWRAP = Step({"unwrap": True}, "JSON in texts is shown as the value that it encodes")
COMPACT = Step({"compact": True}, "Keys without a value are dropped")
_LINES = {"lines": True, "dedupe": {"ignore": "digits", "keep": 3}, "when": {"where": "type([0]) == 'string'"}}
DEDUPE = Step(_LINES, "Of lines of text that differ only in numbers, three stay")


class Cut(NamedTuple):
    """What stays of a return: the records of its longest list, and the head and tail of each text, in characters."""

    rows: int = _UNCUT
    head: int = _UNCUT
    tail: int = _UNCUT

    def is_within(self, other: Cut) -> bool:
        """Return whether nothing stays that the other cut removes."""
        return self.rows <= other.rows and self.head <= other.head and self.tail <= other.tail


_WHOLE = Cut()
_TEXTS = [Cut(head=size, tail=0) for size in (6000, 3000, 2000, 1500, 1000, 600, 300, 100)]
_TEXTS += [Cut(_UNCUT, **ends(size)) for size in (6000, 3000, 1500, 600, 100)]
_ROWS = [
    Cut(rows, *text[1:]) for rows in (8, 3) for text in (_WHOLE, Cut(_UNCUT, **ends(400)), Cut(_UNCUT, **ends(100)))
]


class Candidate(NamedTuple):
    """A possible rule of a tool: the index of its steps that lose nothing, and the cut for each of `_SIZES`.

    The cut of a size is within that of the size before, because the steps of smaller sizes apply too.
    """

    base: int
    cuts: tuple[Cut, ...]


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
    effect_of_default = _cached_effect(default.rule)
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
        return Effect(one.chars) if rule is None else _effect(rule, one)

    return scored(histories, effect)


def _lacking(returns: Sequence[RecordedReturn]) -> str:
    """Describe the evidence that a tool lacks; empty if there is enough."""
    large = [one for one in returns if one.chars >= _MIN_CHARS]
    tasks, uses = len({one.task for one in large}), sum(len(one.used) for one in large)
    if not large:
        return f"small: no return of {_MIN_CHARS} characters or more"
    if len(large) < _MIN_RETURNS or tasks < _MIN_TASKS:
        return f"thin evidence: fewer than {_MIN_RETURNS} returns of {_MIN_CHARS} characters, or {_MIN_TASKS} tasks"
    return f"thin evidence: fewer than {_MIN_USES} values used later" if uses < _MIN_USES else ""


def _tool_draft(candidates: Candidates, candidate: Candidate | None) -> ToolDraft:
    """Draft the rule of a tool from its candidate, or None for the default rule."""
    if candidate is None:
        return ToolDraft(candidates.tool, "the default rule is as good")
    rule = candidates.rule(candidate)
    if rule is None:
        uncut = DraftRule(candidates.tool, (), {"max_chars": _UNCUT})
        return ToolDraft(candidates.tool, "left alone: nothing can be removed at this price", uncut)
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
    plain, deduped = (scored(training, _cached_effect(rule)).total for rule in rules)
    rule = rules[deduped.after < plain.after and deduped.kept >= plain.kept]
    return ToolDraft("*", rule=rule, sample=_sample(rule, evidence(training)))


def _sample(rule: DraftRule, returns: Sequence[RecordedReturn]) -> RecordedReturn | None:
    """Return the best return to show what a rule does: one that all steps change, without losses, used and short."""
    ruleset = compiled(rule)

    def rank(one: RecordedReturn) -> tuple[bool, int, bool, bool, bool, int]:
        outcome = attempt(ruleset, one.tool, one.content)
        left = _left(outcome, one)
        idle = sum(not step.changed for step in outcome.steps)
        return left.chars >= one.chars, idle, bool(left.lost), left.chars > 0.8 * one.chars, not one.used, one.chars

    best = min(((rank(one), number) for number, one in enumerate(returns)), default=None)
    return None if best is None or best[0][0] else returns[best[1]]


def _effect(ruleset: Ruleset, one: RecordedReturn) -> Effect:
    """Return the effect of a rule on a return."""
    return _left(attempt(ruleset, one.tool, one.content), one)


def _left(outcome: Outcome, one: RecordedReturn) -> Effect:
    left = outcome.content
    if left is one.content:
        return Effect(one.chars)
    return Effect(size(left), one.used - searcher(one.used)(searched(left)) if one.used else one.used)


# --- the choice


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
    found: list[tuple[float, float, Candidate | None]] = [(*_saved_and_lost(returns, effect_of_default), None)]
    least = _MIN_CUT * sum(one.chars for one in returns)
    for base in range(len(candidates.bases)):
        worths = [
            {
                cut: _saved_and_lost(
                    [one for one in returns if _size(one) == size], partial(candidates.tried, base, cut)
                )
                for cut in (candidates.cuts if size else [_WHOLE])
            }
            for size in range(len(_SIZES))
        ]
        for cuts in dict.fromkeys(_best_cuts(worths, price, least + price * _PRIOR) for price in _PRICES):
            parts = [worth[cut] for worth, cut in zip(worths, cuts, strict=True)]
            found.append((sum(saved for saved, _ in parts), sum(lost for _, lost in parts), Candidate(base, cuts)))
    uses, fewest = sum(len(one.used) * one.weight for one in returns), min(lost for _, lost, _ in found)
    most = {share: max(fewest, share * uses) for share in _SHARES}
    best = {share: max((one for one in found if one[1] <= most[share]), key=lambda one: one[0]) for share in _SHARES}
    return {share: candidate for share, (_, _, candidate) in best.items()} | {_NO_RULE: None}


def _best_cuts(worths: Sequence[Mapping[Cut, tuple[float, float]]], price: float, least: float) -> tuple[Cut, ...]:
    """Return the cuts for all sizes that are worth most at a price; every further cut must save `least` characters.

    worths: for each size, the characters that each cut saves, and the values that it loses
    """
    best: dict[Cut, tuple[float, tuple[Cut, ...]]] = {_WHOLE: (0, ())}
    for worth in worths:
        found: dict[Cut, tuple[float, tuple[Cut, ...]]] = {}
        for cut, (saved, lost) in worth.items():
            milder = [
                (net - (least if cut != last else 0), cuts) for last, (net, cuts) in best.items() if cut.is_within(last)
            ]
            net, cuts = max(milder, key=lambda one: one[0])
            found[cut] = (net + saved - price * lost, (*cuts, cut))
        best = found
    return max(best.values(), key=lambda one: one[0])[1]


def _saved_and_lost(returns: Iterable[RecordedReturn], effect: Try) -> tuple[float, float]:
    """Return the characters that a rule saves on returns, and the used values that it loses."""
    effects = [(one, effect(one)) for one in returns]
    return sum(one.chars - left.chars for one, left in effects), sum(
        len(left.lost) * one.weight for one, left in effects
    )


# --- candidates


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates for one tool, and the returns that they are tried on.

    bases: combinations of steps that lose nothing; the first may be empty
    table: the path of the list whose records hold most characters, if there is one
    """

    tool: str
    returns: Sequence[RecordedReturn]
    bases: tuple[tuple[Step, ...], ...]
    table: Path | None

    @property
    def cuts(self) -> list[Cut]:
        """The possible cuts, the mildest first."""
        return [_WHOLE, *_TEXTS, *(_ROWS if self.table is not None else ())]

    @cached_property
    def _tries(self) -> Mapping[tuple[int, Cut], Try]:
        keys = [(base, cut) for base in range(len(self.bases)) for cut in self.cuts]
        return {(base, cut): _cached_effect(self.rule(Candidate(base, (cut,)))) for base, cut in keys}

    def tried(self, base: int, cut: Cut, one: RecordedReturn) -> Effect:
        """Try a cut after the steps that lose nothing, once for each return."""
        return self._tries[base, cut](one)

    def effect(self, candidate: Candidate, one: RecordedReturn) -> Effect:
        """Try a candidate on a return."""
        return self.tried(candidate.base, candidate.cuts[_size(one)], one)

    def rule(self, candidate: Candidate) -> DraftRule | None:
        """Return the rule of a candidate with its evidence, or None if it does nothing."""
        limits, truncates = list[Step](), list[Step]()
        last = _WHOLE
        for least, cut in zip(_SIZES, candidate.cuts, strict=False):
            when = {"when": {"min_chars": least}} if least else {}
            reason = _reason(self.returns, least)
            if cut.rows < last.rows:
                limit = {"head": cut.rows - 1, "tail": 1}
                limits.append(Step(at(self.table or (), {"limit": limit, "mark": True, **when}), reason))
            if (cut.head, cut.tail) != (last.head, last.tail):
                text = {"head": cut.head, "tail": cut.tail} if cut.tail else cut.head
                truncates.append(Step({"truncate": text, **when}, reason))
            last = cut
        steps = (*self.bases[candidate.base], *limits, *truncates)
        # Cuts preserve indicators by default, but the evidence shows which values are used.
        preserve: dict[str, Any] = {"preserve": []} if last != _WHOLE else {}
        return DraftRule(self.tool, steps, preserve) if steps else None


def _size(one: RecordedReturn) -> int:
    """Return the number of the last of `_SIZES` that a return has."""
    return sum(one.chars >= size for size in _SIZES[1:])


def _cached_effect(rule: DraftRule | None) -> Try:
    """Return the effect of a rule on a return, tried once for each return."""
    if rule is None:
        return lambda one: Effect(one.chars)
    ruleset = compiled(replace(rule, tool="*"))
    return cache(lambda one: _effect(ruleset, one))


def find_candidates(histories: Sequence[Recording], tool: str) -> Candidates:
    """Return the candidates for a tool."""
    returns = evidence(histories, tool)
    root = profile(one.content for one in returns)
    lists = [place for place in root.walk() if not place.is_map and place.lengths and is_writable_path(place.path)]
    long = [place for place in lists if place.path[-1:] != (-1,) and max(place.lengths) > _ROWS[0].rows]
    table = max(long, key=lambda place: place.chars, default=None)
    return Candidates(tool, returns, _bases(root, returns), None if table is None else table.path)


def _bases(root: Profile, returns: Sequence[RecordedReturn]) -> tuple[tuple[Step, ...], ...]:
    """Return the combinations of steps that save enough and lose nothing: all, and all with JSON unwrapped.

    Cuts treat unwrapped JSON value by value and other texts as a whole. Only a trial shows which is better.
    """
    drops = [step for step in (*_unused_keys(root, returns), *_rowends(returns)) if _is_lossless(step, returns)]
    lossless = ([COMPACT] if _is_lossless(COMPACT, returns) else []) + drops
    unwrapped = [[UNWRAP, COMPACT, *drops]] if _is_lossless(UNWRAP, returns) else []
    return tuple(map(tuple, (lossless, *unwrapped)))


def _is_lossless(step: Step, returns: Sequence[RecordedReturn]) -> bool:
    """Return whether a step saves enough and loses no used value."""
    try:
        effects = [*map(_cached_effect(DraftRule("*", (step,))), returns)]
    except ValueError:  # for example a key that cannot be written
        return False
    before, after = sum(one.chars for one in returns), sum(one.chars for one in effects)
    return before - after >= max(1, _MIN_SAVED * before) and not any(one.lost for one in effects)


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
    for place in root.walk() if uses >= _MIN_USES else ():
        keys = place.keys
        unused = [name for name in sorted(keys) if is_unused(name, keys[name], place.objects)]
        # An object with only unused keys is dropped with its own key, or not at all.
        if dropped.isdisjoint(accumulate((token,) for token in place.path)) and 0 < len(unused) < len(keys):
            dropped.update((*place.path, name) for name in unused)
            names, share = [*map(key_text, unused)], sum(keys[name].chars for name in unused) / root.chars
            reason = f"{', '.join(names)}: {share:.0%} of the characters, 0 of {uses:,} later uses"
            yield Step(at(place.path, {"drop": names}), reason)


def _rowends(returns: Sequence[RecordedReturn]) -> Iterator[Step]:
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
        literals = json.dumps([item for item in end if item is not None])  # slices leave out null
        condition = f"length(@) == `{width}` && [{first}:] == `{literals}`"
        shown = ", ".join("null" if item is None else f'"{item}"' for item in end)
        reason = f"Rows that end in {shown}: {len(rows):,} in {len({*rows}):,} returns, 0 later uses"
        yield Step({"path": f"[?{condition}]", "limit": first}, reason)


def _reason(returns: Sequence[RecordedReturn], least: int) -> str:
    """Describe the returns with `least` characters or more, and their share of all characters and uses."""
    inside = [one for one in returns if one.chars >= least]
    share = sum(one.chars for one in inside) / max(1, sum(one.chars for one in returns))
    used, of = (sum(len(one.used) for one in some) for some in (inside, returns))
    counts = f"{len(inside):,} of {len(returns):,} returns, {share:.0%} of the characters"
    return f"{least:,} characters or more: {counts}, {used:,} of {of:,} later uses"


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
