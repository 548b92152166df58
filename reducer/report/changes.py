"""What stands in one value and not in another that was made of it, summed up for people: one line for each kind of place."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from reducer.path.written import Token, path_text
from reducer.values import MAX_DEPTH, Unreducible, chars, dump

Kind = Literal["removed", "emptied", "cut", "changed", "returned"]

_MANY_KEYS = 8
"""Keys of one object, changed alike, above which they are named together."""
_NAMED = 6
_SAMPLE = 64


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was taken away, at one place or at several alike.

    `path` names it as JMESPath does; removed items are named `list[20..57]`. `places` counts lists, keys or texts; `items` removed items of
    lists out of `total`, 0 for anything else; `before` and `after` are characters. `names` are removed keys that are named together, `sample` is the
    beginning of the first thing that went.
    """

    kind: Kind
    path: str
    places: int
    items: int
    total: int
    before: int
    after: int
    names: tuple[str, ...]
    sample: str
    pattern: tuple[Token, ...] = field(repr=False)

    def meets(self, other: Change) -> bool:
        """Tell whether one of two changes lies at or below the place of the other."""
        shorter = min(len(self.pattern), len(other.pattern))
        return all(a == b or a is None or b is None for a, b in zip(self.pattern[:shorter], other.pattern[:shorter], strict=True))

    def returned(self) -> Change:
        """Give the change that puts back what this one took."""
        return replace(self, kind="returned", before=self.after, after=self.before)


@dataclass(slots=True)
class _Sum:
    """The changes of one kind at places alike, while they are summed up; `first` is the whole path of the first."""

    kind: Kind
    pattern: tuple[Token, ...]
    first: tuple[Token, ...]
    thing: Any
    places: int = 0
    items: int = 0
    total: int = 0
    before: int = 0
    after: int = 0
    indexes: Sequence[int] = ()
    names: dict[str, None] = field(default_factory=dict)


def changes(old: Any, new: Any) -> tuple[Change, ...]:
    """Sum up what `old` has and `new`, made of it by taking away, has not; in the order of the first of each kind."""
    sums: dict[tuple[Any, ...], _Sum] = {}
    _walk(old, new, (), (), sums, MAX_DEPTH)
    return tuple(map(_change, _merged(sums.values())))


def characters(value: Any, otherwise: int = 0) -> int:
    """Count what the model is shown for `value`, however deep: `values.chars`; `otherwise` past what the interpreter can write."""
    if type(value) is str:
        return len(value)
    try:
        return len(_encode(value))  # 6 times as fast as counting, and all of it is counted here
    except (ValueError, TypeError, RecursionError):
        try:
            return chars(value)
        except (Unreducible, RecursionError):
            return otherwise


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False).encode


def _inside(value: Any) -> int:
    # Within another value a text stands in quotes.
    return characters([value]) - 2


_EACH = -1


def _walk(old: Any, new: Any, path: tuple[Token, ...], pattern: tuple[Token, ...], sums: dict[tuple[Any, ...], _Sum], depth: int) -> None:
    if new is old or depth < 0:
        return
    if type(old) is dict and type(new) is dict:
        _object(old, new, path, pattern, sums, depth)
    elif type(old) is list and type(new) is list:
        _list(old, new, path, pattern, sums, depth)
    elif old != new or type(old) is not type(new):
        kind: Kind = "cut" if type(old) is str and type(new) is str else "changed"
        lost = old[_common(old, new) :] if kind == "cut" else old
        _add(sums, kind, path, pattern, lost, characters(old), characters(new))


def _object(old: dict[str, Any], new: dict[str, Any], path: tuple[Token, ...], pattern: tuple[Token, ...], sums: Any, depth: int) -> None:
    changed = [(key, item) for key, item in old.items() if key in new and new[key] is not item]
    gone = [key for key in old if key not in new]
    for key in gone:
        # Keys of one object are named together later, if they are many.
        _add(sums, "removed", (*path, key), (*pattern, key), old[key], _inside(key) + 2 + _inside(old[key]), 0)
    many = len(changed) > _MANY_KEYS
    for key, item in changed:
        left = new[key]
        below = (*pattern, None if many else key)
        if not left and item and type(left) is type(item) and type(left) in (str, list, dict):
            _add(sums, "emptied", (*path, key), below, item, _inside(item), _inside(left))
        else:
            _walk(item, left, (*path, key), below, sums, depth - 1)


def _list(old: list[Any], new: list[Any], path: tuple[Token, ...], pattern: tuple[Token, ...], sums: Any, depth: int) -> None:
    gone: list[int] = []
    for index, left in _paired(old, new):
        if left is None:
            gone.append(index)
        else:
            _walk(old[index], new[left], (*path, index), (*pattern, _EACH), sums, depth - 1)
    if gone:
        before = sum(_inside(old[index]) + 1 for index in gone)
        entry = _add(sums, "removed", path, (*pattern, _EACH), old[gone[0]], before, 0)
        entry.items += len(gone)
        entry.total += len(old)
        entry.indexes = gone


