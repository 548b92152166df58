"""Paths: the part of JMESPath whose answer is not a new value but *places* in the given one, as lenses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from . import lenses
from .lenses import Lens, Step, found_by, joined
from .reads import Chain
from .syntax import Node
from .tokens import PathError

Shape: TypeAlias = tuple[tuple[Any, ...], ...]
Test: TypeAlias = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class One:
    """A path that leads to one place at most."""

    steps: tuple[Step, ...]
    shape: Shape = ()


@dataclass(frozen=True, slots=True)
class Many:
    """A path that leads to a list of places, as a projection does; the list itself stands nowhere in the value.

    `steps` lead to what holds the items: the items themselves, or, for a list of such lists (`a[*].b[*]`), the values in which
    `items` then leads to an inner list; `shape` leads to the holders. `exists` tells whether there is a list at all, though it be
    empty. `nulls`: they count as items.
    """

    steps: tuple[Step, ...]
    shape: Shape
    exists: Test
    items: Many | None = None
    nulls: bool = False


Focus: TypeAlias = One | Many


_LISTS = frozenset({"projection", "value_projection", "filter_projection", "flatten"})


def _nothing(then: Lens) -> Lens:
    return lenses.nowhere


HERE = One(())


def names_of(shape: Shape) -> Chain:
    """Give the field names on the way of a path's shape; `*` stands for every key."""
    return tuple("*" if token[0] == "values" else str(token[1]) for token in shape if token[0] in ("field", "values"))


def lens_of(focus: Focus) -> Lens:
    """Make the lens for all places of a path."""
    steps: tuple[Step, ...] = ()
    while isinstance(focus, Many):
        focus = _settled(focus)
        steps += focus.steps
        focus = focus.items or HERE
    return joined(steps + focus.steps)


@dataclass(frozen=True, slots=True)
class Places:
    """Compile the nodes of a path, each from where the one before it leads.

    `condition` is called for every filter, in the order of the text, with its node and the shape of the list; it gives the test
    and the step of the shape.
    `lost` is called for a node that can find nothing there, as a key of a projection's list.
    """

    condition: Callable[[Node, Shape], tuple[Test, tuple[Any, ...]]]
    lost: Callable[[Node], None]

    def follow(self, node: Node, focus: Focus, above: Shape = ()) -> Focus:
        """Give where `node` leads from `focus`, whose own root has the shape `above`."""
        kind, below = node["type"], node["children"]
        if kind in ("current", "identity"):
            return focus
        if kind in ("subexpression", "index_expression", "pipe"):
            for child in below:
                focus = self.follow(child, focus, above)
            return focus
        if kind == "field":
            return self._entered(node, focus)
        if kind == "index":
            return _indexed(focus, node["value"])
        if kind == "slice":
            return _sliced(focus, slice(*below))
        if kind not in _LISTS:
            raise PathError("E065", "the expression makes a new value; a path names places")
        base = self.follow(below[0], focus, above)
        if kind == "flatten":
            return _flattened(base)
        if kind == "value_projection":
            items = self._values(node, base)
            return items if isinstance(items, One) else self._projected(items, below[1], above)
        if kind == "filter_projection":
            holds, token = self.condition(below[2], (*above, *shape_of(base)))
            return self._projected(_filtered(base, holds, token), below[1], above)
        return self._projected(_listed(base), below[1], above)

    def _projected(self, base: Many, right: Node, above: Shape) -> Many:
        inner = self.follow(right, base.items or HERE, (*above, *base.shape))
        return _inside(base, inner)

    def _entered(self, node: Node, focus: Focus) -> Focus:
        name: str = node["value"]
        if isinstance(focus, Many):
            self.lost(node)
            return One((_nothing,), (*shape_of(focus), ("field", name)))
        return One((*focus.steps, partial(lenses.field, name)), (*focus.shape, ("field", name)))

    def _values(self, node: Node, base: Focus) -> Focus:
        if isinstance(base, Many):
            self.lost(node)
            return One((_nothing,), (*shape_of(base), ("values",)))
        return Many((*base.steps, lenses.values_of), (*base.shape, ("values",)), _exists(base, lenses.is_object))


