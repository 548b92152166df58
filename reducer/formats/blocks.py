"""Blocks of `Key: value` lines, such as search results, or the answers of `pip show` and `whois`.

- Rule lines (`---`) separate groups of lines. Blank lines do so as well if there are no rule lines, or if only groups
  between blank lines begin with the same key.
- A group begins a block if its first line, or the line below a title, is a pair that another pair follows, or a pair
  with the first key that begins two groups. Any other group belongs to the block above it.
- A line alone between blank lines that is less indented than the block below it is the title of that block.
- The lines from a pair to the next one are its value. A line that is indented more than the first pair is no pair.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from reducer.formats.lines import line_end, marker_paragraph, with_marker
from reducer.formats.parts import origins

TITLE = "title"
"""The key of the lines of a block above its first pair."""
_LINE = re.compile(
    r"^\ufeff?(?P<indent>[ \t]*)(?:(?P<pair>\w(?:[\w -]{0,38}[\w-])?)[ \t.]*:(?=[ \t\r\n]|$)"
    r"|(?P<rule>[-=*])(?P=rule){2,}[ \t]*\r?$|(?P<blank>)\r?$)",
    re.MULTILINE,
)
_RULES = ("rule",)
_ALL = ("rule", "blank")

Lines = Sequence[re.Match[str]]
"""The pairs, rule lines and blank lines of a text."""


class _Start(NamedTuple):
    """A group of lines that can begin a block."""

    at: int
    above: int
    """Where the lines above it end, without the separator."""
    pair: int
    """The index of its first pair among the lines."""
    key: str
    is_sure: bool
    """Another pair follows the first."""


class _Pair(NamedTuple):
    """Where a pair is: its value is somewhere between `label` and `end`."""

    key: str
    start: int
    label: int
    end: int

    def value(self, text: str) -> slice:
        part = text[self.label : self.end]
        start = self.label + len(part) - len(part.lstrip())
        stop = self.label + len(part.rstrip())
        return slice(start, stop) if start < stop else slice(self.label, self.label)


class _Block(NamedTuple):
    pairs: list[_Pair]
    end: int
    """Where the separator after it ends."""


def read_blocks(text: str) -> tuple[list[Any], Callable[[Any], str | None]] | None:
    """Return the blocks of a text of which two have the same key, and a function that writes a part of them.

    With a marker at the end, one block is enough. The value of a repeated key is the list of its values.
    """
    stop = marker_paragraph(text)
    end = line_end(text)
    blocks = list(_blocks(text, stop))
    value = [_value(text, block) for block in blocks]
    if not blocks or (stop == len(text) and not _have_key(value)):
        return None

    def write(new: Any) -> str | None:
        found = origins(new, value) if type(new) is list else None
        if not found:
            return None
        kept = [blocks[index] for index in found]
        plans = []
        for block, index, item in zip(kept, found, new, strict=False):
            plan = _plan(text, block, item, value[index], end)
            if plan is None:
                return None
            plans.append(plan)
        firsts = [_first_key(block, plan) for block, plan in zip(kept, plans, strict=True)]
        lead = _lead(firsts)
        written = [text[: blocks[0].pairs[0].start]]
        for block, plan in zip(kept, plans, strict=True):
            _keep_start(text, block, plan, lead, end)
            if max(plan) + 1 < len(block.pairs) and _ends_with_rule(plan[max(plan)]):
                return None
            written.append(_written(text, block, plan, end))
        return with_marker("".join(written), new[len(found) :], text)

    return value + [text[stop:].strip()] * (stop < len(text)), write


def _have_key(blocks: list[dict[str, Any]]) -> bool:
    """Return whether two blocks have the same key."""
    seen: set[str] = set()
    for block in blocks:
        keys = block.keys() - {TITLE}
        if not seen.isdisjoint(keys):
            return True
        seen |= keys
    return False


def _blocks(text: str, stop: int) -> Iterator[_Block]:
    lines = [*_LINE.finditer(text, 0, stop)]
    groups, end = _groups(text, lines, stop)
    lead = _lead([group.key for group in groups])
    starts = [group for group in groups if group.is_sure or group.key == lead]
    starts.append(_Start(stop, end, len(lines), "", True))
    for start, following in pairwise(starts):
        yield _Block(list(_pairs(lines, start, following)), following.at)


def _groups(text: str, lines: Lines, stop: int) -> tuple[list[_Start], int]:
    """Return the groups of a text that can begin a block, and where the last group ends."""
    has_rules = any(line.lastgroup == "rule" for line in lines)
    by_all = _groups_between(_ALL, text, lines, stop)
    if not has_rules:
        return by_all
    by_rules = _groups_between(_RULES, text, lines, stop)
    if _lead([group.key for group in by_rules[0]]) or not _lead([group.key for group in by_all[0]]):
        return by_rules
    return by_all


def _groups_between(separators: Sequence[str], text: str, lines: Lines, stop: int) -> tuple[list[_Start], int]:
    groups: list[_Start] = []
    at = above = 0
    before = (0, 0)  # the group above: where it starts, and where the one above that ends
    is_first = True
    for number, line in enumerate(lines):
        begin = line.start()
        if line.lastgroup in separators or (line.lastgroup == "blank" and begin == at):
            if begin > at:
                before = (at, above)
                above = begin
            at = line.end() + 1
            is_first = True
        elif line.lastgroup == "pair" and is_first:
            is_first = False
            start = _Start(at, above, number, line["pair"], _is_sure(text, lines, number))
            if begin == at and _is_title(text[before[0] : above], line["indent"]):
                start = start._replace(at=before[0], above=before[1])
            if groups and groups[-1].at == start.at:
                groups.pop()  # a title that looks like a pair
            if begin == at or text.find("\n", at) + 1 == begin:
                groups.append(start)
    return groups, above if at >= stop else stop


def _is_sure(text: str, lines: Lines, number: int) -> bool:
    """Return whether another pair is on the line below a pair."""
    line, following = lines[number], lines[min(number + 1, len(lines) - 1)]
    is_next = following.start() == text.find("\n", line.end()) + 1
    return is_next and following.lastgroup == "pair" and len(following["indent"]) <= len(line["indent"])


def _is_title(group: str, indent: str) -> bool:
    """Return whether a group is one line that is less indented than the block below it."""
    is_one = group.find("\n") == len(group) - 1
    return is_one and len(group) - len(group.lstrip(" \t")) < len(indent)


def _lead(keys: Sequence[str]) -> str:
    """Return the first key that occurs twice, or an empty text."""
    counts = Counter(keys)
    return next((key for key in keys if counts[key] > 1), "")


def _pairs(lines: Lines, start: _Start, following: _Start) -> Iterator[_Pair]:
    """Yield the pairs from the start of a block to the start of the following one."""
    first = lines[start.pair]
    if start.at < first.start():
        yield _Pair(TITLE, start.at, start.at, first.start())
    indent = len(first["indent"])
    key, begin, label = first["pair"], *first.span()
    for line in lines[start.pair + 1 : following.pair]:
        if line.lastgroup == "pair" and len(line["indent"]) <= indent:
            at, end = line.span()
            if at < following.above:
                yield _Pair(key, begin, label, at)
                key, begin, label = line["pair"], at, end
    yield _Pair(key, begin, label, following.above)


def _value(text: str, block: _Block) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for pair in block.pairs:
        item = text[pair.label : pair.end].strip()
        if pair.key not in value:
            value[pair.key] = item
        elif type(value[pair.key]) is list:
            value[pair.key].append(item)
        else:
            value[pair.key] = [value[pair.key], item]
    return value


Plan = dict[int, str]
"""The values of the pairs of a block that stay, by index."""


def _plan(text: str, block: _Block, item: Any, old: dict[str, Any], end: str) -> Plan | None:
    """Return what is left of a block, or None if it is nothing that a block can have."""
    places: dict[str, list[int]] = {}
    for index, pair in enumerate(block.pairs):
        places.setdefault(pair.key, []).append(index)
    plan: Plan = {}
    for key, new in item.items() if type(item) is dict else ():
        if type(new) is not type(old[key]):
            return None
        if type(new) is list:
            plan.update(_plan_of_list(text, block, places[key], new, old[key], end))
        else:
            plan[places[key][0]] = new
    return plan if type(item) is dict else None


def _plan_of_list(text: str, block: _Block, places: list[int], new: list[str], old: list[str], end: str) -> Plan:
    """Return what is left of a repeated key: at least one value and the marker of the others, or two values."""
    found = origins(new, old) or []
    plan = {places[index]: item for index, item in zip(found, new, strict=False)}
    marker = new[len(found) :]
    for place, item in zip(places, old, strict=True):
        if len(plan) + len(marker) < 2 or not plan:
            plan.setdefault(place, item)
    if marker:
        last = block.pairs[max(plan)]
        plan[max(plan)] += f"{end}{_pair(text, last, marker[0])}"
    return plan


def _first_key(block: _Block, plan: Plan) -> str:
    """Return the key of the first pair that stays."""
    keys = [block.pairs[index].key for index in sorted(plan)]
    return next((key for key in keys if key != TITLE), "")


def _keep_start(text: str, block: _Block, plan: Plan, lead: str, end: str) -> None:
    """Keep what a block needs to be read as a block: perhaps its first two keys, and a title above indented pairs."""
    first = 1 if _has_title(block) else 0
    pairs = {index: new for index, new in plan.items() if index >= first}
    written = _written(text, block, pairs, end)
    lines = [*_LINE.finditer(written)]
    if not (pairs and (lines[0]["pair"] == lead or _is_sure(written, lines, 0))):
        keys = [*dict.fromkeys(pair.key for pair in block.pairs[first:])][:2]
        for index, pair in enumerate(block.pairs[first:], first):
            if pair.key in keys:
                plan.setdefault(index, text[pair.value(text)])
    is_indented = text[block.pairs[min(plan.keys() - {0}, default=0)].start] in " \t"
    if first and (plan.get(0) == "" or is_indented):
        plan[0] = plan.get(0) or text[block.pairs[0].value(text)]


def _ends_with_rule(value: str) -> bool:
    """Return whether the last line of a value would separate blocks if no other value followed."""
    before, _, last = value.rpartition("\n")
    line = _LINE.match(last)
    return bool(before and line and line.lastgroup == "rule")


def _has_title(block: _Block) -> bool:
    return block.pairs[0].label == block.pairs[0].start


def _written(text: str, block: _Block, plan: Plan, end: str) -> str:
    written = [""]
    for index, new in sorted(plan.items()):
        pair = block.pairs[index]
        is_adjacent = index + 1 in plan or (index == 0 and _has_title(block))
        written.append(_pair(text, pair, new))
        written.append(text[pair.value(text).stop : pair.end] if is_adjacent else end)
    written[-1] = text[block.pairs[-1].value(text).stop : block.end]
    return "".join(written)


def _pair(text: str, pair: _Pair, new: str) -> str:
    """Write a pair with a value, without the line end."""
    value = pair.value(text)
    if not new and value.start < value.stop:
        return text[pair.start : pair.label]
    label = text[pair.start : value.start]
    return f"{label} {new}" if new and label.endswith(":") else f"{label}{new}"
