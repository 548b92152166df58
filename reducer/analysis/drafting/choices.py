"""What a learned rule may do to the returns of one tool: steps that lose nothing, then one cut in a few strengths."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import blake2b
from itertools import product, takewhile
from typing import Any, NamedTuple

from reducer.analysis.drafting.evidence import Effect, RecordedReturn, Recording, Task, evidence
from reducer.analysis.drafting.profiles import Entry, Profile, profile
from reducer.analysis.drafting.rule_text import DraftRule, Step, at, compiled
from reducer.analysis.drafting.steps import key_text
from reducer.analysis.measures import size
from reducer.engine import attempt
from reducer.entities.custom import word_error
from reducer.formats import decode
from reducer.paths.written import Token
from reducer.references import NUMBER, occurrences, searched, searcher
from reducer.rules import Ruleset

UNWRAP = Step({"unwrap": True}, "JSON in texts is shown as the value that it encodes")
COMPACT = Step({"compact": True}, "Keys without a value are dropped")
MIN_SAVED = 0.01
"""Share of a tool's characters that each choice must save: few choices generalise."""
_SIZES = {
    "truncate": (400, 800, 1500, 2000, 3000, 4000, 6000, 8000, 12000, 16000),
    "max_chars": (2000, 3000, 4000, 6000, 8000, 16000),
}
"""The cuts that are tried, from strict to harmless."""
_MAX_VALUES, _MIN_LENGTH, _MAX_LENGTH = 200, 4, 60
"""Values that a rule names, and characters of one."""
_MARKER_CHARS = 4
"""Characters that a mention takes in a marker besides its own."""
_STATIC = re.compile(r"[A-Za-z_@$][A-Za-z_@$ -]*(?:\d{1,2}[A-Za-z_]*)?")
"""Names of keys that are no ids, addresses or dates."""
_MIN_USES, _MIN_ANSWERS, _MIN_PRESENT = 20, 5, 0.6
"""Uses of a tool's returns, answers, and share of the objects that must have a key to tell that it is unused."""
_MENTIONED = range(2, 61)
"""Characters of values of which every mention counts as a use."""
_MIN_RETURNS, _MIN_ROWS, _MAX_END = 4, 20, 8
_LITERAL = re.compile(r"[\w .:/-]{0,20}")
"""Texts that rows may end in: longer ones are data."""

Search = Callable[[str], set[str]]
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
        search_values = searcher(self.values)

        @cache
        def ruleset(choice: Choice) -> Ruleset | None:
            rule = self.rule(choice)
            return compiled(replace(rule, tool="*")) if rule is not None else None

        @cache
        def sought(one: RecordedReturn) -> tuple[frozenset[str], Search]:
            every = one.used.union(search_values(searched(one.content)))
            return every, searcher(every)

        @cache
        def effect(choice: Choice, one: RecordedReturn) -> Effect:
            uncut, rule = Choice(choice.base), ruleset(choice)
            if choice.action and effect(uncut, one).chars <= choice.size:
                return effect(uncut, one)
            return Effect(one.chars) if rule is None else _effect(rule, one, *sought(one))

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
            is_short = _MIN_LENGTH <= len(value) <= _MAX_LENGTH and not value.startswith(NUMBER)
            if is_short and not word_error(value) and any(history.returns[place].tool == tool for place in places):
                found[value].add(history.task)
    return found


def default_rule(most: int) -> DraftRule:
    """Return the rule that cuts returns of so many characters and more, whatever they contain."""
    when, reason = {"min_chars": most}, f"From {most:,} characters on, long lists and texts are cut"
    cuts = Step({"limit": {"head": 3, "tail": 2}, "when": when}, reason), Step({"truncate": most, "when": when})
    return DraftRule("*", (UNWRAP, COMPACT, *cuts), {"max_chars": most + most // 2})


def effect_of_rule(ruleset: Ruleset, one: RecordedReturn) -> Effect:
    """Return the effect of the one rule of a ruleset on a return and on the values that were used of it."""
    return _effect(ruleset, one, one.used, searcher(one.used))


def _effect(ruleset: Ruleset, one: RecordedReturn, values: frozenset[str], search: Search) -> Effect:
    """Return the effect of a rule; `search` finds `values`, all of which the return contains."""
    left = attempt(ruleset, one.tool, one.content).content
    return Effect(one.chars) if left is one.content else Effect(size(left), values - search(searched(left)))


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
    effects = [effect_of_rule(ruleset, one) for one in returns]
    before, after = sum(one.chars for one in returns), sum(one.chars for one in effects)
    return before - after >= max(1, MIN_SAVED * before) and not any(one.absent for one in effects)


def _unused_keys(root: Profile, returns: Sequence[RecordedReturn]) -> Iterator[Step]:
    """Yield the steps that drop keys that occur often and were never used."""
    searches, uses = [searcher(one.used) for one in returns], sum(len(one.used) for one in returns)

    def is_used(entry: Entry) -> bool:
        text = searched([entry.value])
        is_mentioned = len(text) in _MENTIONED and any(occurrences(text, returns[entry.answer].written))
        return is_mentioned or bool(searches[entry.answer](text))

    def is_unused(name: str | None, below: Profile, objects: int) -> bool:
        answers = {entry.answer for entry in below.entries}
        if len(answers) < _MIN_ANSWERS or len(below.entries) < _MIN_PRESENT * objects:
            return False
        if below.chars < MIN_SAVED * root.chars or name is None or not _STATIC.fullmatch(name):
            return False
        return not any(is_used(entry) for place in below.walk() if not place.below for entry in place.entries)

    dropped: set[tuple[Token, ...]] = set()
    for place in root.walk() if uses >= _MIN_USES else ():
        is_kept = all(place.path[:length] not in dropped for length in range(len(place.path) + 1))
        unused = [name for name, below in sorted(place.keys.items(), key=str) if is_unused(name, below, place.objects)]
        # An object that has only unused keys is dropped by its own key, or not at all.
        if is_kept and 0 < len(unused) < len(place.keys):
            dropped.update((*place.path, name) for name in unused)
            names = [key_text(str(name)) for name in unused]
            share = sum(place.keys[name].chars for name in unused) / root.chars
            reason = f"{', '.join(names)}: {share:.0%} of the characters, 0 of {uses:,} later uses"
            yield Step(at(place.text, {"drop": names}), reason)


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
    return tuple(sorted(again, key=lambda value: (-len(used[value]), value))[:_MAX_VALUES])


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
