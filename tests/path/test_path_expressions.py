"""Conditions: truth, what they read, objects that are no plain JSON, and values that are hostile."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

import jmespath
import pytest

from reducer.path import compile_expression, compile_path
from reducer.values import Unreducible, dump, plain


@pytest.mark.parametrize("value", [None, False, "", [], {}, (), float("nan")])
def test_what_is_empty_does_not_hold(value: Any) -> None:
    assert compile_expression("@").holds(value) is False
    assert compile_expression("a").holds({"a": value}) is False
    assert compile_expression("!a").holds({"a": value}) is True


@pytest.mark.parametrize("value", [0, 0.0, -1, True, "0", [None], {"": None}, (0,)])
def test_what_is_not_empty_holds(value: Any) -> None:
    assert compile_expression("@").holds(value) is True
    assert compile_expression("a").holds({"a": value}) is True
    assert compile_expression("!a").holds({"a": value}) is False


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("score > `5`", {"score": "9.1"}),
        ("score < 'x'", {"score": 1}),
        ("length(score) > `1`", {"score": 3}),
        ("contains(score, `1`)", {"score": "x1"}),
        ("contains(score, 'x')", {"score": {"x": 1}}),
        ("ends_with(score, 'x')", {"score": None}),
        ("sort(score)", {"score": [1, "a"]}),
        ("join(',', score)", {"score": [1]}),
        ("abs(score)", {"score": True}),
        ("starts_with(score, 'a')", {"score": ["a"]}),
        ("[score > `5`, `1`]", {"score": "9.1"}),
        ("items[?score > `5`]", {"items": [{"score": 6}, {"score": "6"}]}),
    ],
)
def test_where_the_library_raises_there_is_no_answer(text: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        jmespath.search(text, value)
    condition = compile_expression(text)
    assert condition.evaluate(value) is None
    assert condition.holds(value) is False


def test_an_item_on_which_a_filter_raises_does_not_match() -> None:
    assert compile_path("items[?score > `5`]").find({"items": [{"score": 6}, {"score": "6"}, {"score": 7}]}) == [
        {"score": 6},
        {"score": 7},
    ]


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("risk", (("risk",),)),
        ("risk == 'high' && length(tags) > `2`", (("risk",), ("tags",))),
        ("tags[0].name == tags[*].id | [0]", (("tags", "name"), ("tags", "id"))),
        ("a.b || a", (("a",),)),
        ("items[?x == 'y'].z", (("items", "x"), ("items", "z"))),
        ("items[?x].{n: name}", (("items",),)),
        ("a.*.b", (("a",),)),
        ("@", ((),)),
        ("keys(@)", ((),)),
        ("[?x].y", (("x",), ("y",))),
        ("sort_by(hits, &at)[0].rule", (("hits",),)),
        ("max_by(@, &x).y", ((),)),
        ("'constant'", ()),
        ("`1` == `1`", ()),
        ("a | b | c", (("a", "b", "c"),)),
        ('"a.b"."c d"', (("a.b", "c d"),)),
        ("!(a) || !(b)", (("a",), ("b",))),
    ],
)
def test_reads(text: str, reads: Any) -> None:
    assert compile_expression(text).reads == reads


def test_a_long_chain_of_alternatives() -> None:
    condition = compile_expression(" || ".join(f"id == 'a{number}'" for number in range(500)))
    assert condition.holds({"id": "a499"})
    assert not condition.holds({"id": "b"})
    assert condition.reads == (("id",),)


@pytest.mark.parametrize(
    ("text", "name"),
    [("last_seen", "last_seen"), ('"last-seen"', "last-seen"), ("a.b", None), ("@", None), ("a[0]", None), ("!a", None)],
)
def test_simple_field(text: str, name: str | None) -> None:
    assert compile_expression(text).simple_field == name


class Level(StrEnum):
    HIGH = "high"


class Number(IntEnum):
    ONE = 1


@dataclass
class Hit:
    level: Any
    tags: tuple[Any, ...] = ()
    more: Any = None


HITS = [
    Hit(Level.HIGH, ("a", Level.HIGH), {1: {"x": Number.ONE}}),
    {"level": Level.HIGH, "tags": ({"a": 1}, (1, 2)), "more": float("inf")},
    {"level": Number.ONE, "tags": [float("nan"), True], "more": {Level.HIGH: Hit("x")}},
    {"kind": "image-url", "level": "high", "tags": ["b"]},
]


ASKED = [
    *("level == 'high'", "level != 'high'", "level", "tags", "tags[0]", "tags[*].a", "tags[]", "tags[?@ == 'high']", "more"),
    *('more."1".x', "more.high.level", "length(tags)", "contains(tags, 'high')", "tags == `[1]`", "more == `null`"),
    *("[level, tags]", "{l: level, m: more}", "more.*", "level > `0`", "sort_by([{n: level}], &n)", "to_string(@)", "keys(@)"),
    *("not_null(more, level)", "starts_with(level, 'h')", "tags[::-1]", "@"),
]


@pytest.mark.parametrize("hit", HITS)
@pytest.mark.parametrize("text", ASKED)
def test_objects_are_asked_as_they_are_stored(text: str, hit: Any) -> None:
    condition = compile_expression(text)
    assert condition.evaluate(hit) == condition.evaluate(plain(hit))
    assert condition.holds(hit) is condition.holds(plain(hit))
    assert dump(condition.evaluate(hit)) == dump(condition.evaluate(plain(hit)))


def test_deep_values_have_no_answer() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = {"a": [deep]}
    for text in ("a == `1`", "to_string(a)", "@", "a", "a[0].a == a", "sort_by([@], &a)", "{b: a}", "a[]"):
        condition = compile_expression(text)
        with pytest.raises(Unreducible):
            condition.evaluate(deep)
    for text in ("b", "a[0].a[1]", "length(a) == `1`", "b == 'x'", "a && 'yes'", ".".join(["b"] * 90)):
        condition = compile_expression(text)
        assert condition.holds(deep) is (text in ("length(a) == `1`", "a && 'yes'"))


def test_literals_are_checked() -> None:
    assert compile_expression("`NaN`").evaluate({}) is None
    assert compile_expression("`1e999`").evaluate({}) is None
    with pytest.raises(ValueError, match="a literal is nested too deeply"):
        compile_expression("`" + "[" * 200 + "]" * 200 + "`")


@pytest.mark.parametrize("text", ["a == b", "to_number(a)", "sum(c)", "avg(c)", "max(c)", "to_string(c)", "a < b"])
def test_odd_numbers_raise_nothing(text: str) -> None:
    condition = compile_expression(text)
    for a in ("9" * 5000, 10**400, -0.0, float("inf"), True):
        condition.evaluate({"a": a, "b": 1.5, "c": [a, 0.5]})
        condition.holds({"a": a, "b": 1.5, "c": [a, 0.5]})
