"""What no agent used: keys, the ends of table rows, and what costs nothing to remove."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from reducer.analysis.drafting.cuts import FreeSteps
from reducer.analysis.drafting.evidence import RecordedReturn
from reducer.analysis.drafting.profiles import Profile, profile
from reducer.analysis.drafting.records import at, key_text
from reducer.analysis.drafting.rule_text import DraftRule, Step, compiled
from reducer.analysis.drafting.scores import Search, effect_of
from reducer.formats import decode
from reducer.references import searched, searcher

UNWRAP = Step({"unwrap": True}, "JSON in texts is shown as the value that it encodes")
COMPACT = Step({"compact": True}, "Keys without a value are dropped")
_MIN_SHARE = 0.01
"""Share of a tool's characters that a step must save: few choices generalise."""
_STATIC = re.compile(r"[A-Za-z_@$][A-Za-z_@$ -]*(?:\d{1,2}[A-Za-z_]*)?")
"""Names of keys that are no ids, addresses or dates."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MIN_MENTIONED, _MAX_MENTIONED = 2, 60
"""Characters of values of which every mention counts as a use."""
_CONSTANTS = frozenset({"true", "false", "null", "None", "True", "False"})
_MIN_ANSWERS = 5
_MIN_PRESENT = 0.6
"""Share of the objects at a place that must have a key."""
_MIN_ITEMS = 4
_MAX_DEPTH = 4
_MIN_RETURNS, _MIN_ROWS, _MAX_ENDINGS = 4, 20, 3
_MAX_END, _MAX_WIDTH, _MAX_TEXT = 8, 64, 20
"""Items of an end, items of a row, and characters of a text in an end: longer ones are data."""

End = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Ending:
    """Rows of `width` items that end in `end`: how many, in how many returns, and the characters of these ends."""

    width: int
    end: End
    rows: int
    returns: int
    chars: int

    def step(self, chars: int = 0) -> Step:
        """Return the step that cuts them off; `chars` are the characters of all returns."""
        first = self.width - len(self.end)
        literals = ("`null`" if item is None else f"'{item}'" for item in self.end)
        tests = [f"[{number}] == {literal}" for number, literal in enumerate(literals, first)]
        condition = " && ".join([f"length(@) == `{self.width}`", *tests])
        shown = ", ".join("null" if item is None else f'"{item}"' for item in self.end)
        counts = f"{self.rows:,} in {self.returns:,} returns, {self.chars / max(1, chars):.0%} of the characters"
        return Step({"path": f"[?{condition}]", "limit": first}, f"Rows that end in {shown}: {counts}, 0 later uses")


def profile_of(returns: Sequence[RecordedReturn]) -> Profile:
    """Profile the returns of a tool, with what agents used of them."""

    @cache
    def search(number: int) -> Search:
        return searcher(returns[number].used)

    def is_used(number: int, leaf: Any) -> bool:
        text = searched(leaf if type(leaf) in (str, dict, list) else [leaf])
        if search(number)(text):
            return True
        is_short = _MIN_MENTIONED <= len(text) <= _MAX_MENTIONED and text not in _CONSTANTS
        return is_short and returns[number].is_mentioned(text)

    return profile([one.content for one in returns], is_used)


def main_list(root: Profile) -> tuple[str, ...]:
    """Return the path of the list that holds most of what a tool returns, if only plain keys lead to it."""
    places = [place for place in _lists(root, 0) if place.max_items >= _MIN_ITEMS]
    best = max(sorted(places, key=lambda place: len(place.path)), key=lambda place: place.chars, default=None)
    return (best.text,) if best is not None and best.chars * 2 > root.chars else ()


def _lists(place: Profile, depth: int) -> Iterator[Profile]:
    if place.lists:
        yield place
    is_plain = depth < _MAX_DEPTH and not (place.encoded and place.path)
    for name, below in place.keys.items() if is_plain else ():
        if name is not None and _NAME.fullmatch(name):
            yield from _lists(below, depth + 1)


def unused_keys(root: Profile, uses: int) -> list[Step]:
    """Return the steps that drop keys with 1% of the characters or more that occur often and were never used."""
    return sorted(_unused_below(root, root.chars, uses), key=lambda step: step.path)


def _unused_below(place: Profile, total: int, uses: int) -> Iterator[Step]:
    unused = {name: below for name, below in sorted(place.keys.items(), key=str) if _is_unused(place, below, total)}
    # An object that has only unused keys is dropped by its own key, or not at all.
    if len(unused) == len(place.keys):
        unused = {}
    if unused:
        names = [str(name) for name in unused]
        others = (
            f" and {len(names) - 1} other keys" if len(names) > 2 else "".join(f" and `{name}`" for name in names[1:])
        )
        share = sum(below.chars for below in unused.values()) / total
        reason = f"`{names[0]}`{others}: {share:.0%} of the characters, 0 of {uses:,} later uses"
        yield Step(at(place.text, {"drop": [key_text((name,)) for name in names]}), reason)
    for below in place.below():
        if below.path[-1] not in unused:
            yield from _unused_below(below, total, uses)


def _is_unused(place: Profile, below: Profile, total: int) -> bool:
    name = below.path[-1]
    is_frequent = below.values >= _MIN_PRESENT * place.objects and len(below.answers) >= _MIN_ANSWERS
    is_large = below.chars >= _MIN_SHARE * total
    is_static = type(name) is str and _STATIC.fullmatch(name) is not None
    return is_frequent and is_large and is_static and not any(inner.used for inner in below.walk())


def free_steps(returns: Sequence[RecordedReturn]) -> tuple[FreeSteps, ...]:
    """Return the combinations of steps that save something and lose nothing: first none, last with JSON unwrapped.

    Unwrapped texts are cut value by value, others as a whole: which is better shows only when they are tried.
    """
    chars = sum(one.chars for one in returns)
    least = max(1, _MIN_SHARE * chars)
    compact = (COMPACT,) if _saved(returns, COMPACT) >= least else ()
    ends = tuple(step for one in endings(returns) if _saved(returns, step := one.step(chars)) >= least)
    found = [FreeSteps()]
    if compact or ends:
        found.append(FreeSteps(compact, ends))
    if _saved(returns, UNWRAP) >= least:
        found.append(FreeSteps((UNWRAP, COMPACT), ends))
    return tuple(found)


def _saved(returns: Sequence[RecordedReturn], step: Step) -> int:
    """Return how many characters a step saves; 0 if it has problems, or loses a used value."""
    try:
        ruleset = compiled(DraftRule("*", (step,)))
    except ValueError:
        return 0
    effects = [effect_of(ruleset, one) for one in returns]
    if any(effect.lost for effect in effects):
        return 0
    return sum(one.chars - effect.chars for one, effect in zip(returns, effects, strict=True))


def endings(returns: Sequence[RecordedReturn]) -> list[Ending]:
    """Return the ends that most rows of a tool's lists have and that were never used, the largest first."""
    places: dict[tuple[int, End], list[int]] = {}
    for number, one in enumerate(returns):
        for width, end in _ends(one.content):
            for start in range(len(end)):
                places.setdefault((width, end[start:]), []).append(number)
    used = frozenset[str]().union(*(one.used for one in returns))
    candidates = [
        Ending(
            width,
            end,
            rows=len(rows),
            returns=len(set(rows)),
            chars=len(rows) * sum(len(item or "") + 4 for item in end),
        )
        for (width, end), rows in places.items()
        if len(rows) >= _MIN_ROWS and len(set(rows)) >= _MIN_RETURNS and used.isdisjoint(end)
    ]
    candidates.sort(key=lambda one: (one.chars, -len(one.end), one.width, str(one.end)), reverse=True)
    least = max(1, _MIN_SHARE * sum(one.chars for one in returns))
    found: list[Ending] = []
    for best in candidates:
        is_new = all(best.width != other.width or not _overlap(best.end, other.end) for other in found)
        if is_new and best.chars >= least:
            found.append(best)
    return found[:_MAX_ENDINGS]


def _overlap(one: End, other: End) -> bool:
    shorter = min(len(one), len(other))
    return one[-shorter:] == other[-shorter:]


def _ends(content: Any) -> Iterator[tuple[int, End]]:
    """Yield the width of each row and the short texts and nulls that it ends in."""
    opened = decode(content) if type(content) is str else content
    for row in opened if type(opened) is list else ():
        if type(row) is list and 2 <= len(row) <= _MAX_WIDTH:
            start = len(row)
            while start > max(1, len(row) - _MAX_END) and _is_short(row[start - 1]):
                start -= 1
            if start < len(row):
                yield len(row), tuple(row[start:])


def _is_short(item: Any) -> bool:
    is_text = type(item) is str and len(item) <= _MAX_TEXT and item.isprintable()
    return item is None or (is_text and "'" not in item and "\\" not in item)
