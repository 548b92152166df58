"""Paths: the part of JMESPath that names places in a value, as a sequence of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from reducer.paths.expressions import Expression, expression_of
from reducer.paths.parser import MAX_NESTING, Node, parse
from reducer.paths.shapes import Shape, Step, walk
from reducer.paths.tokens import PathError, Token, compared_keys, filter_texts, new_value
from reducer.values import PLAIN, is_media, shown


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """A value with the keys and indexes that lead to it from the root. Implements `shapes.Place`."""

    value: Any
    keys: tuple[str | int, ...] = ()

    @property
    def json(self) -> Any:
        return self.value

    def field(self, name: str) -> ValuePlace | None:
        fields = self._object()
        return self._below(fields[name], name) if name in fields else None

    def values(self) -> Sequence[ValuePlace | None]:
        return [self._below(item, key) for key, item in self._object().items()]

    def items(self) -> Sequence[ValuePlace | None] | None:
        items = self.value if type(self.value) in PLAIN else shown(self.value)
        return [self._below(item, number) for number, item in enumerate(items)] if type(items) is list else None

    def _object(self) -> dict[str, Any]:
        fields = shown(self.value)
        return fields if type(fields) is dict and not is_media(fields) else {}

    def _below(self, item: Any, key: str | int) -> ValuePlace | None:
        is_null = item is None or (type(item) is float and shown(item) is None)
        return None if is_null else ValuePlace(item, (*self.keys, key))


@dataclass(frozen=True, slots=True)
class Path:
    """A JMESPath expression as places in a value.

    `shape` has the steps from the root to the places, as `reducer.paths.shapes` lists them. `warnings` are
    valid JMESPath that is hardly intended.
    """

    text: str
    shape: Shape
    warnings: tuple[PathError, ...] = field(compare=False)

    @property
    def filters(self) -> tuple[tuple[Shape, Expression], ...]:
        """Return each filter with the shape of the items that it tests."""
        shape = self.shape
        return tuple((shape[: n + 1], step[1]) for n, step in enumerate(shape) if step[0] in ("filter", "only"))

    def places(self, value: Any) -> list[ValuePlace]:
        """Return the places in a value, in order. Raises `values.Unreducible`."""
        return [] if value is None else walk(self.shape, ValuePlace(value))

    def find(self, value: Any) -> list[Any]:
        """Return the values at the places, in order. Raises `values.Unreducible`."""
        return [place.value for place in self.places(value)]


@lru_cache(maxsize=1024)
def compile_path(text: str) -> Path:
    """Compile a path. Raises `PathError`, also for an expression that makes a new value instead of naming places."""
    tree, tokens = parse(text)
    problem = new_value(tokens)
    if problem is not None:
        raise problem
    texts = iter(filter_texts(text, tokens))
    lost: list[PathError] = []
    compiler = _Compiler(
        lambda node: expression_of(next(texts), node, ()), lambda node: lost.append(_lost(node, tokens)), len(text)
    )
    shape, _ = compiler.follow(tree, 0, False)
    if len(shape) > MAX_NESTING:
        raise PathError("E063", f"the path has more than {MAX_NESTING} steps", width=len(text))
    return Path(text, shape, (*compared_keys(tokens), *lost))


def _lost(node: Node, tokens: tuple[Token, ...]) -> PathError:
    # The tree has no columns: the last token with that text is the right one, except for unusual repetitions.
    wanted = node.get("value", "*")
    token = [token for token in tokens if token.value == wanted][-1]
    message = f"`{token.text}` finds nothing: the expression before it returns a list"
    return token.problem("W011", message, f"write `[*].{token.text}` after the pipe")


@dataclass(frozen=True, slots=True)
class _Compiler:
    """Translates the tree of a path to steps.

    `condition` compiles a filter; it is called in the order of the text. `lost` receives nodes that find nothing.
    """

    condition: Callable[[Node], Expression]
    lost: Callable[[Node], None]
    width: int

    def follow(self, node: Node, lists: int, inside: bool) -> tuple[Shape, int]:
        """Return the steps of a node, and the number of lists around its places.

        A projection returns a list that is not in the data; `lists` counts those around the places before the node.
        `inside`: the node is applied to each item of such a list.
        """
        kind, below = node["type"], node["children"]
        if kind in ("current", "identity"):
            return (), lists
        if kind in ("subexpression", "index_expression", "pipe"):
            shape: Shape = ()
            for child in below:
                more, lists = self.follow(child, lists, inside)
                shape += more
            return shape, lists
        if kind == "field":
            return (*self._reachable(node, lists), ("field", node["value"])), 0
        if kind == "index":
            return (self._selection(("index", node["value"]), lists, inside),), max(lists - 1, 0)
        if kind == "slice":
            return (self._selection(("slice", *below), lists, inside),), max(lists, 1)
        if kind not in ("projection", "value_projection", "filter_projection", "flatten"):
            raise PathError("E065", "the expression makes a new value; a path names places", width=self.width)
        return self._projection(node, *self.follow(below[0], lists, inside))

    def _projection(self, node: Node, shape: Shape, lists: int) -> tuple[Shape, int]:
        kind, below = node["type"], node["children"]
        if kind == "flatten":
            return (*shape, *(("each",), ("flatten",))[lists:]), max(lists - 1, 1)
        if kind == "value_projection":
            shape, lists = (*shape, *self._reachable(node, lists), ("values",)), 1
        elif kind == "filter_projection":
            if lists > 1:
                raise self._list_of_lists()
            shape = (*shape, ("only" if lists else "filter", self.condition(below[2])))
        elif not lists:
            shape = (*shape, ("each",))
        lists = max(lists, 1)
        right, more = self.follow(below[1], lists - 1, True)
        return shape + right, 1 + more

    def _reachable(self, node: Node, lists: int) -> Shape:
        if not lists:
            return ()
        self.lost(node)
        return (("nothing",),)

    def _selection(self, step: Step, lists: int, inside: bool) -> Step:
        if not lists:
            return step
        if inside or lists > 1:
            raise self._list_of_lists()
        return ("pick", *step[1:])

    def _list_of_lists(self) -> PathError:
        message = "the path selects from a list of lists that is not in the data"
        return PathError("E065", message, width=self.width, help="flatten it first with `[]`")
