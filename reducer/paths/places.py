"""Paths: the part of JMESPath that names places in a value, compiled to a shape, which `walk` follows.

A shape is a tuple of steps. Each step maps the current places to the next ones and keeps their order. Null is not a
place.

- `("field", name)`: the value at a key of an object
- `("values",)`: the values at all keys (`.*`)
- `("each",)`: the items of a list (`[*]`)
- `("flatten",)`: the items of a list, or the place itself if it is not a list; `a[]` is `each` and `flatten`
- `("filter", expression)`: the items of a list for which the expression holds
- `("only", expression)`: the place itself if the expression holds (a filter after a pipe)
- `("index", i)`, `("slice", start, stop, step)`: items of a list by position, counting nulls
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from reducer.errors import shortened
from reducer.paths.expressions import COMPARATORS, Chain, Expression, expression_of, warnings_of
from reducer.paths.habits import correcting
from reducer.paths.parser import MAX_NESTING, Node, parse
from reducer.paths.syntax import PathError, Token, closing, is_call
from reducer.values import is_media

Step: TypeAlias = tuple[Any, ...]
Shape: TypeAlias = tuple[Step, ...]


class Place(Protocol):
    """A value at a position in a return, as `walk` uses it."""

    @property
    def json(self) -> Any:
        """Return the value as plain JSON, for conditions."""

    def field(self, name: str) -> Self | None:
        """Return the place at a key of an object, or None if the key is missing or null."""

    def items(self) -> Sequence[Self | None] | None:
        """Return the places of the items of a list, with None for nulls, or None if the value is not a list."""

    def values(self) -> Sequence[Self | None]:
        """Return the places at all keys of an object, with None for nulls; empty if the value is not an object."""


P = TypeVar("P", bound=Place)


def walk(shape: Shape, root: P) -> list[P]:
    """Return the places that a shape leads to from `root`, in order."""
    places = [root]
    for kind, *arguments in shape:
        step = _NEXT[kind]
        found: list[P | None] = []
        for place in places:
            found += step(place, *arguments)
        places = [place for place in found if place is not None]
    return places


def _field(place: P, name: str) -> list[P | None]:
    return [place.field(name)]


def _values(place: P) -> Sequence[P | None]:
    return place.values()


def _items(place: P) -> Sequence[P | None]:
    return place.items() or ()


def _flattened(place: P) -> Sequence[P | None]:
    items = place.items()
    return [place] if items is None else items


def _accepted(place: P, condition: Expression) -> list[P]:
    return [place] if condition.holds(place.json) else []


def _accepted_items(place: P, condition: Expression) -> list[P]:
    accepted = []
    for item in place.items() or ():
        if item is not None:
            accepted += _accepted(item, condition)
    return accepted


def _sliced(place: P, *bounds: int | None) -> Sequence[P | None]:
    return (place.items() or ())[slice(*bounds)]


def _indexed(place: P, index: int) -> Sequence[P | None]:
    return _sliced(place, index, index + 1 or None)


_NEXT: dict[str, Callable[..., Sequence[Any]]] = {
    "field": _field,
    "values": _values,
    "each": _items,
    "flatten": _flattened,
    "filter": _accepted_items,
    "only": _accepted,
    "index": _indexed,
    "slice": _sliced,
}


def names_of(shape: Shape) -> Chain:
    """Return the key names in a shape, with `*` for every key."""
    names = []
    for kind, *arguments in shape:
        if kind in ("field", "values"):
            names.append(arguments[0] if arguments else "*")
    return tuple(names)


def overlap(a: Sequence[object], b: Sequence[object]) -> bool:
    """Return whether one chain may be the start of the other."""
    return all(x == y or "*" in (x, y) for x, y in zip(a, b, strict=False))


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """A JSON value, and the keys and indexes that lead to it from the root. Implements `Place`."""

    value: Any
    keys: tuple[str | int, ...] = ()

    @property
    def json(self) -> Any:
        return self.value

    def field(self, name: str) -> ValuePlace | None:
        return self._below(self._object().get(name), name)

    def values(self) -> Sequence[ValuePlace | None]:
        return [self._below(item, key) for key, item in self._object().items()]

    def items(self) -> Sequence[ValuePlace | None] | None:
        if type(self.value) is not list:
            return None
        return [self._below(item, number) for number, item in enumerate(self.value)]

    def _object(self) -> dict[str, Any]:
        return self.value if type(self.value) is dict and not is_media(self.value) else {}

    def _below(self, item: Any, key: str | int) -> ValuePlace | None:
        return None if item is None else ValuePlace(item, (*self.keys, key))


@dataclass(frozen=True, slots=True)
class Path:
    """A JMESPath expression that names places in a value.

    `shape` holds the steps from the root to the places, described in the docstring of this module.
    `warnings` describe valid JMESPath that is probably a mistake.
    """

    text: str
    shape: Shape
    warnings: tuple[PathError, ...] = field(compare=False)

    @property
    def filters(self) -> tuple[tuple[Shape, Expression], ...]:
        """Return each filter with the shape that leads to the items it accepts."""
        found = []
        for number, (kind, *arguments) in enumerate(self.shape, 1):
            if kind in ("filter", "only"):
                found.append((self.shape[:number], arguments[0]))
        return tuple(found)

    def places(self, value: Any) -> list[ValuePlace]:
        """Return the places in a JSON value, in order. Raises `values.Unreducible` if a filter finds it too deep."""
        return [] if value is None else walk(self.shape, ValuePlace(value))

    def find(self, value: Any) -> list[Any]:
        """Return the values at the places in a JSON value, in order. Raises the same as `places`."""
        return [place.value for place in self.places(value)]


@correcting("conditions", "paths")
@lru_cache(maxsize=1024)
def compile_path(text: str) -> Path:
    """Compile a path. Raises `PathError`, even for valid expressions that create a value instead of naming places."""
    tree, tokens = parse(text)
    conditions = _conditions(text, tokens)
    try:
        shape, _ = _follow(tree, 0, iter(conditions))
        if len(shape) > MAX_NESTING:
            raise PathError("E063", f"the path has more than {MAX_NESTING} steps")
    except PathError as error:  # the tree has no columns
        error.width = len(text)
        raise
    return Path(text, shape, warnings_of(text, tokens))


_NEW = {
    "or": ("`||` chooses between values", "write one step for each place"),
    "and": ("`&&` creates a value", "to select items write a filter: `items[?a && b]`"),
    "not": ("`!` creates a value", "to select items write a filter: `items[?!seen]`"),
    "literal": ("a literal is not part of the data", 'write a key in double quotes, after a dot: `source."last-seen"`'),
    "lbrace": ("`{...}` creates an object", "to select keys write `keep: [a, b]`"),
    **dict.fromkeys(
        COMPARATORS, ("a comparison creates a value", "to select items write a filter: `items[?risk == 'high']`")
    ),
}


def _conditions(text: str, tokens: tuple[Token, ...]) -> list[str]:
    """Return the texts of the filters. Raise an error for the first token outside them that creates a value."""
    conditions = []
    end = -1
    for position, token in enumerate(tokens):
        if position <= end:
            continue
        if token.type == "filter":
            end = closing(tokens, position)
            conditions.append(text[token.start + 2 : tokens[end].start].strip())
        else:
            reason = _created(tokens, position)
            if reason is not None:
                raise token.problem("E065", f"{reason[0]}; a path names places", reason[1])
    return conditions


def _created(tokens: tuple[Token, ...], position: int) -> tuple[str, str] | None:
    """Return the reason and the help if a token creates a value instead of naming a place."""
    token = tokens[position]
    if is_call(tokens, position):
        return (
            f"`{shortened(token.value)}()` creates a value",
            "use functions only in filters and conditions",
        )
    if token.type != "lbracket":
        return _NEW.get(token.type)
    inside = tokens[position + 1].type
    selects = inside in ("number", "colon") or (inside == "star" and tokens[position + 2].type == "rbracket")
    if selects and (position == 0 or tokens[position - 1].type != "dot"):
        return None
    return "`[...]` with expressions in it creates a list", "select items with `[0]` or `[*]`, keys with `keep: [a, b]`"


def _follow(node: Node, lists: int, conditions: Iterator[str]) -> tuple[Shape, int]:
    """Return the steps of a node and the number of projected lists around its places.

    A projection creates a list that does not exist in the data. `lists` counts these lists before the node.
    `conditions` yields the texts of filters. Raises `PathError`.
    """
    kind, below = node["type"], node["children"]
    if kind in ("current", "identity"):
        return (), lists
    if kind in ("subexpression", "index_expression", "pipe"):
        steps: Shape = ()
        for child in below:
            more, lists = _follow(child, lists, conditions)
            steps += more
        return steps, lists
    if kind in ("field", "index", "slice"):
        _check_lists(lists, 0)
        return ((kind, *(below if kind == "slice" else [node["value"]])),), int(kind == "slice")
    # `_check_tokens` refuses everything else.
    shape, lists = _follow(below[0], lists, conditions)
    if kind == "flatten":
        return (*shape, *(("each",), ("flatten",))[lists:]), max(lists - 1, 1)
    if kind == "value_projection":
        _check_lists(lists, 0)
        shape += (("values",),)
    elif kind == "filter_projection":
        _check_lists(lists, 1)
        shape += (("only" if lists else "filter", expression_of(next(conditions), below[2], ())),)
    elif not lists:
        shape += (("each",),)
    lists = max(lists, 1)
    right, inner = _follow(below[1], lists - 1, conditions)
    return shape + right, 1 + inner


def _check_lists(lists: int, most: int) -> None:
    """Raise an error if a step would select from a list that a projection creates, or from a list of such lists."""
    if lists > most:
        message = "the path selects from a list that its first part creates, and that does not exist in the data"
        raise PathError("E065", message, help="write `[*]` after the pipe or parenthesis, for each item")


def split_filter(text: str) -> tuple[str, str, str] | None:
    """Split `lists[?condition].rest` at its last filter into the path of the lists, the condition and the rest.

    Return None if there is no filter. Raises `PathError`.
    """
    if "[?" not in text:
        return None
    _, tokens = parse(text)
    starts = [position for position, token in enumerate(tokens) if token.type == "filter" and token.depth == 0]
    if not starts:
        return None
    start, end = tokens[starts[-1]].start, tokens[closing(tokens, starts[-1])].start
    return text[:start].strip() or "@", text[start + 2 : end], text[end + 1 :].strip().removeprefix(".")
