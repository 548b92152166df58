"""What each step removed from a return and what was restored, read from the finished plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from reducer.engine.cuts import Cut
from reducer.engine.plan import LAST, Emptied, Node, Omission, Opened, build
from reducer.values import Unreducible, chars

Token = str | int


@dataclass(frozen=True, slots=True)
class Edit:
    """What one step removed at one place, or what is restored there of it.

    `path` has the keys and indices that lead to the place in the return as it arrived. `value` is what the step
    removed, as it found it, or what is restored, as it is in the result: for "items" a list, whose `indices` say where
    they are among the `total` items that the step found. `before` and `after` are characters. A "marker" is an item
    that restoring appends to the list at `path`; its `step` is the last that removed items there.
    """

    step: int
    kind: Literal["key", "items", "emptied", "cut", "unwrapped", "marker"]
    path: tuple[Token, ...]
    value: Any
    before: int
    after: int
    indices: tuple[int, ...] = ()
    total: int = 0


def removals(value: Any, node: Node | None, path: tuple[Token, ...] = (), until: int = LAST) -> Iterator[Edit]:
    """Yield what each step before step `until` removed from a value, in document order."""
    if type(node) is Omission:
        removed_by: dict[Any, int] = {}
        for edit in _removed(value, node, path, until):
            removed_by.update(dict.fromkeys(edit.indices or edit.path[-1:], edit.step))
            yield edit
        for key, inner in _inside(value, node):
            yield from removals(value[key], inner, (*path, key), removed_by.get(key, until))
    elif type(node) is Opened:
        yield from removals(node.value, node.inside.get(0), path, until)
        step = node.unwrapped
        if 0 < step < until:
            text, left = build(value, node, step - 1), build(value, node, step)
            yield Edit(step, "unwrapped", path, text, before=size(text), after=size(left))
    elif type(node) is Emptied:
        step = node.step
        if step < until and (left := build(value, node.before, step - 1, seen=True)):
            yield Edit(step, "emptied", path, left, before=size(left), after=size(node.empty))
        yield from removals(value, node.before, path, min(until, step))
    elif type(node) is Cut:
        yield from removals(value, node.before, path, until)
        if node.step < until:
            start, end = node.gaps()[0]
            before = len(node.left(node.step - 1))
            yield Edit(node.step, "cut", path, node.text[start:end], before=before, after=len(node.written))


def _removed(value: Any, node: Omission, path: tuple[Token, ...], until: int) -> Iterator[Edit]:
    """Yield the keys, or the items, that each step removed from one object or list."""
    left: list[Any] = [*value] if type(value) is dict else [*range(len(value))]
    for step, kept in dict(node.versions).items():
        names = frozenset(kept)
        removed = [key for key in left if key not in names]
        if step and step < until and removed:
            items = {key: build(value[key], node.inside.get(key), step - 1, seen=True) for key in removed}
            yield from _edits_of(step, path, items, len(left))
        left = [key for key in left if key in names]


def _edits_of(step: int, path: tuple[Token, ...], items: dict[Any, Any], total: int) -> Iterator[Edit]:
    """Yield the removal of some keys, one by one, or of some items, together."""
    if all(type(key) is int for key in items):
        sizes = sum(map(size, items.values())) + len(items)
        values = [*items.values()]
        yield Edit(step, "items", path, values, before=sizes, after=0, indices=tuple(items), total=total)
    else:
        for key, item in items.items():
            yield Edit(step, "key", (*path, key), item, before=size(key) + 2 + size(item), after=0)


def restorations(value: Any, node: Node | None, path: tuple[Token, ...] = ()) -> Iterator[Edit]:
    """Yield what is restored in a value, in document order."""
    if type(node) is Omission:
        yield from _restored(value, node, path)
    elif type(node) is Opened:
        yield from restorations(node.value, node.inside.get(0), path)
    elif type(node) is Cut and node.restored is not None:
        yield Edit(node.step, "cut", path, node.restored, before=len(node.written), after=len(node.restored))


def _restored(value: Any, node: Omission, path: tuple[Token, ...]) -> Iterator[Edit]:
    restored = node.restored or {}
    steps: dict[int, list[Any]] = {}
    for key in value if type(value) is dict else sorted(restored):
        if key in restored and not (node.kept is None or key in node.kept):
            step = next((number for number, kept in node.versions if key not in kept), 0)
            steps.setdefault(step, []).append(key)
    for step, keys in steps.items():
        for edit in _edits_of(step, path, {key: build(value[key], restored[key]) for key in keys}, 0):
            yield replace(edit, before=0, after=edit.before)
    if node.marker:
        last = node.versions[-1][0] if node.versions else 0
        yield Edit(last, "marker", path, node.marker, before=0, after=size(node.marker) + 1)
    for key, inner in _inside(value, node):
        if key not in restored and (node.kept is None or key in node.kept):
            yield from restorations(value[key], inner, (*path, key))
        elif key in restored and type(inner) is Emptied:
            left = build(value[key], restored[key])
            yield Edit(inner.step, "emptied", (*path, key), left, before=size(inner.empty), after=size(left))


def _inside(value: Any, node: Omission) -> Iterator[tuple[Any, Node]]:
    """Yield the keys or indices with a plan of their own, in document order."""
    for key in value if type(value) is dict else sorted(node.inside):
        if key in node.inside:
            yield key, node.inside[key]


def size(value: Any) -> int:
    """Count the characters of a value inside another one, where a text is quoted; 0 if it is too deep to count."""
    try:
        return chars([value]) - 2
    except Unreducible:
        return 0
