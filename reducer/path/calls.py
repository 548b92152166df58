"""Calls of JMESPath functions: the library checks and computes, save for four that conditions are full of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from jmespath.functions import Functions
from jmespath.visitor import TreeInterpreter

from .opening import Closure, opened, plainly
from .syntax import Node

_SHALLOW = frozenset({"length", "type", "not_null", "to_array"})
"""Functions that do not look into what a list or object contains."""


def compile_call(node: Node, compile_node: Callable[[Node], Closure]) -> Closure:
    """Compile a call; the closure raises what the library raises for arguments of wrong types, or `TypeError`."""
    name: str = node["value"]
    arguments = [_argument(child, name in _SHALLOW, compile_node) for child in node["children"]]
    quick = _QUICK.get(name)
    if quick is None:
        call = Functions().call_function
        return lambda value: opened(call(name, [argument(value) for argument in arguments]))
    if len(arguments) == 1:
        only = arguments[0]
        return lambda value: quick(only(value))
    first, second = arguments
    return lambda value: quick(first(value), second(value))


def _argument(node: Node, shallow: bool, compile_node: Callable[[Node], Closure]) -> Closure:
    # The library asks for Python types by name, so that it is given plain values only; what `&` holds its interpreter evaluates.
    if node["type"] == "expref":
        expression = TreeInterpreter().visit(cast(Any, node), None)
        return lambda value: expression
    closure = compile_node(node)
    return closure if shallow else lambda value: plainly(closure(value))


def _length(value: Any) -> int:
    if type(value) in (list, str, dict):
        return len(value)
    raise TypeError


def _contains(subject: Any, search: Any) -> bool:
    if type(subject) in (list, str):
        return search in subject
    raise TypeError


def _starts_with(text: Any, start: Any) -> bool:
    if type(text) is type(start) is str:
        return text.startswith(start)
    raise TypeError


def _ends_with(text: Any, end: Any) -> bool:
    if type(text) is type(end) is str:
        return text.endswith(end)
    raise TypeError


# The library spends 2 µs a call on its checks; these take 0.1.
_QUICK: dict[str, Callable[..., Any]] = {
    "length": _length,
    "contains": _contains,
    "starts_with": _starts_with,
    "ends_with": _ends_with,
}