def shape_of(focus: Focus) -> Shape:
    """Give the steps from the root to the places."""
    if isinstance(focus, One) or focus.items is None:
        return focus.shape
    return (*focus.shape, *shape_of(focus.items))


def _exists(base: One, test: Test) -> Test:
    lens = joined(base.steps)

    def exists(root: Any) -> bool:
        found = found_by(lens, root)
        return bool(found) and test(found[0])

    return exists


def _list_at(many: Many) -> Callable[[Any], list[Any]]:
    """Make the function that gives the list with the values at the places, as jmespath makes it."""
    lens = joined(many.steps)
    if many.items is None:
        return partial(found_by, lens)
    inner, exists = _list_at(many.items), many.items.exists
    return lambda root: [inner(holder) for holder in found_by(lens, root) if exists(holder)]


def _settled(many: Many) -> Many:
    """Leave out nulls, as every projection does."""
    if not many.nulls:
        return many
    return Many((*many.steps, lenses.present), many.shape, many.exists)


def _listed(base: Focus) -> Many:
    """Make the items of the list at a place; what is a list of places already stays."""
    if isinstance(base, Many):
        return _settled(base)
    return Many((*base.steps, lenses.each), (*base.shape, ("each",)), _exists(base, lenses.is_list))


def _inside(outer: Many, inner: Focus) -> Many:
    """Lead on from every holder of `outer` by `inner`."""
    if isinstance(inner, Many):
        return Many(outer.steps, outer.shape, outer.exists, inner)
    return Many(outer.steps + inner.steps, (*outer.shape, *inner.shape), outer.exists)


def _filtered(base: Focus, holds: Test, token: tuple[Any, ...]) -> Many:
    shape = (*base.shape, token)
    if isinstance(base, One):
        only = partial(lenses.only, holds)
        return Many((*base.steps, lenses.each, only), shape, _exists(base, lenses.is_list))
    base = _settled(base)
    if base.items is not None:  # the condition is asked about each inner list
        list_at, of_value = _list_at(base.items), holds

        def holds(holder: Any) -> bool:
            return of_value(list_at(holder))

    return Many((*base.steps, partial(lenses.only, holds)), shape, base.exists, base.items)


def _flattened(base: Focus) -> Many:
    if isinstance(base, One):
        steps = (*base.steps, lenses.each, lenses.spread)
        return Many(steps, (*base.shape, ("each",)), _exists(base, lenses.is_list))
    base = _settled(base)
    if base.items is None:
        return Many((*base.steps, lenses.spread), (*base.shape, ("each",)), base.exists)
    inner = base.items
    return Many(base.steps + inner.steps, (*base.shape, *inner.shape), base.exists, inner.items, inner.nulls)


def _picked(base: Many, choose: Callable[[range], range]) -> Step:
    every = joined(base.steps)
    counts: Test | None = None
    if base.items is not None:
        counts = base.items.exists
    elif base.nulls:
        counts = lenses.is_any
    return partial(lenses.pick, every, counts, choose)


def _indexed(focus: Focus, position: int) -> Focus:
    if isinstance(focus, One):
        return One((*focus.steps, partial(lenses.index, position)), (*focus.shape, ("index", position)))
    end = None if position == -1 else position + 1
    picked = One((_picked(focus, lambda numbers: numbers[position:end]),), (*focus.shape, ("pick", position, end, None)))
    if focus.items is None:
        return picked
    inner = focus.items
    holders = joined(picked.steps)

    def exists(root: Any) -> bool:
        return any(map(inner.exists, found_by(holders, root)))

    steps = picked.steps + inner.steps
    return Many(steps, (*picked.shape, *inner.shape), exists, inner.items, inner.nulls)


def _sliced(focus: Focus, chosen: slice) -> Many:
    token = (chosen.start, chosen.stop, chosen.step)
    if isinstance(focus, One):
        part = partial(lenses.part, chosen)
        return Many((*focus.steps, part), (*focus.shape, ("slice", *token)), _exists(focus, lenses.is_list), nulls=True)
    picked = _picked(focus, lambda numbers: numbers[chosen])
    return Many((picked,), (*focus.shape, ("pick", *token)), focus.exists, focus.items, focus.nulls)
