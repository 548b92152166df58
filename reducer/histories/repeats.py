"""Repeats: what the earlier returns of a history show is left out of later ones, with a marker that names the calls.

`Repeats.reduce` takes the returns of one history in order. It applies the rules to a return, leaves out what earlier
returns show, and remembers what the result shows. It looks only back, so the result for a prefix of a history is a
prefix of the result, and a reduced prefix can be continued.

- A text that an earlier return shows is replaced with a marker.
- Of consecutive lines that one earlier text shows, the first line stays, and a marker replaces the others.
- Of an object in a list, its id or its first short value stays. Other items are removed. The list gets one marker.

Other objects stay, and so do texts and lists in one of several items of a list. What contains a marker is neither
remembered nor left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from operator import is_
from typing import Any, NamedTuple

from reducer import markers
from reducer.engine import Outcome
from reducer.formats import Atom, parse, parse_nested
from reducer.formats.lines import read_lines
from reducer.plan.nodes import LEAVES, Opened, has_structure, open_live, open_parsed, open_return
from reducer.values import MAX_DEPTH, Unreducible, chars, is_media, stored_json

_ATOMIC = LEAVES | {Atom}
_TEXT_CHARS = 200
"""The least characters of a text that is left out."""
_PART_CHARS = 60
"""The least characters of an item or of consecutive lines that are left out, and the most that a thin item keeps."""
INSTRUCTION = (
    "A marker such as `…[14 lines as in the return of read_file (call_7)]` stands for what this earlier tool answer "
    "already shows: read it there."
)
"""Explains markers of repeats to a model."""

Mentioned = Callable[[Any], frozenset[str]]
"""Returns the values in a content that later messages mention."""


class Repeated(NamedTuple):
    """A reduced return.

    - `outcome` is what the rules did, and `content` the result without what earlier returns show.
    - `saved` is the number of characters that this saves.
    - `is_dropped`: the rules would change the result again, so nothing was left out.
    - `dangling` is the number of markers whose calls are not earlier in the history, or show less.
    """

    outcome: Outcome
    content: Any
    saved: int = 0
    is_dropped: bool = False
    dangling: int = 0


@dataclass(slots=True)
class Repeats:
    """Reduces the returns of one history in order; `attempt` applies the rules (`engine.attempt` with a ruleset).

    - `sizes` contains how much the returns of each call have shown: the characters of texts and items, and the lines.
    - `calls` maps each text and item to the call that showed it first.
    - `lines` contains the lines of all texts, with None after each text. `first_lines` maps each line to its first
      index there and its call.
    """

    attempt: Callable[..., Outcome]
    sizes: Counter[str] = field(default_factory=Counter)
    calls: dict[str, str] = field(default_factory=dict)
    lines: list[str | None] = field(default_factory=list)
    first_lines: dict[str, tuple[int, str]] = field(default_factory=dict)

    def reduce(self, tool: str, call_id: str, content: Any, mentioned: Mentioned | None = None) -> Repeated:
        """Reduce a return, and leave out what earlier returns show. Raises nothing that `attempt` does not raise.

        The rules keep what is `mentioned` later.
        """

        def apply(value: Any) -> Outcome:
            protected = None if mentioned is None else partial(mentioned, value)
            return self.attempt(tool, value, protected, self.believed(value))

        outcome = apply(content)
        alone = outcome.content
        call = markers.call_of(tool, call_id)
        in_lists = outcome.rule is None or not outcome.rule.settings.all_keys
        first, second = _Pass(self, call, in_lists), _Pass(self, call, in_lists)
        new = first.content(alone)
        if new is alone:
            return Repeated(outcome, alone, dangling=self._remember(alone, first))
        if second.content(new) is not new or apply(new).content is not new:
            return Repeated(outcome, alone, is_dropped=True, dangling=self._remember(alone, first))
        saved = chars(alone) - chars(new)
        return Repeated(outcome, new, saved, dangling=self._remember(new, second))

    def show(self, tool: str, call_id: str, content: Any) -> int:
        """Remember what a reduced return shows, and return the number of its markers that dangle."""
        only = _Pass(self, markers.call_of(tool, call_id), in_lists=False)
        only.content(content)
        return self._remember(content, only)

    def believed(self, content: Any) -> frozenset[str]:
        """Return the markers of repeats in a content that do not dangle."""
        return frozenset(marker.text for marker in markers.repeats_in(_stored(content)) if self._believes(marker))

    def dangling(self, content: Any) -> int:
        """Return the number of markers of repeats in a content that dangle."""
        return sum(not self._believes(marker) for marker in markers.repeats_in(_stored(content)))

    def _believes(self, marker: markers.Repeat) -> bool:
        """Return whether the calls that a marker names are earlier in the history and show as much as it says."""
        sizes = [self.sizes[call] for call in marker.calls]
        return all(sizes) and sum(sizes) >= marker.count

    def _remember(self, content: Any, found: _Pass) -> int:
        """Remember what a pass found in a content, and return the number of markers that dangle."""
        dangling = self.dangling(content)
        call = found.call
        self.sizes[call] += sum(map(len, (*found.keys, *found.texts)))
        for key in found.keys:
            self.calls.setdefault(key, call)
        for lines in found.texts:
            for index, line in enumerate(lines, len(self.lines)):
                self.first_lines.setdefault(line, (index, call))
            self.lines += [*lines, None]
        return dangling


@dataclass(frozen=True, slots=True)
class _Pass:
    """Leaves out of a return of `call` what earlier returns show, with `in_lists` also items of lists.

    `keys` are the items and texts in the return, and `texts` the lines of each text.
    """

    repeats: Repeats
    call: str
    in_lists: bool
    keys: list[str] = field(default_factory=list)
    texts: list[Sequence[str]] = field(default_factory=list)

    def content(self, content: Any) -> Any:
        """Return a content without what earlier returns show, or the same object if nothing is left out."""
        with suppress(Unreducible, ValueError, RecursionError):
            top = open_return(content) if _stored(content) else None
            new = content if top is None else self._rewritten(content, top)
            if new is not content and chars(new) < chars(content):
                return new
        return content

    def _rewritten(
        self, value: Any, opened: Opened, depth: int = 0, in_item: bool = False, is_item: bool = False
    ) -> Any:
        """Return an opened value without what is shown, or the value if the rest would be read as something else."""
        new = self._value(opened.value, depth, in_item, is_item)
        if new is opened.value:
            return value
        written = opened.write(new)
        return written if type(value) is not str or _notation(written) == _notation(value) else value

    def _value(self, value: Any, depth: int, in_item: bool = False, is_item: bool = False) -> Any:
        """Return a value without what is shown; it `is_item` if it is one of several items of a list.

        Texts in such an item stay, and also the items of one that is a list: a reader could not tell which it was.
        """
        if depth > MAX_DEPTH or _is_atomic(value):
            return value
        if type(value) is list:
            return self._list(value, depth, in_item or is_item, is_item)
        if type(value) is dict and not has_structure(value):
            new = {key: self._value(item, depth + 1, in_item or is_item) for key, item in value.items()}
            return value if all(map(is_, new.values(), value.values())) else new
        if type(value) is not str:
            return self._rewritten(value, open_live(value), depth + 1, in_item, is_item)
        parsed = parse_nested(value)
        if parsed is None:
            return self._text(value, in_item)
        return self._rewritten(value, open_parsed(*parsed), depth + 1, in_item, is_item)

    def _other(self, key: str) -> str:
        """Return the other call that shows a text or an item first, or an empty text if none does."""
        self.keys.append(key)
        first = self.repeats.calls.get(key, "")
        return "" if first == self.call else first

    def _list(self, items: list[Any], depth: int, in_item: bool, is_item: bool) -> list[Any]:
        left: list[Any] = []
        calls: list[str] = []
        saved = 0
        for item in items:
            key = _key(item)
            first = self._other(key) if key else ""
            is_shown = first and self.in_lists and not is_item and not _has_media(item)
            rest = _thin(item) if is_shown else [item]
            left += rest
            if rest != [item]:
                calls.append(first)
                saved += len(key) + 2 - chars(rest)
        marker = markers.repeat(len(calls), "items", dict.fromkeys(calls))
        if saved <= len(marker) + len('"",'):
            left = items
        new = [self._value(item, depth + 1, in_item, len(items) > 1) for item in left]
        if left is items:
            return items if all(map(is_, new, items)) else new
        is_marked = type(items[-1]) is str and items[-1].startswith(markers.PREFIX)
        new.insert(len(new) - is_marked, marker)
        return new

    def _text(self, text: str, in_item: bool) -> str:
        is_key = len(text) >= _TEXT_CHARS and markers.PREFIX not in text
        first = self._other(text) if is_key else ""
        lines, write = read_lines(text)
        self.texts.append(lines)
        if in_item:
            return text
        if first:
            marker = markers.repeat(len(text), "characters", [first])
            return marker if len(marker) < len(text) else text
        return text if self.repeats.first_lines.keys().isdisjoint(lines) else write(self._without_blocks(lines))

    def _without_blocks(self, lines: Sequence[str]) -> list[str]:
        new: list[str] = []
        at = 0
        while at < len(lines):
            end, first = self._block(lines, at)
            calls = [first] if first else []
            if first and end < len(lines):
                further, second = self._block(lines, end)
                if second not in ("", first):
                    end = further
                    calls.append(second)
            marker = markers.repeat(end - at - 1, "lines", calls)
            removed = "\n".join(lines[at + 1 : end])
            is_shorter = calls and len(removed) > len(marker)
            new += (lines[at], marker) if is_shorter else lines[at:end]
            at = end
        return new

    def _block(self, lines: Sequence[str], at: int) -> tuple[int, str]:
        """Return where the lines end that one text shows from `at` on, and its call.

        The call is empty if there are too few lines, or only this call shows them. The end is always after `at`.
        """
        known = self.repeats.lines
        index, first = self.repeats.first_lines.get(lines[at], (-2, ""))  # no line follows the last one
        end = at + 1
        while end < len(lines) and lines[end] == known[index + end - at] and markers.PREFIX not in lines[end]:
            end += 1
        is_long = len("\n".join(lines[at:end])) >= _PART_CHARS
        return end, first if is_long and first != self.call and markers.PREFIX not in lines[at] else ""


# --- values


def _notation(text: str) -> str:
    parsed = parse(text)
    return parsed[1].name if parsed else ""


def _is_atomic(value: Any) -> bool:
    """Return whether a value is a short text, a number, a boolean, null or a media item: nothing is left out of it."""
    if type(value) is str:
        return len(value) < _PART_CHARS
    return type(value) in _ATOMIC or is_media(value)


def _stored(content: Any) -> str:
    """Return a text, or the JSON of any other content; empty if it has none."""
    if type(content) is str:
        return content
    with suppress(ValueError, RecursionError):
        return stored_json(content).decode()
    return ""


def _key(item: Any) -> str:
    """Return what identifies an item: a text, or the JSON of a list or an object. Empty if it is short or marked."""
    if _is_atomic(item):
        return ""
    key = _stored(open_live(item).value)
    is_marked = markers.PREFIX in key or markers.ESCAPED in key
    return "" if len(key) < _PART_CHARS or is_marked else key


def _thin(item: Any) -> list[Any]:
    """Return an object with its id or its first short value, or the same object if it has none; nothing for others."""
    opened = open_live(item)
    value = opened.value
    if type(value) is not dict:
        return []
    for name in ("id", *value):
        short = value.get(name)
        is_short = type(short) in (str, int, float) and 0 < len(str(short)) <= _PART_CHARS
        if is_short and len(value) > 1:
            return [opened.write({name: short})]
    return [item]


def _has_media(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return is_media(value) or (isinstance(value, (dict, list, tuple)) and any(map(_has_media, items)))
