"""Places and conditions against `jmespath.search`: on every path of a small grammar, and on generated pairs."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path as File
from typing import Any

import jmespath
from hypothesis import event, example, given
from hypothesis import strategies as st
from path_strategies import aimed, document, expression, path

from reducer.path import compile_expression, compile_path

HEADS = ("a", "b", "*", "@", "missing", '"a b"', "[0]", "[*]", "[]", "[?b]", "[1:]")
TAILS = (".a", ".b", ".*", "[0]", "[-1]", "[*]", "[]", "[1:]", "[::-1]", "[?b == 'x']", "[?b > `1`]", "[?@]", " | [0]", " | [*]", " | b", " | @", "")
DOCUMENTS: tuple[Any, ...] = (
    {"a": [{"b": "x", "a": 1}, {"b": 2}, None, [{"b": 3}], []], "b": {"a": [[1, 2], [3, [4]]], "b": None}, "a b": 0},
    {"a": {"a": {"a": [1, None, 2]}, "b": [{"b": "9.1"}, {"b": 9.1}]}, "b": [[{"b": "x"}], [{"b": "y"}, None]]},
    [{"a": 1, "b": 2}, {"a": [{"b": "x"}], "b": "x"}, [[{"b": 5}], 6], None, "text", 7],
    [[[1], [[2]]], [], [None], {"b": {"b": {"b": "x"}}}],
)
RAISED = object()


def search(text: str, value: Any) -> Any:
    try:
        return jmespath.search(text, value)
    except Exception:
        return RAISED


def same(a: Any, b: Any) -> bool:
    """Compare as JSON does: 1 is not true, and 1 is not 1.0."""
    return type(a) is type(b) and repr(a) == repr(b)


def lists_of(node: dict[str, Any], lists: int) -> int:
    """Count how many lists, made by projections, are around the places in what jmespath gives for `node`."""
    kind, below = node["type"], node["children"]
    if kind == "field":
        return 0
    if kind in ("current", "identity"):
        return lists
    if kind in ("subexpression", "index_expression", "pipe"):
        for child in below:
            lists = lists_of(child, lists)
        return lists
    if kind == "index":
        return max(lists - 1, 0)
    if kind == "slice":
        return max(lists, 1)
    base = lists_of(below[0], lists)
    if kind == "flatten":
        return max(base - 1, 1)
    items = 0 if kind == "value_projection" else max(base, 1) - 1
    return 1 + lists_of(below[1], items)


def leaves(result: Any, lists: int) -> list[Any]:
    if result is None:
        return []
    if lists == 0:
        return [result]
    return [leaf for item in result for leaf in leaves(item, lists - 1)]


def found(text: str, value: Any) -> Any:
    result = search(text, value)
    return RAISED if result is RAISED else leaves(result, lists_of(jmespath.compile(text).parsed, 0))


def test_every_path_of_a_small_grammar_finds_what_search_finds() -> None:
    pairs = with_places = 0
    for head, first, second in product(HEADS, TAILS, TAILS):
        text = head + first + second
        places, condition = compile_path(text), compile_expression(text)
        for value in DOCUMENTS:
            expected = found(text, value)
            if expected is RAISED:  # `"9.1" > 1`: jmespath gives up the whole, a place only the item
                continue
            pairs += 1
            with_places += bool(expected)
            assert same(places.find(value), expected), text
            assert places.update(value, lambda place: place) is value
            assert same(condition.evaluate(value), search(text, value)), text
    assert pairs >= 5000
    assert with_places >= 1900


@given(st.lists(path, min_size=3, max_size=3), st.lists(document, min_size=4, max_size=4))
@example(["a[0][1:3][0]", "a[0][1:3] | [0]", "a[*][0][1:]"], [{"a": [[None, None, 1, [2, None, 3]]]}])
@example(["a[*].b[*].c | [1]", "a[*].b[*].c[] | [-1]", "(a[*].b)[1:]"], [{"a": [{"b": None}, {"b": []}, {"b": [{"c": 1}]}]}])
@example(["[?a > `5`].b", "[?a == '5']"], [[{"a": "9.1", "b": 1}], [{"a": 9.1, "b": 1}, {"a": None, "b": 2}], {"a": 1}])
@example(["@", "*", "[]", "[*]", "[?@]"], [None, 0, "", [], {}, [None], [[None]], [[[]]], {"a": None}])
def test_places_are_what_search_finds(texts: list[str], values: list[Any]) -> None:
    for text in texts:
        places = compile_path(text)
        for value in values:
            expected = found(text, value)
            if expected is RAISED:  # an item on which a filter raises does not match; jmespath gives up the whole
                event("jmespath raises")
                continue
            event("places" if expected else "no places")
            assert same(places.find(value), expected), text


@given(st.lists(aimed(), min_size=10, max_size=10))
@example([("@.a[*].b | [-1]", {"a": [{"b": 1}, {"b": [2]}]}), ("@[0:9] | [0]", [None, None, 1]), ("@[][]", [[1, [2, [3]]], 4])])
def test_places_that_are_there_are_what_search_finds(pairs: list[tuple[str, Any]]) -> None:
    for text, value in pairs:
        expected = found(text, value)
        if expected is RAISED:
            event("jmespath raises")
            continue
        event("several places" if len(expected) > 1 else "a place" if expected else "no place")
        assert same(compile_path(text).find(value), expected), text


@given(st.lists(expression, min_size=4, max_size=4), st.lists(document, min_size=5, max_size=5))
@example(["`1` == `true`", "a == `true`", "a != `1`", "a == `1.0`", "[a] == [`true`]"], [{"a": 1}, {"a": True}, {"a": 1.0}, {}, [1]])
@example(["a > `5`", "a < 'x'", "!a", "a || `7`", "a && `7`"], [{"a": "9.1"}, {"a": 0}, {"a": True}, {"a": []}, {"a": None}])
@example(["to_number(a)", "to_string(@)", "sort(a)", "join('', a)"], [{"a": "nan"}, {"a": [10**400, 0.5]}, {"a": ["b", "a"]}])
def test_expressions_answer_as_search_does(texts: list[str], values: list[Any]) -> None:
    for text in texts:
        condition = compile_expression(text)
        for value in values:
            result = search(text, value)
            if result is RAISED:
                event("jmespath raises")
                result = None
            if result != result:
                result = None  # NaN is stored as null
            event("null" if result is None else "an answer")
            assert same(condition.evaluate(value), result), text
            assert condition.holds(value) is (type(result) in (int, float) or bool(result)), text


@given(expression, document)
def test_an_expression_depends_on_what_it_reads(text: str, value: Any) -> None:
    condition = compile_expression(text)
    bare = only_read(value, condition.reads)
    event("something is not read" if bare != value else "all is read")
    assert same(condition.evaluate(bare), condition.evaluate(value)), condition.reads


def only_read(value: Any, chains: tuple[tuple[str, ...], ...]) -> Any:
    """Leave out every key that none of the chains leads to or through."""
    if () in chains:
        return value
    if isinstance(value, list):
        return [only_read(item, chains) for item in value]
    if isinstance(value, dict):
        below = {name: tuple(chain[1:] for chain in chains if chain[0] == name) for name in value}
        return {name: only_read(item, below[name]) for name, item in value.items() if below[name]}
    return value


def paths_in(value: Any, limit: int) -> list[str]:
    """Give paths that exist in a document: every key within four levels, lists entered in turn by `[*]`, `[]`, `[0]` and `[1:]`."""
    found: list[str] = []
    waiting: list[tuple[str, Any, int]] = [("@", value, 0)]
    while waiting and len(found) < limit:
        text, here, depth = waiting.pop(0)
        found.append(text)
        if depth == 4:
            continue
        if isinstance(here, dict):
            waiting += [(f"{text}.{json.dumps(name)}", item, depth + 1) for name, item in list(here.items())[:12]]
        elif isinstance(here, list) and here:
            step = ["[*]", "[]", "[0]", "[1:]"][len(found) % 4]
            item = here[-1] if step != "[0]" else here[0]
            waiting.append((text + step, item[0] if step == "[]" and isinstance(item, list) and item else item, depth + 1))
            if isinstance(item, dict):
                name, wanted = json.dumps(next(iter(item), "")), next(iter(item.values()), "")
                if isinstance(wanted, (str, int)):
                    found.append(f"{text}[?{name} == `{json.dumps(wanted)}`]")
                found.append(f"{text}[*].{name} | [-1]")
    return found


def test_real_documents(data: File) -> None:
    pairs = places_found = 0
    for file in sorted((data / "tool_outputs").glob("*.json"))[::4]:
        if file.stat().st_size > 1_000_000 or file.name == "manifest.json":
            continue
        value = json.loads(file.read_text(encoding="utf-8"))
        for text in paths_in(value, 40):
            if "`" in text[text.find("`") + 1 : text.rfind("`")]:
                continue  # a text with a backtick would end the literal
            expected = found(text, value)
            if expected is RAISED:
                continue
            path = compile_path(text)
            assert same(path.find(value), expected), (file.name, text)
            assert path.update(value, lambda place: place) is value
            pairs += 1
            places_found += bool(expected)
    assert pairs > 1_000
    assert places_found > 0.8 * pairs
