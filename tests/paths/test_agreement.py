"""Places and expressions agree with `jmespath.search`."""

from __future__ import annotations

import re
from functools import reduce
from itertools import product
from typing import Any

import jmespath
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.paths import PathError, compile_expression, compile_path
from tests.paths.strategies import aimed, document, expression, path

RAISED = object()
BARE_SLICE = re.compile(r"\[-?\d+\]\[[-\d]*:")
"""A slice after an index: the library returns a list with nulls, the specification defines a projection."""


def search(text: str, value: Any) -> Any:
    try:
        return jmespath.search(text, value)
    except Exception:
        return RAISED


def same(a: Any, b: Any) -> bool:
    """Compare as JSON: 1 is not true, and 1 is not 1.0."""
    return type(a) is type(b) and repr(a) == repr(b)


def lists_of(node: dict[str, Any], lists: int) -> int:
    """Return the number of projected lists around the places in the library's result for a node."""
    kind, below = node["type"], node["children"]
    if kind in ("subexpression", "index_expression", "pipe"):
        return reduce(lambda before, child: lists_of(child, before), below, lists)
    if kind in ("field", "current", "identity", "index", "slice"):
        return {"field": 0, "index": max(lists - 1, 0), "slice": max(lists, 1)}.get(kind, lists)
    base = lists_of(below[0], lists)
    if kind == "flatten":
        return max(base - 1, 1)
    return 1 + lists_of(below[1], 0 if kind == "value_projection" else max(base, 1) - 1)


def leaves(result: Any, lists: int) -> list[Any]:
    if result is None:
        return []
    return [result] if lists == 0 else [leaf for item in result for leaf in leaves(item, lists - 1)]


def found(text: str, value: Any) -> Any:
    result = search(text, value)
    return RAISED if result is RAISED else leaves(result, lists_of(jmespath.compile(text).parsed, 0))


LISTS = "the path selects from a list that its first part creates, and that does not exist in the data"


@given(st.lists(aimed() | st.tuples(path, document), min_size=8, max_size=8))
@example([(text, {"a": [{"b": None}, {"b": [{"c": 1}]}]}) for text in ("a[*].b[*].c[] | [-1]", "(a[*].b)[1:]")])
@example([("[?a > `5`].b", [{"a": "9.1", "b": 1}, {"a": 9.1, "b": 1}, {"a": None, "b": 2}]), ("[?a == '5']", {"a": 1})])
@example(list(product(["@", "*", "[]", "[*]", "[?@]"], [None, 0, "", [], {}, [None], [[None]], [[[]]], {"a": None}])))
@example([("@[][]", [[1, [2, [3]]], 4]), ("@[?a].a[?@]", [{"a": [0, 1]}, {"a": []}])])
def test_paths_find_the_same_as_search(pairs: list[tuple[str, Any]]) -> None:
    for text, value in pairs:
        expected = found(text, value)
        if BARE_SLICE.search(text) or expected is RAISED:  # a filter that raises excludes one item; jmespath stops
            continue
        try:
            compiled = compile_path(text)
        except PathError as error:
            if error.message != LISTS:
                raise
        else:
            event("places" if expected else "no places")
            assert same(compiled.find(value), expected), text


@given(st.lists(expression, min_size=4, max_size=4), st.lists(document, min_size=5, max_size=5))
@example(["`1` == `true`", "a == `true`", "a != `1`", "a == `1.0`", "[a] == [`true`]"], [{"a": 1}, {"a": True}, [1]])
@example(["a > `5`", "a < 'x'", "!a", "a || `7`", "a && `7`"], [{"a": "9.1"}, {"a": 0}, {"a": []}, {"a": None}])
@example(["to_number(a)", "to_string(@)", "sort(a)"], [{"a": "nan"}, {"a": [10**400, 0.5]}, {"a": ["b", "a"]}])
def test_expressions_return_the_same_as_search(texts: list[str], values: list[Any]) -> None:
    for text in texts:
        condition = compile_expression(text)
        for value in values:
            result = search(text, value)
            if result is RAISED or result != result:
                result = None  # NaN is stored as null
            event("null" if result is None else "an answer")
            assert same(condition.evaluate(value), result), text
            assert condition.holds(value) is (type(result) in (int, float) or bool(result)), text


@given(expression, document)
def test_a_result_depends_only_on_what_the_expression_reads(text: str, value: Any) -> None:
    condition = compile_expression(text)
    bare = only_read(value, condition.reads)
    event("something is not read" if bare != value else "all is read")
    assert same(condition.evaluate(bare), condition.evaluate(value)), condition.reads


NUMBER = re.compile(r"(?<=[<>=|&] )`(-?[0-9]+(?:\.[0-9]+)?)`")
"""A number in backticks after an operator."""


@given(expression, document)
@example("a[0] > `5` && contains(b, `-1`) || !`0` == `9.1`", {"a": [6], "b": [-1]})
def test_a_number_after_an_operator_needs_no_backticks(text: str, value: Any) -> None:
    plain = NUMBER.sub(r"\1", text)
    event("a plain number" if plain != text else "no number")
    with_backticks, without = compile_expression(text), compile_expression(plain)
    assert same(without.evaluate(value), with_backticks.evaluate(value)), plain
    assert without.reads == with_backticks.reads


def only_read(value: Any, chains: tuple[tuple[str, ...], ...]) -> Any:
    """Remove all keys that no chain leads to."""
    if () in chains:
        return value
    if isinstance(value, list):
        return [only_read(item, chains) for item in value]
    if isinstance(value, dict):
        below = {name: tuple(chain[1:] for chain in chains if chain[0] == name) for name in value}
        return {name: only_read(item, below[name]) for name, item in value.items() if below[name]}
    return value