def _paired(old: list[Any], new: list[Any]) -> list[tuple[int, int | None]]:
    """Pair each item of `old` with the one that is left of it in `new`: the same object, or between two of those one in the same order."""
    if len(old) == len(new):
        return [(index, index) for index in range(len(old))]
    pairs: list[tuple[int, int | None]] = []
    start = waiting = 0
    standing: dict[int, list[int]] = {}
    for index, item in enumerate(old):
        standing.setdefault(id(item), []).append(index)
    for number in range(len(new) + 1):
        if number == len(new):
            at = len(old)
        else:
            indexes = standing.get(id(new[number]), [])
            place = bisect_left(indexes, start + number - waiting)
            if place == len(indexes):
                continue
            at = indexes[place]
        # Between two items that are the same: changed ones first, then those that went.
        pairs += [(index, waiting + index - start if waiting + index - start < number else None) for index in range(start, at)]
        if at < len(old):
            pairs.append((at, number))
        start, waiting = at + 1, number + 1
    return pairs


def _add(sums: dict[tuple[Any, ...], _Sum], kind: Kind, path: tuple[Token, ...], pattern: tuple[Token, ...], thing: Any, before: int, after: int) -> _Sum:
    entry = sums.get((kind, pattern))
    if entry is None:
        entry = sums[kind, pattern] = _Sum(kind, pattern, path, thing)
    entry.places += 1
    entry.before += before
    entry.after += after
    return entry


def _merged(sums: Any) -> list[_Sum]:
    """Put removed keys of the same objects together, where they are many."""
    beside: dict[tuple[Any, ...], list[_Sum]] = {}
    for entry in sums:
        together = entry.kind in ("removed", "emptied") and not entry.items
        beside.setdefault((entry.kind, entry.pattern[:-1]) if together else (id(entry),), []).append(entry)
    merged: list[_Sum] = []
    for entries in beside.values():
        if len(entries) <= _NAMED:
            merged += entries
            continue
        first = entries[0]
        entries.sort(key=lambda entry: -entry.before)
        whole = _Sum(first.kind, (*first.pattern[:-1], None), (*first.first[:-1], None), first.thing)
        whole.places = sum(entry.places for entry in entries)
        whole.before, whole.after = sum(entry.before for entry in entries), sum(entry.after for entry in entries)
        whole.names = dict.fromkeys(str(entry.pattern[-1]) for entry in entries)
        merged.append(whole)
    return merged


def _change(entry: _Sum) -> Change:
    if entry.items:
        place = path_text(entry.first if entry.places == 1 else entry.pattern[:-1])
        path = ("" if place == "@" else place) + (f"[{_ranges(entry.indexes)}]" if entry.places == 1 else "[*]")
    else:
        once = entry.places == (len(entry.names) or 1)
        tokens = entry.first if once else entry.pattern
        path = path_text(tokens[:-1] if entry.names else tokens)
    sample = "" if entry.names else beginning(entry.thing)
    return Change(
        entry.kind, path, entry.places, entry.items, entry.total, entry.before, entry.after, tuple(entry.names), sample, entry.pattern
    )  # fmt: skip


def _ranges(indexes: Sequence[int]) -> str:
    """Write indexes as `3, 20..57`; after four of those `…`."""
    runs: list[list[int]] = []
    for index in indexes:
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    texts = [str(a) if a == b else f"{a}..{b}" for a, b in runs[:4]]
    return ", ".join([*texts, "…"] if len(runs) > 4 else texts)


def beginning(value: Any, width: int = _SAMPLE) -> str:
    """Give the beginning of a value on one line of at most `width` characters and a mark."""
    text = value if type(value) is str else _beginning(value, width * 4)
    text = " ".join(text[: width * 4].split())
    return text if len(text) <= width else f"{text[:width]}…"


def _beginning(value: Any, room: int) -> str:
    # Not all of it: a value may have megabytes.
    if room <= 0 or type(value) not in (dict, list):
        return dump(value if type(value) is not str else value[: _SAMPLE * 4])
    parts: list[str] = []
    for key in value:
        part = _beginning(key, 0) + ": " + _beginning(value[key], room // 2) if type(value) is dict else _beginning(key, room // 2)
        parts.append(part)
        room -= len(part)
        if room <= 0:
            break
    inside = ", ".join(parts)
    return f"{{{inside}}}" if type(value) is dict else f"[{inside}]"


def _common(old: str, new: str) -> int:
    """Count the characters that two texts share at their start."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old.startswith(new[:middle]):
            low = middle
        else:
            high = middle - 1
    return low
