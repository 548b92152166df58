"""Repeats: what the earlier returns of a history show is left out of later ones, with a marker that names the calls.

`Repeats.reduce` takes the returns of one history in order. It applies the rules to a return, leaves out what earlier
returns show, and remembers what the result shows. It looks only back, so the result for a prefix of a history is a
prefix of the result, and a reduced prefix can be continued.

- A text that an earlier return shows is replaced with a marker.
- Of consecutive lines that one earlier text shows, the first line stays, and a marker replaces the others.
- Of an object in a list, its id or its first short value stays. Other items are removed. The list gets one marker.

Other objects stay, and so do texts and lists in an item of a list. What contains a marker is neither remembered nor
left out.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from reducer import markers
from reducer.engine import Outcome
from reducer.formats import parse, parse_nested
from reducer.formats.lines import read_lines
from reducer.plan.nodes import LEAVES, Opened, has_structure, open_live, open_parsed, open_return
from reducer.values import MAX_DEPTH, Unreducible, chars, dump, is_media, stored_json

_TEXT_CHARS = 200
"""The least characters of a text that is left out."""
_PART_CHARS = 60
"""The least characters of an item or of consecutive lines that are left out, and the most that a thin item keeps."""
_MOST_CALLS = 2
"""The most calls that show consecutive lines, of which one marker takes the place."""

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
    - `dangling` is the number of markers whose call the history does not contain before the return.
    """

    outcome: Outcome
    content: Any
    saved: int = 0
    is_dropped: bool = False
    dangling: int = 0


@dataclass(slots=True)
class _Sizes:
    """How much the returns of a call show: the lines of the longest text, the items of all lists, and the lengths of
    texts.
    """

    lines: int = 0
    items: int = 0
    lengths: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Shown:
    """What the returns of a history have shown so far.

    - `calls` maps each text and item to the call that showed it first.
    - `lines` contains the lines of all texts, with None for the end of a text and for a line with a marker.
    - `line_at` maps each line to its first index in `lines`.
    - `starts` are the indices at which the texts start, and `starting` the calls of these texts.
    """

    sizes: dict[str, _Sizes] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    lines: list[str | None] = field(default_factory=list)
    line_at: dict[str, int] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    starting: list[str] = field(default_factory=list)

    def believes(self, marker: markers.Repeat) -> bool:
        """Return whether the calls of a marker show as much as it says."""
        if not self.sizes.keys() >= set(marker.calls):
            return False
        sizes = [self.sizes[call] for call in marker.calls]
        if marker.unit == "lines":
            return sum(size.lines for size in sizes) >= marker.count
        if marker.unit == "items":
            return sum(size.items for size in sizes) >= marker.count
        return marker.count in sizes[0].lengths

    def block(self, lines: Sequence[str], at: int) -> tuple[int, str]:
        """Return where the lines end that one text shows from `at` on, and the call; `at` if there are none."""
        first = self.line_at.get(lines[at])
        if first is None:
            return at, ""
        end, index, known = at + 1, first + 1, self.lines
        while end < len(lines) and lines[end] == known[index]:
            end += 1
            index += 1
        return end, self.starting[bisect(self.starts, first) - 1]

    def add(self, call: str, content: Any) -> None:
        """Remember what a content shows as the return of a call. Raises `Unreducible`."""
        top = open_return(content)
        if top is not None and call:
            sizes = self.sizes.setdefault(call, _Sizes())
            self._add(top.value, call, sizes)

    def _add(self, value: Any, call: str, sizes: _Sizes, depth: int = 0) -> None:
        if _is_atomic(value) or depth > MAX_DEPTH:
            return
        if type(value) is list:
            sizes.items += len(value)
            for item in value:
                if key := _key(item):
                    self.calls.setdefault(key, call)
                self._add(item, call, sizes, depth + 1)
        elif type(value) is dict and not has_structure(value):
            for item in value.values():
                self._add(item, call, sizes, depth + 1)
        elif (opened := _opened(value)) is not None:
            self._add(opened.value, call, sizes, depth + 1)
        elif type(value) is str:
            self._add_text(value, call, sizes)

    def _add_text(self, text: str, call: str, sizes: _Sizes) -> None:
        if len(text) >= _TEXT_CHARS and markers.PREFIX not in text:
            self.calls.setdefault(text, call)
            sizes.lengths.add(len(text))
        if len(text) < _PART_CHARS or "\n" not in text:
            return
        start = len(self.lines)
        self.starts.append(start)
        self.starting.append(call)
        lines, _ = read_lines(text)
        sizes.lines = max(sizes.lines, len(lines))
        for index, line in enumerate(lines, start):
            is_marked = markers.PREFIX in line
            self.lines.append(None if is_marked else line)
            if not is_marked:
                self.line_at.setdefault(line, index)
        self.lines.append(None)


