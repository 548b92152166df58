"""Read from a finished plan what each step removed and what was restored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from reducer.plan.cuts import Cut
from reducer.plan.nodes import LAST, Emptied, Node, Omission, Opened, build, keys_of
from reducer.plan.place import Key
from reducer.values import Unreducible, chars


@dataclass(frozen=True, slots=True)
class Edit:
    """One removal by a step at one place, or the part of it that was restored.

    A "marker" is an item that restoring appends to the list at `path`; its step is the last one that removed items.
    """

    step: int
    kind: Literal["key", "items", "emptied", "cut", "unwrapped", "marker"]
    path: tuple[Key, ...]
    """The keys and indices that lead to the place in the original return."""
    value: Any
    """The removed value as the step found it, or the restored value as it is in the result; for "items" a list."""
    before: int
    """Characters before the step."""
    after: int
    """Characters after the step."""
    indices: tuple[int, ...] = ()
    """The original indices of "items"."""
    total: int = 0
    """The number of items in the list before the step."""
    is_restored: bool = False


def edits(value: Any, node: Node | None, path: tuple[Key, ...] = (), until: int = LAST) -> Iterator[Edit]:
    """Yield the removals by all steps before step `until`, and what was restored of them, in document order."""
    if type(node) is Omission:
        yield from _edits_of_children(value, node, path, until)
    elif type(node) is Opened:
        yield from edits(node.value, node.plan, path, until)
        step = node.unwrapped
        if step < until:
            text, left = build(value, node, step - 1), build(value, node, step)
            yield Edit(step, "unwrapped", path, text, before=_size(text), after=_size(left))
    elif type(node) is Emptied:
        step = node.step
        if step < until and (left := build(value, node.before, step - 1, seen=True)):
            yield Edit(step, "emptied", path, left, before=_size(left), after=_size(node.empty))
        yield from edits(value, node.before, path, min(until, step))
    elif type(node) is Cut:
        yield from edits(value, node.before, path, until)
        edit = Edit(
            node.step, "cut", path, node.written, before=len(node.after(node.step - 1)), after=len(node.written)
        )
        if node.step < until and node.written != node.after(node.step - 1):
            start, end = node.gaps()[0]
            yield replace(edit, value=node.text[start:end])
        if node.restored is not None:
            restored = node.join(node.restored)
            yield replace(edit, value=restored, before=edit.after, after=len(restored), is_restored=True)


def _edits_of_children(value: Any, node: Omission, path: tuple[Key, ...], until: int) -> Iterator[Edit]:
    restored: dict[Any, Any] = {}
    for key, plan in (node.restored or {}).items():
        restored[key] = build(value[key], plan)
    removed, left, inside = node.removed(value), len(value), node.separate(value)
    for step, group in groupby(removed, removed.__getitem__):
        keys, found = [*group], dict[Any, Any]()
        for key in keys if 0 < step < until else ():
            found[key] = build(value[key], inside.get(key), step - 1, seen=True)
        yield from _removals(step, path, found, left)
        for edit in _removals(step, path, {key: restored[key] for key in keys if key in restored}, 0):
            yield replace(edit, before=0, after=edit.before, is_restored=True)
        left -= len(keys)
    if node.marker:
        step = node.versions[-1].step if node.versions else 0
        size = _size(node.marker) + 1
        yield Edit(step, "marker", path, node.marker, before=0, after=size, is_restored=True)
    for key in keys_of(value) if inside else ():
        inner, own = inside.get(key), (*path, key)
        yield from edits(value[key], inner, own, min(until, removed.get(key, until)))
        if type(inner) is Emptied and key in restored and key not in removed:
            before, after = _size(inner.empty), _size(restored[key])
            yield Edit(inner.step, "emptied", own, restored[key], before=before, after=after, is_restored=True)


def _removals(step: int, path: tuple[Key, ...], items: dict[Any, Any], total: int) -> Iterator[Edit]:
    """Yield one edit for each removed key, or a single edit for all removed items."""
    if not items:
        return
    if {*map(type, items)} == {int}:
        sizes = sum(map(_size, items.values())) + len(items)
        values = [*items.values()]
        yield Edit(step, "items", path, values, before=sizes, after=0, indices=tuple(items), total=total)
    else:
        for key, item in items.items():
            yield Edit(step, "key", (*path, key), item, before=_size(key) + 2 + _size(item), after=0)


def _size(value: Any) -> int:
    """Count the characters of a value within another value, where texts are quoted. Count 0 if it is too deep."""
    try:
        return chars([value]) - 2
    except Unreducible:
        return 0
