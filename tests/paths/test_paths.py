"""Paths and expressions: shapes, reads, live objects, limits, and positions written as paths."""

from __future__ import annotations

from dataclasses import make_dataclass
from enum import IntEnum, StrEnum
from functools import reduce
from operator import getitem
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.paths import Expression, PathError, compile_expression, compile_path
from reducer.paths.written import Token, path_text
from reducer.values import Unreducible, dump, plain
from tests.helpers import nested
from tests.paths.strategies import aimed
from tests.paths.test_errors import CASES

HIGH = StrEnum("Word", {"HIGH": "high"}).HIGH
ONE = IntEnum("Number", {"ONE": 1}).ONE
Report = make_dataclass("Report", ["name", "hits", "scores"])
RECORDS = [
    Report(HIGH, ("a", HIGH), {1: {"x": ONE}}),
    {"name": HIGH, "hits": ({"a": 1}, (1, 2)), "scores": float("inf")},
    {"name": ONE, "hits": [float("nan"), True], "scores": {HIGH: Report("x", (), {})}},
    {"kind": "image-url", "name": "high", "hits": ["b"]},
]


@pytest.mark.parametrize(("text", "shape"), CASES["shapes"].items())
def test_shapes(text: str, shape: list[Any]) -> None:
    found = compile_path(text).shape
    assert [[part.text if isinstance(part, Expression) else part for part in step] for step in found] == shape


def test_filters_have_the_shape_of_their_items() -> None:
    path = compile_path("a[?b[?c == 'x'] | [0].d].e | [?f]")
    inner, outer = compile_expression("b[?c == 'x'] | [0].d"), compile_expression("f")
    tested = (("field", "a"), ("filter", inner))
    assert path.filters == ((tested, inner), ((*tested, ("field", "e"), ("only", outer)), outer))


@given(aimed())
@example(("@[*].b | [-1]", [{"b": 1}, {"b": {"c": 2}}]))
@example(("@.a[1:3]", {"a": [1, None, [2], 3], "b": {}}))
def test_the_keys_of_a_place_lead_to_its_value(pair: tuple[str, Any]) -> None:
    text, value = pair
    try:
        places = compile_path(text).places(value)
    except PathError:  # it selects from a list of lists
        return
    event("some places" if places else "no places")
    for place in places:
        assert reduce(getitem, place.keys, value) is place.value
    assert len({place.keys for place in places}) == len(places)


def test_media_are_never_entered() -> None:
    media = {"kind": "image-url", "url": "u"}
    for text in ("x.url", "x.*", "x.a[0]", "y[*].url", "y[].*", "y[0].a[]"):
        assert compile_path(text).find({"x": media, "y": [media]}) == [], text
    assert compile_path("x[*]").find({"x": [media]}) == [media]
    assert compile_path("x[*].url").find({"x": [media, {"kind": "phishing-url", "url": "v"}]}) == ["v"]


def test_a_path_enters_deep_values_but_a_filter_refuses_them() -> None:
    deep = nested(100_000)
    for text in ("@", "[0]", "[*]", "[]", "[-1:]", "[0]" * 90):
        assert compile_path(text).find(deep)
    with pytest.raises(Unreducible):
        compile_path("[?@ == `1`]").find(deep)


@given(st.lists(st.sampled_from(["b", "x-y", 'q"', "é", "last.seen", -1, None, 0]), min_size=1, max_size=7))
@example([None, "b", "c"])
@example([-1, None, "b", "c"])
@example(["b", None, 0, "b"])
def test_a_written_path_finds_its_position(tokens: list[Token]) -> None:
    value: Any = "leaf"
    for token in reversed(tokens):
        value = [value] if type(token) is int else {token or "any": value}
    path = compile_path(path_text(tokens))
    assert path.find(value) == ["leaf"]
    assert path.warnings == ()


@pytest.mark.parametrize(("text", "tokens"), CASES["written"])
def test_written_paths(text: str, tokens: list[Token]) -> None:
    assert path_text(tokens) == text


@pytest.mark.parametrize(("text", "reads"), CASES["reads"].items())
def test_reads(text: str, reads: Any) -> None:
    assert list(map(list, compile_expression(text).reads)) == reads


def test_simple_field() -> None:
    names = {"last_seen": "last_seen", '"last-seen"': "last-seen", "a.b": None, "@": None, "a[0]": None}
    assert {text: compile_expression(text).simple_field for text in names} == names


@pytest.mark.parametrize(
    ("text", "a", "result"),
    [
        *(("lower(a) == 'größe'", "GRÖSSE", False), ("lower(a) == 'größe'", "GRÖßE", True), ("lower(a)", 5, None)),
        *(
            ("matches(a, 'b+$')", "xbb", True),
            ("matches(a, '^b')", "xbb", False),
            ("matches(a, '(?i)^X')", "xbb", True),
        ),
        *(("matches(a, 'ö.$')", "ö\ud800", True), ("matches(a, '.')", None, None)),
        ("matches(a, '(x*)*(x*)*y$')", "x" * 100_000, False),
        *(("matches(a, '(?m)^b$')", ["a", "b"], True), ("matches(a, '^b')", ["a", "b"], False)),
        *(
            ("matches(a, 'a')", ["a", 1], False),
            ("matches(a, 'a')", ["a\nb"], False),
            ("matches(a, '.')", [], False),
            ("matches(a, '.')", {}, None),
        ),
        ("a[?@ > -1.5 && @ < 5] | [0]", [-2, -1, 5], -1),
        *(("a > `1`", "x", None), ("length(a) > `0`", 1, None), ("sort(@)", [1, "a"], None), ("`NaN`", 1, None)),
    ],
)
def test_functions_and_values_on_which_they_fail(text: str, a: Any, result: Any) -> None:
    assert compile_expression(text).evaluate({"a": a}) == result
    assert compile_expression(text).holds({"a": a}) is bool(result)


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("text", CASES["evaluated"])
def test_expressions_evaluate_objects_in_their_stored_form(text: str, record: Any) -> None:
    condition = compile_expression(text)
    assert dump(condition.evaluate(record)) == dump(condition.evaluate(plain(record)))
    assert condition.holds(record) is condition.holds(plain(record))


def test_expressions_refuse_deep_values_and_deep_literals() -> None:
    deep = nested(100_000, key="a")
    for text in ("a == `1`", "to_string(a)", "@", "a", "a.a == a"):
        with pytest.raises(Unreducible):
            compile_expression(text).evaluate(deep)
    assert compile_expression("b == 'x'").holds(deep) is False
    with pytest.raises(PathError, match="nested deeper than 100 levels"):
        compile_expression("`" + "[" * 200 + "]" * 200 + "`")
