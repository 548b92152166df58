"""What each step removed from a return and what was restored, read from the finished plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from reducer.engine.cuts import Cut
from reducer.engine.plan import Emptied, Node, Omission, Opened, build, write_back
from reducer.values import Unreducible, chars

Token = str | int


@dataclass(frozen=True, slots=True)
class Edit:
    """What one step removed at one place, or what is restored there of it.

    `path` has the keys and indices that lead to the place in the return as it arrived. `value` is what the step
    removed, as it found it, or what is restored, as it is in the result: for "items" a list, whose `indices` say where
    they are among the `total` items that the step found. `before` and `after` are characters. A "marker" is an item
    that restoring appends to the list at `path`; its `step` is the first that removed items there.
    """

    step: int
    kind: Literal["key", "items", "emptied", "cut", "unwrapped", "marker"]
    path: tuple[Token, ...]
    value: Any
    before: int
    after: int
    indices: tuple[int, ...] = ()
    total: int = 0


def left_after(value: Any, node: Node | None, step: int, seen: bool) -> Any:
    """Return what was left of a value after step `step`, without what restoring adds; the same object if unchanged.

    With 0 it is the value as it arrived. With `seen`, texts that were opened are the values that they contain.
    """
    kind = type(node)
    if kind is Omission:
        return _left_of_container(value, node, step, seen)  # type: ignore[arg-type]
    if kind is Opened:
        left = left_after(node.value, node.inside.get(0), step, seen)  # type: ignore[union-attr]
        if seen or 0 < node.unwrapped <= step:  # type: ignore[union-attr]
            return left
        return value if left is node.value else write_back(value, node, left)  # type: ignore[union-attr, arg-type]
    if kind is Emptied:
        return type(node.empty)() if node.step <= step else left_after(value, node.before, step, seen)  # type: ignore[union-attr]
    if kind is Cut:
        cut: Cut | None = node  # type: ignore[assignment]
        while cut is not None and cut.step > step:
            cut = cut.before
        return value if cut is None else cut.written
    return value


def _left_of_container(value: Any, node: Omission, step: int, seen: bool) -> Any:
    kept = kept_after(node, step)
    inside = node.inside
    if type(value) is dict:
        new: Any = {
            key: left_after(item, inside.get(key), step, seen)
            for key, item in value.items()
            if kept is None or key in kept
        }
        same = len(new) == len(value) and all(new[key] is item for key, item in value.items())
    else:
        indices = range(len(value)) if kept is None else kept
        new = [left_after(value[index], inside.get(index), step, seen) for index in indices]
        same = len(new) == len(value) and all(left is item for left, item in zip(new, value, strict=True))
    return value if same else new


def kept_after(node: Omission, step: int) -> Any:
    """Return what a list or an object kept after a step: indices or keys, None for all of them."""
    kept = None
    for number, left in node.versions:
        if number <= step:
            kept = left
    return kept


def removals(value: Any, node: Node | None, path: tuple[Token, ...] = (), until: int | None = None) -> Iterator[Edit]:
    """Yield what each step removed from a value, in document order; with `until`, only what earlier steps removed."""
    kind = type(node)
    if kind is Omission:
        removed_by: dict[Any, int] = {}
        for edit in _removed(value, node, path, until):  # type: ignore[arg-type]
            keys: Iterable[Any] = edit.indices or (edit.path[-1],)
            removed_by.update(dict.fromkeys(keys, edit.step))
            yield edit
        for key, inner in _inside(value, node):  # type: ignore[arg-type]
            yield from removals(value[key], inner, (*path, key), removed_by.get(key, until))
    elif kind is Opened:
        yield from removals(node.value, node.inside.get(0), path, until)  # type: ignore[union-attr]
        step = node.unwrapped  # type: ignore[union-attr]
        if step and (until is None or step < until):
            text, left = (left_after(value, node, number, seen=False) for number in (step - 1, step))
            yield Edit(step, "unwrapped", path, text, size(text), size(left))
    elif kind is Emptied:
        step, before = node.step, node.before  # type: ignore[union-attr]
        if until is None or step < until:
            until = step
            if left := left_after(value, before, step - 1, seen=True):
                yield Edit(step, "emptied", path, left, size(left), size(node.empty))  # type: ignore[union-attr]
        yield from removals(value, before, path, until)
    elif kind is Cut:
        yield from _cuts(node, path, until)  # type: ignore[arg-type]


def _removed(value: Any, node: Omission, path: tuple[Token, ...], until: int | None) -> Iterator[Edit]:
    """Yield the keys, or the items, that each step removed from one object or list."""
    left: list[Any] = [*value] if type(value) is dict else [*range(len(value) - (node.earlier is not None))]
    for step, kept in dict(node.versions).items():
        names = frozenset(kept)
        gone = [key for key in left if key not in names]
        if not gone or (until is not None and step >= until):
            continue
        values = [left_after(value[key], node.inside.get(key), step - 1, seen=True) for key in gone]
        if type(value) is dict:
            for key, item in zip(gone, values, strict=True):
                yield Edit(step, "key", (*path, key), item, size(key) + 2 + size(item), 0)
        else:
            before = sum(map(size, values)) + len(values)
            yield Edit(step, "items", path, values, before, 0, tuple(gone), len(left))
        left = [key for key in left if key in names]


def _cuts(cut: Cut, path: tuple[Token, ...], until: int | None) -> Iterator[Edit]:
    """Yield what each step cut from one text, the first step first; several cuts of one step are one."""
    steps: dict[int, list[Cut]] = {}
    earlier: Cut | None = cut
    while earlier is not None:
        steps.setdefault(earlier.step, []).append(earlier)
        earlier = earlier.before
    for step, cuts in sorted(steps.items()):
        if until is None or step < until:
            new, old = cuts[0], cuts[-1].before
            start, end = new.gaps()[0]
            before = len(new.text if old is None else old.written)
            yield Edit(step, "cut", path, new.text[start:end], before, len(new.written))


def restorations(value: Any, node: Node | None, path: tuple[Token, ...] = ()) -> Iterator[Edit]:
    """Yield what is restored in a value, in document order."""
    kind = type(node)
    if kind is Omission:
        yield from _restored(value, node, path)  # type: ignore[arg-type]
    elif kind is Opened:
        yield from restorations(node.value, node.inside.get(0), path)  # type: ignore[union-attr]
    elif kind is Emptied and node.restored is not None:  # type: ignore[union-attr]
        left = build(value, node)
        yield Edit(node.step, "emptied", path, left, size(node.empty), size(left))  # type: ignore[union-attr]
    elif kind is Cut and node.restored is not None:  # type: ignore[union-attr]
        written, restored = node.written, node.restored  # type: ignore[union-attr]
        yield Edit(node.step, "cut", path, restored, len(written), len(restored))  # type: ignore[union-attr, arg-type]


def _restored(value: Any, node: Omission, path: tuple[Token, ...]) -> Iterator[Edit]:
    restored = node.restored or {}
    left = {key: build(value[key], inner) for key, inner in restored.items()}
    steps: dict[int, list[Any]] = {}
    for key in value if type(value) is dict else sorted(restored):
        if key in restored:
            step = next((number for number, kept in node.versions if key not in kept), 0)
            steps.setdefault(step, []).append(key)
    for step, keys in steps.items():
        if type(value) is dict:
            for key in keys:
                yield Edit(step, "key", (*path, key), left[key], 0, size(key) + 2 + size(left[key]))
        else:
            items = [left[index] for index in keys]
            yield Edit(step, "items", path, items, 0, sum(map(size, items)) + len(items), tuple(keys))
    if node.marker:
        last = node.versions[-1][0] if node.versions else 0
        before = 0 if node.earlier is None else size(value[-1]) + 1
        yield Edit(last, "marker", path, node.marker, before, size(node.marker) + 1)
    for key, inner in _inside(value, node):
        if key not in restored and (node.kept is None or key in node.kept):
            yield from restorations(value[key], inner, (*path, key))


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
