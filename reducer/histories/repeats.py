"""Repeats: what the earlier returns of a history show is left out of later ones, with a marker that names the calls.

`Repeats.reduce` takes the returns of one history in order. It applies the rules to a return, leaves out what earlier
returns show, and remembers what the result shows. It looks only back, so the result for a prefix of a history is a
prefix of the result, and a reduced prefix can be continued.

- A text that an earlier return shows is replaced with a marker.
- Of consecutive lines that one earlier text shows, the first line stays, and a marker replaces the others.
- Of an object in a list, its id or its first short value stays. Other items are removed. The list gets one marker.

Other objects stay, and so does what is inside one of several items of a list: a reader could not tell which it was.
What contains a marker is neither remembered nor left out, and nothing is left out with `keys: all`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from reducer import markers
from reducer.engine import Outcome
from reducer.formats import Atom, parse, parse_nested
from reducer.formats.lines import read_lines
from reducer.plan.nodes import LEAVES, Opened, fits, open_live, open_parsed, open_return
from reducer.values import MAX_DEPTH, Unreducible, chars, is_media, plain, stored_json

_ATOMIC = LEAVES - {str} | {Atom}
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

    - `sizes` contains the number of characters that the returns of each call have shown.
    - `parts` contains the lines of each text, with None after them and for marked lines, and each text and item.
    - `first` maps each part to its first index there and the call that showed it.
    """

    attempt: Callable[..., Outcome]
    sizes: Counter[str] = field(default_factory=Counter)
    parts: list[str | None] = field(default_factory=lambda: [None])
    first: dict[str, tuple[int, str]] = field(default_factory=dict)

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
        first, second = _Pass(self, call), _Pass(self, call)
        new = first.content(alone)
        if new is alone or (outcome.rule is not None and outcome.rule.settings.all_keys):
            return Repeated(outcome, alone, dangling=self._remember(alone, first))
        if second.content(new) is not new or apply(new).content is not new:
            return Repeated(outcome, alone, is_dropped=True, dangling=self._remember(alone, first))
        saved = chars(alone) - chars(new)
        return Repeated(outcome, new, saved, dangling=self._remember(new, second))

    def show(self, tool: str, call_id: str, content: Any) -> int:
        """Remember what a reduced return shows, and return the number of its markers that dangle."""
        only = _Pass(self, markers.call_of(tool, call_id))
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
        self.sizes[found.call] += len(_stored(content))
        for parts in found.shown:
            for part in parts:
                is_marked = markers.PREFIX in part or markers.ESCAPED in part
                if not is_marked:
                    self.first.setdefault(part, (len(self.parts), found.call))
                self.parts.append(None if is_marked else part)
            self.parts.append(None)
        return dangling


@dataclass(frozen=True, slots=True)
class _Pass:
    """Leaves out of a return of `call` what earlier returns show.

    `shown` contains the lines of each text in the return, and each text and item alone.
    """

    repeats: Repeats
    call: str
    shown: list[Sequence[str]] = field(default_factory=list)

    def content(self, content: Any) -> Any:
        """Return a content without what earlier returns show, or the same object if nothing is left out."""
        with suppress(Unreducible, ValueError, RecursionError):
            top = open_return(content) if _stored(content) else None
            new = content if top is None else self._rewritten(content, top)
            return min(content, new, key=chars)
        return content

    def _rewritten(self, value: Any, opened: Opened, depth: int = 0, in_item: bool = False) -> Any:
        """Return an opened value without what is shown, or the value if the rest would be read as something else."""
        new = self._value(opened.value, depth, in_item)
        if new == opened.value:
            return value
        written = opened.write(new)
        return written if type(value) is not str or _notation(written) == _notation(value) else value

    def _value(self, value: Any, depth: int, in_item: bool) -> Any:
        """Return a value without what is shown, or an equal one if nothing is; `in_item` it stays."""
        is_short = type(value) is str and len(value) < _PART_CHARS
        if is_short or depth > MAX_DEPTH or type(value) in _ATOMIC or is_media(value):
            return value
        if type(value) is list:
            return self._list(value, depth, in_item)
        if type(value) is dict:
            return {key: self._value(item, depth + 1, in_item) for key, item in value.items()}
        if type(value) is not str:
            return self._rewritten(value, open_live(value), depth + 1, in_item)
        parsed = parse_nested(value)
        if parsed is None:
            return self._text(value, in_item)
        return self._rewritten(value, open_parsed(*parsed), depth + 1, in_item)

    def _list(self, items: list[Any], depth: int, in_item: bool) -> list[Any]:
        left: list[Any] = []
        calls: list[str] = []
        for item in items:
            call = self._call_of(item)
            rest = _thin(item) if call and not in_item else [item]
            left += rest
            if rest != [item]:
                calls.append(call)
        marker = markers.repeat(len(calls), "items", dict.fromkeys(calls))
        is_shorter = calls and chars([*left, marker]) < chars(items)
        new = [self._value(item, depth + 1, in_item or len(items) > 1) for item in (left if is_shorter else items)]
        if is_shorter:
            is_marked = type(items[-1]) is str and items[-1].startswith(markers.PREFIX)
            new.insert(len(new) - is_marked, marker)
        return new

    def _call_of(self, item: Any) -> str:
        """Return the other call that shows an item first; empty if none does, or for a short item or one with media."""
        value = plain(item)
        key = _stored(value)
        if len(key) < _PART_CHARS or not fits(value):
            return ""
        self.shown.append([key])
        _, call = self._found(key)
        return call

    def _text(self, text: str, in_item: bool) -> str:
        lines, write = read_lines(text)
        self.shown.extend(([text], lines))
        if in_item:
            return text
        _, call = self._found(text)
        if call and len(text) >= _TEXT_CHARS:
            return markers.repeat(len(text), "characters", [call])
        return write(self._without_blocks(lines))

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
        """Return where the lines end that one text of another call shows from `at` on, and this call.

        If none does, the call is empty, and one line is returned.
        """
        index, call = self._found(lines[at])
        end = at + 1
        while end < len(lines) and lines[end] == self.repeats.parts[index + end - at]:
            end += 1
        return end, call

    def _found(self, part: str) -> tuple[int, str]:
        """Return where another call shows a text, a line or an item first, and this call; empty if none does."""
        nothing = (-2, "")  # only None follows it
        found = self.repeats.first.get(part, nothing)
        return nothing if found[1] == self.call else found


# --- values


def _notation(text: str) -> str:
    parsed = parse(text)
    return parsed[1].name if parsed else ""


def _stored(content: Any) -> str:
    """Return a text, or the JSON of any other content; empty if it has none."""
    if type(content) is str:
        return content
    with suppress(ValueError, RecursionError):
        return stored_json(content).decode()
    return ""


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
