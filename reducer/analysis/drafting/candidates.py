"""Candidates for the rule of a tool: steps that lose no value that an agent used, and cuts of large returns."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

from reducer.analysis.drafting.evidence import Effect, RecordedReturn, Recording, evidence
from reducer.analysis.drafting.profiles import Entry, Path, Profile, profile
from reducer.analysis.drafting.ranking import is_writable_path, key_text
from reducer.analysis.drafting.rule_text import DraftRule, Step, at, compiled, ends
from reducer.analysis.measures import size
from reducer.engine import Outcome, attempt
from reducer.formats import decode
from reducer.references import occurrences, searched, searcher
from reducer.rules import Ruleset

MIN_RETURNS, MIN_USES = 4, 20
"""Fewer returns, or values used later, are too little evidence."""
_MIN_SAVED = 0.01
"""The share of a tool's characters that each step must save; small savings do not generalise."""
SIZES = (0, 1000, 2000, 4000, 9000)
"""Returns of at least this many characters are cut alike, unless they have the next size. The smallest stay whole."""
UNCUT = 1_000_000
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

Try = Callable[[RecordedReturn], Effect]
"""Tries a rule on a return."""

UNWRAP = Step({"unwrap": True}, "JSON in texts is shown as the value that it encodes")
COMPACT = Step({"compact": True}, "Keys without a value are dropped")
_LINES = {"lines": True, "dedupe": {"ignore": "digits", "keep": 3}, "when": {"where": "type([0]) == 'string'"}}
DEDUPE = Step(_LINES, "Of lines of text that differ only in numbers, three stay")


class Cut(NamedTuple):
    """What stays of a return: the records of its longest list, and the head and tail of each text, in characters."""

    rows: int = UNCUT
    head: int = UNCUT
    tail: int = UNCUT

    def is_within(self, other: Cut) -> bool:
        """Return whether nothing stays that the other cut removes."""
        return self.rows <= other.rows and self.head <= other.head and self.tail <= other.tail


WHOLE = Cut()
_TEXTS = [Cut(head=size, tail=0) for size in (6000, 3000, 2000, 1500, 1000, 600, 300, 100)]
_TEXTS += [Cut(UNCUT, **ends(size)) for size in (6000, 3000, 1500, 600, 100)]
_ROWS = [Cut(rows, *text[1:]) for rows in (8, 3) for text in (WHOLE, Cut(UNCUT, **ends(400)), Cut(UNCUT, **ends(100)))]


class Candidate(NamedTuple):
    """A possible rule of a tool: the index of its steps that lose nothing, and the cut for each of `SIZES`.

    The cut of a size is within that of the size before, because the steps of smaller sizes apply too.
    """

    base: int
    cuts: tuple[Cut, ...]


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
        return [WHOLE, *_TEXTS, *(_ROWS if self.table is not None else ())]

    @cached_property
    def _tries(self) -> Mapping[tuple[int, Cut], Try]:
        keys = [(base, cut) for base in range(len(self.bases)) for cut in self.cuts]
        return {(base, cut): cached_effect(self.rule(Candidate(base, (cut,)))) for base, cut in keys}

    def tried(self, base: int, cut: Cut, one: RecordedReturn) -> Effect:
        """Try a cut after the steps that lose nothing, once for each return."""
        return self._tries[base, cut](one)

    def effect(self, candidate: Candidate, one: RecordedReturn) -> Effect:
        """Try a candidate on a return."""
        return self.tried(candidate.base, candidate.cuts[size_number(one)], one)

    def rule(self, candidate: Candidate) -> DraftRule | None:
        """Return the rule of a candidate with its evidence, or None if it does nothing."""
        limits, truncates = list[Step](), list[Step]()
        last = WHOLE
        for least, cut in zip(SIZES, candidate.cuts, strict=False):
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
        preserve: dict[str, Any] = {"preserve": []} if last != WHOLE else {}
        return DraftRule(self.tool, steps, preserve) if steps else None


def size_number(one: RecordedReturn) -> int:
    """Return the number of the last of `SIZES` that a return has."""
    return sum(one.chars >= size for size in SIZES[1:])


def cached_effect(rule: DraftRule | None) -> Try:
    """Return the effect of a rule on a return, tried once for each return."""
    if rule is None:
        return lambda one: Effect(one.chars)
    ruleset = compiled(replace(rule, tool="*"))
    return cache(lambda one: effect_of(ruleset, one))


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
        effects = [*map(cached_effect(DraftRule("*", (step,))), returns)]
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
    for place in root.walk() if uses >= MIN_USES else ():
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
    frequent = [key for key, rows in rows_by_end.items() if len({*rows}) >= MIN_RETURNS and len(rows) >= _MIN_ROWS]
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


def effect_of(ruleset: Ruleset, one: RecordedReturn) -> Effect:
    """Return the effect of a rule on a return."""
    return left_by(attempt(ruleset, one.tool, one.content), one)


def left_by(outcome: Outcome, one: RecordedReturn) -> Effect:
    """Return the effect that an outcome has on a return."""
    left = outcome.content
    if left is one.content:
        return Effect(one.chars)
    return Effect(size(left), one.used - searcher(one.used)(searched(left)) if one.used else one.used)
