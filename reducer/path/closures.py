"""The nodes of jmespath's syntax tree as closures that answer as its interpreter does, in a fraction of its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jmespath.visitor import TreeInterpreter

from ..values import Unreducible, plain, shown
from .calls import compile_call
from .opening import COMPARABLE, NUMBERS, OPEN, Closure, opened, plainly
from .syntax import Node, operands
from .tokens import PathError


def compile_node(node: Node) -> Closure:
    """Compile one node of jmespath's tree, with those below it, to a closure over open values."""
    return _COMPILERS[node["type"]](node)


def _current(node: Node) -> Closure:
    return lambda value: value


def _literal(node: Node) -> Closure:
    try:
        constant = plain(node["value"])
    except Unreducible:
        raise PathError("E063", "a literal is nested too deeply") from None
    return lambda value: constant


def _field(node: Node) -> Closure:
    name: str = node["value"]

    def field(value: Any) -> Any:
        if type(value) is not dict:
            return None
        found = value.get(name)
        if found is None:
            return None if name in value else opened(shown(value).get(name))  # keys may be numbers or enums
        return found if type(found) in OPEN else opened(found)

    return field


def _chain(node: Node) -> Closure:
    first, *rest = [compile_node(child) for child in node["children"]]
    if len(rest) == 1:
        second = rest[0]
        return lambda value: second(first(value))

    def chain(value: Any) -> Any:
        value = first(value)
        for closure in rest:
            value = closure(value)
        return value

    return chain


def _index(node: Node) -> Closure:
    position: int = node["value"]

    def index(value: Any) -> Any:
        if type(value) is not list or not -len(value) <= position < len(value):
            return None
        found = value[position]
        return found if type(found) in OPEN else opened(found)

    return index


def _slice(node: Node) -> Closure:
    part = slice(*node["children"])
    return lambda value: value[part] if type(value) is list else None


def _collect(items: Any, right: Closure) -> list[Any]:
    found = [right(item if type(item) in OPEN else opened(item)) for item in items]
    return [item for item in found if item is not None]


def _projection(node: Node) -> Closure:
    base, right = map(compile_node, node["children"])

    def projection(value: Any) -> Any:
        items = base(value)
        return _collect(items, right) if type(items) is list else None

    return projection


def _value_projection(node: Node) -> Closure:
    base, right = map(compile_node, node["children"])

    def value_projection(value: Any) -> Any:
        items = base(value)
        return _collect(items.values(), right) if type(items) is dict else None

    return value_projection


def _filter_projection(node: Node) -> Closure:
    base, right, condition = map(compile_node, node["children"])

    def filter_projection(value: Any) -> Any:
        items = base(value)
        if type(items) is not list:
            return None
        found = []
        for item in items:
            item = item if type(item) in OPEN else opened(item)
            judged = condition(item)
            if judged or type(judged) in NUMBERS:
                found.append(right(item))
        return [item for item in found if item is not None]

    return filter_projection


def _flatten(node: Node) -> Closure:
    base = compile_node(node["children"][0])

    def flatten(value: Any) -> Any:
        items = base(value)
        if type(items) is not list:
            return None
        found: list[Any] = []
        for item in items:
            item = item if type(item) in OPEN else opened(item)
            if type(item) is list:
                found.extend(item)
            else:
                found.append(item)
        return found

    return flatten


def _equality(node: Node) -> Closure:
    left_node, right_node = node["children"]
    left, right = compile_node(left_node), compile_node(right_node)
    equal = TreeInterpreter.COMPARATOR_FUNC["eq"]
    same = node["value"] == "eq"

    def equality(value: Any) -> bool:
        # Inside containers Python compares 1 and true as equal, and jmespath with it.
        return bool(equal(plainly(left(value)), plainly(right(value)))) is same

    if right_node["type"] == "literal" and type(right_node["value"]) is str:
        text = right_node["value"]
        if left_node["type"] == "field":
            return _field_equality(left_node["value"], text, same, equality)
        return lambda value: (left(value) == text) is same
    return equality


def _field_equality(name: str, text: str, same: bool, otherwise: Closure) -> Closure:
    # `risk == 'high'`, by far the most frequent condition: 0.2 µs an item in place of 0.9.
    def field_equality(value: Any) -> Any:
        if type(value) is dict:
            found = value.get(name)
            if type(found) is str:
                return (found == text) is same
        return otherwise(value)

    return field_equality


def _comparator(node: Node) -> Closure:
    if node["value"] in ("eq", "ne"):
        return _equality(node)
    left_node, right_node = node["children"]
    left, right = compile_node(left_node), compile_node(right_node)
    compare = TreeInterpreter.COMPARATOR_FUNC[node["value"]]

    def comparator(value: Any) -> Any:
        a, b = left(value), right(value)
        if type(a) in COMPARABLE and type(b) in COMPARABLE:
            return compare(a, b)  # raises TypeError for a text and a number, as in jmespath 1.1
        return None

    if right_node["type"] == "literal" and type(right_node["value"]) in NUMBERS:
        bound = right_node["value"]

        def bounded(value: Any) -> Any:
            found = left(value)
            return compare(found, bound) if type(found) in COMPARABLE else None

        return bounded
    return comparator


def _logic(node: Node) -> Closure:
    closures = [compile_node(operand) for operand in operands(node)]
    decisive = node["type"] == "or_expression"

    def logic(value: Any) -> Any:
        result = None
        for closure in closures:
            result = closure(value)
            if bool(result or type(result) in NUMBERS) is decisive:
                break
        return result

    return logic


def _not(node: Node) -> Closure:
    closure = compile_node(node["children"][0])

    def negated(value: Any) -> bool:
        result = closure(value)
        return not (result or type(result) in NUMBERS)

    return negated


def _call(node: Node) -> Closure:
    return compile_call(node, compile_node)


def _multi_select_list(node: Node) -> Closure:
    closures = [compile_node(child) for child in node["children"]]
    return lambda value: None if value is None else [closure(value) for closure in closures]


def _multi_select_dict(node: Node) -> Closure:
    closures = [(child["value"], compile_node(child["children"][0])) for child in node["children"]]
    return lambda value: None if value is None else {name: closure(value) for name, closure in closures}


_COMPILERS: dict[str, Callable[[Node], Closure]] = {
    "current": _current,
    "identity": _current,
    "literal": _literal,
    "field": _field,
    "subexpression": _chain,
    "index_expression": _chain,
    "pipe": _chain,
    "index": _index,
    "slice": _slice,
    "projection": _projection,
    "value_projection": _value_projection,
    "filter_projection": _filter_projection,
    "flatten": _flatten,
    "comparator": _comparator,
    "or_expression": _logic,
    "and_expression": _logic,
    "not_expression": _not,
    "function_expression": _call,
    "multi_select_list": _multi_select_list,
    "multi_select_dict": _multi_select_dict,
}
