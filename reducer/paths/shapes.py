"""The shape of a path: its steps as plain tuples, and one function that follows them.

Each step maps the places so far, in order, to the next ones. Null is not a place.

- `("field", name)`: the value at a key of an object
- `("values",)`: the values at all keys (`.*`)
- `("each",)`: the items of a list (`[*]`)
- `("flatten",)`: the items of a list; a place that is not a list itself. `a[]` is `each` and `flatten`.
- `("filter", expression)`: the items of a list for which the expression holds
- `("only", expression)`: the place itself if the expression holds (a filter after a pipe)
- `("index", i)`, `("slice", start, stop, step)`: items of a list by their position, which counts nulls
- `("pick", i)`, `("pick", start, stop, step)`: some of all places so far by their position (after a pipe)
- `("nothing",)`: no place
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from reducer.paths.expressions import Chain

Step: TypeAlias = tuple[Any, ...]
Shape: TypeAlias = tuple[Step, ...]


class Place(Protocol):
    """A value at a position in a return, as `walk` sees it."""

    @property
    def json(self) -> Any:
        """Return the value as plain JSON, for conditions."""

    def field(self, name: str) -> Self | None:
        """Return the place at a key of an object, None if there is none or it is null."""

    def items(self) -> Sequence[Self | None] | None:
        """Return the places of the items of a list, None for nulls. None if the value is not a list."""

    def values(self) -> Sequence[Self | None]:
        """Return the places at all keys of an object, None for nulls. Empty if the value is not an object."""


P = TypeVar("P", bound=Place)


def walk(shape: Shape, root: P) -> list[P]:
    """Return the places to which a shape leads from `root`, in order."""
    places = [root]
    for step in shape:
        places = [place for place in _next(step, places) if place is not None]
    return places


def _next(step: Step, places: list[P]) -> Iterable[P | None]:
    kind, *arguments = step
    if kind == "field":
        return [place.field(arguments[0]) for place in places]
    if kind == "values":
        return [below for place in places for below in place.values()]
    if kind == "each":
        return [item for place in places for item in place.items() or ()]
    if kind == "flatten":
        listed = [(place, place.items()) for place in places]
        return [item for place, items in listed for item in ([place] if items is None else items)]
    if kind == "filter":
        present = [item for place in places for item in place.items() or () if item is not None]
        return [item for item in present if arguments[0].holds(item.json)]
    if kind == "only":
        return [place for place in places if arguments[0].holds(place.json)]
    if kind in ("index", "slice"):
        return [item for place in places for item in _selected(place.items() or (), arguments)]
    return _selected(places, arguments) if kind == "pick" else ()


def _selected(items: Sequence[P | None], arguments: Sequence[Any]) -> Sequence[P | None]:
    if len(arguments) > 1:
        return items[slice(*arguments)]
    (index,) = arguments
    return [items[index]] if -len(items) <= index < len(items) else ()


def names_of(shape: Shape) -> Chain:
    """Return the field names of a shape; `*` means every key."""
    return tuple("*" if step[0] == "values" else str(step[1]) for step in shape if step[0] in ("field", "values"))