@dataclass(slots=True)
class Repeats:
    """Reduces the returns of one history in order; `attempt` applies the rules (`engine.attempt` with a ruleset)."""

    attempt: Callable[..., Outcome]
    shown: Shown = field(default_factory=Shown)

    def reduce(self, tool: str, call_id: str, content: Any, mentioned: Mentioned | None = None) -> Repeated:
        """Reduce a return, and leave out what earlier returns show. Raises nothing that `attempt` does not raise.

        The rules keep what is `mentioned` later.
        """
        call = _call(tool, call_id)

        def apply(value: Any) -> Outcome:
            protected = None if mentioned is None else partial(mentioned, value)
            return self.attempt(tool, value, protected, self._believed(value))

        outcome = apply(content)
        try:
            repeated = self._reduced(call, outcome, apply)
        except (Unreducible, RecursionError):
            repeated = Repeated(outcome, outcome.content)
        return repeated._replace(dangling=self.show(tool, call_id, repeated.content))

    def show(self, tool: str, call_id: str, content: Any) -> int:
        """Remember what a reduced return shows, and return the number of its markers that dangle."""
        stored = _stored(content)
        if stored is None:
            return 0
        dangling = 0
        for marker in markers.repeats_in(stored):
            dangling += not self.shown.believes(marker)
        with suppress(Unreducible, RecursionError):
            self.shown.add(_call(tool, call_id), content)
        return dangling

    def believes(self, content: Any) -> bool:
        """Return whether no marker in a content dangles."""
        return all(map(self.shown.believes, _repeats_in(content)))

    def _believed(self, content: Any) -> frozenset[str]:
        """Return the markers in a content whose calls are earlier in the history and show as much."""
        if not self.shown.sizes:
            return frozenset()
        return frozenset(marker.text for marker in _repeats_in(content) if self.shown.believes(marker))

    def _reduced(self, call: str, outcome: Outcome, apply: Callable[[Any], Outcome]) -> Repeated:
        """Leave out what earlier returns show, unless the rules or a second pass would change the result again."""
        alone = outcome.content
        if not self.shown.sizes or _stored(alone) is None:
            return Repeated(outcome, alone)
        later = _Later(self.shown, call, in_lists=not (outcome.rule and outcome.rule.settings.all_keys))
        new = later.content(alone)
        if new is alone:
            return Repeated(outcome, alone)
        if apply(new).content is not new or later.content(new) is not new:
            return Repeated(outcome, alone, is_dropped=True)
        return Repeated(outcome, new, saved=chars(alone) - chars(new))


@dataclass(frozen=True, slots=True)
class _Later:
    """A return after what was `shown`. With `in_lists`, items of lists are left out."""

    shown: Shown
    call: str
    in_lists: bool

    def content(self, content: Any) -> Any:
        """Return a content without what is shown, or the same object if nothing is. Raises `Unreducible`."""
        top = open_return(content)
        if top is None:
            return content
        value = self._value(top.value)
        if value is top.value or _is_too_short(value, top):
            return content
        new = top.write(value)
        if type(content) is str and _notation(parse(content)) != _notation(parse(new)):
            return content
        return new if chars(new) < chars(content) else content

    def _value(self, value: Any, depth: int = 0, in_item: bool = False, is_item: bool = False) -> Any:
        """Return a value without what is shown.

        It can be one of several items of a list (`is_item`) or in one (`in_item`). Texts in an item stay, and so do the
        items of a list that is an item itself: a reader could not tell which it was.
        """
        if _is_atomic(value) or depth > MAX_DEPTH:
            return value
        below = partial(self._value, depth=depth + 1, in_item=in_item or is_item)
        if type(value) is list:
            return self._list(value, below, may_remove=self.in_lists and not is_item)
        if type(value) is dict and not has_structure(value):
            items = {key: below(item) for key, item in value.items()}
            return items if any(items[key] is not value[key] for key in value) else value
        opened = _opened(value)
        if opened is not None:
            new = self._value(opened.value, depth + 1, in_item, is_item)
            return value if new is opened.value else _written(value, opened, new)
        return self._text(value) if type(value) is str and not in_item else value

    def _call_of(self, key: str) -> str:
        """Return the other call that shows a text or an item first, or an empty text if none does."""
        call = self.shown.calls.get(key, "")
        return "" if call == self.call else call

    # --- lists

    def _list(self, items: list[Any], below: Callable[..., Any], may_remove: bool) -> list[Any]:
        marker, thin = self._thin_items(items) if may_remove else ("", {})
        new = []
        for index, item in enumerate(items):
            if index not in thin:
                new.append(below(item, is_item=len(items) > 1))
            elif thin[index] is not None:
                new.append(thin[index])
        if marker:
            last = items[-1]
            is_marked = type(last) is str and last.startswith(markers.PREFIX)
            new.insert(len(new) - is_marked, marker)
            return new
        return new if any(one is not other for one, other in zip(new, items, strict=True)) else items

    def _thin_items(self, items: list[Any]) -> tuple[str, dict[int, Any]]:
        """Return the marker of a list, and what stays of the items that are shown: a thin item, or None for nothing.

        Both are empty if this would save nothing.
        """
        thin: dict[int, Any] = {}
        calls: dict[str, None] = {}
        saved = 0
        for index, item in enumerate(items):
            key = _key(item)
            call = self._call_of(key) if key else ""
            if not call or _has_media(item):
                continue
            rest = _thin(item)
            if rest is item:
                continue
            thin[index] = rest
            calls[call] = None
            saved += len(key) + 1 - (0 if rest is None else chars([rest]))
        marker = markers.repeat(len(thin), "items", calls) if thin else ""
        return (marker, thin) if saved > len(marker) + len('"",') else ("", {})

    # --- texts

    def _text(self, text: str) -> str:
        call = self._call_of(text) if len(text) >= _TEXT_CHARS else ""
        if call:
            marker = markers.repeat(len(text), "characters", [call])
            return marker if len(marker) < len(text) else text
        return self._without_blocks(text) if len(text) > _PART_CHARS and "\n" in text else text

    def _without_blocks(self, text: str) -> str:
        lines, write = read_lines(text)
        if self.shown.line_at.keys().isdisjoint(lines):
            return text
        new: list[str] = []
        at = 0
        while at < len(lines):
            end, calls = self._run(lines, at)
            marker = markers.repeat(end - at - 1, "lines", calls) if calls else ""
            removed = sum(map(len, lines[at + 1 : end])) + end - at - 1
            if marker and removed > len(marker) + 1:
                new += (lines[at], marker)
            else:
                new += lines[at:end]
            at = end
        return write(new) if len(new) < len(lines) else text

    def _run(self, lines: Sequence[str], at: int) -> tuple[int, list[str]]:
        """Return where the lines end that few texts of different calls show one after another, and these calls.

        There are no calls if the lines are too few. The end is always after `at`.
        """
        end, call = self.shown.block(lines, at)
        if end == at:
            return at + 1, []
        if call == self.call or not _is_long(lines[at:end]):
            return end, []
        calls = [call]
        while end < len(lines) and len(calls) < _MOST_CALLS:
            start, (end, call) = end, self.shown.block(lines, end)
            if call in ("", self.call, *calls) or not _is_long(lines[start:end]):
                return start, calls
            calls.append(call)
        return end, calls


# --- values


def _call(tool: str, call_id: str) -> str:
    """Return what a marker calls a tool call, or an empty text if it has no id."""
    return markers.call_of(tool, call_id) if call_id else ""


def _is_atomic(value: Any) -> bool:
    """Return whether a value is a number, a boolean, null, a media item, or a text of which nothing is left out."""
    if type(value) is str:
        return len(value) < _PART_CHARS
    return type(value) in LEAVES or is_media(value)


def _opened(value: Any) -> Opened | None:
    """Open a text with structure, a tuple or a live object; return None for a plain text."""
    if type(value) is str:
        parsed = parse_nested(value)
        return None if parsed is None else open_parsed(*parsed)
    return open_live(value) if has_structure(value) else None


def _written(value: Any, opened: Opened, new: Any) -> Any:
    """Write what is left of the structure of a value, or return the value if a text would not be shorter."""
    if _is_too_short(new, opened):
        return value
    written = opened.write(new)
    if type(value) is not str:
        return written
    is_shorter = len(dump(written)) < len(dump(value))  # as escaped in the text around it
    return written if is_shorter and _notation(parse_nested(written)) == _notation(parse_nested(value)) else value


def _is_too_short(value: Any, opened: Opened) -> bool:
    """Return whether the text of a shorter list would be read as something else."""
    return type(value) is list and len(value) < opened.least


def _notation(parsed: tuple[Any, Any] | None) -> str:
    return parsed[1].name if parsed else ""


def _is_long(lines: Sequence[str]) -> bool:
    return sum(map(len, lines)) + len(lines) > _PART_CHARS


def _stored(content: Any) -> str | None:
    """Return a text, or the JSON of any other content; None if it has none."""
    if type(content) is str:
        return content
    try:
        return stored_json(content).decode()
    except (ValueError, RecursionError):
        return None


def _repeats_in(content: Any) -> list[markers.Repeat]:
    return [*markers.repeats_in(_stored(content) or "")]


def _key(item: Any) -> str:
    """Return what identifies an item: a text, or the JSON of a list or an object. Empty if it is short or marked."""
    if _is_atomic(item):
        return ""
    if type(item) is not str and has_structure(item):
        item = open_live(item).value
    key = _stored(item) or ""
    is_marked = markers.PREFIX in key or markers.ESCAPED in key
    return "" if len(key) < _PART_CHARS or is_marked else key


def _thin(item: Any) -> Any:
    """Return an object with its id or its first short value, the same object if it has none, or None for others."""
    opened = open_live(item)
    value = opened.value
    if type(value) is not dict:
        return None
    for name in ("id", *value):
        short = value.get(name)
        is_short = type(short) is str and 0 < len(short) <= _PART_CHARS
        if is_short or type(short) in (int, float):
            return opened.write({name: short}) if len(value) > 1 else item
    return item


def _has_media(value: Any) -> bool:
    if is_media(value):
        return True
    items = value.values() if isinstance(value, dict) else value
    return isinstance(value, (dict, list, tuple)) and any(map(_has_media, items))
