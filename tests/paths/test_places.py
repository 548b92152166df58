"""Paths: their shapes, their places, and values that are not plain JSON."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from operator import getitem
from typing import Any

import pytest
from hypothesis import assume, event, example, given
from pydantic import BaseModel

from reducer.paths import Path, PathError, ValuePlace, compile_expression, compile_path
from reducer.values import Unreducible, plain
from tests.paths.strategies import aimed


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("@", ()),
        ("a.b", (("field", "a"), ("field", "b"))),
        ("a | b", (("field", "a"), ("field", "b"))),
        ('"a b"."c.d"', (("field", "a b"), ("field", "c.d"))),
        ("a.*.b", (("field", "a"), ("values",), ("field", "b"))),
        ("a[0][1:]", (("field", "a"), ("index", 0), ("slice", 1, None, None))),
        ("a[]", (("field", "a"), ("each",), ("flatten",))),
        ("a[*].b[]", (("field", "a"), ("each",), ("field", "b"), ("flatten",))),
        ("a[*].b[*].c[]", (("field", "a"), ("each",), ("field", "b"), ("each",), ("field", "c"))),
        ("a[*].b | [0]", (("field", "a"), ("each",), ("field", "b"), ("pick", 0))),
        ("(a[*].b)[1:]", (("field", "a"), ("each",), ("field", "b"), ("pick", 1, None, None))),
        ("a[*] | [*].b", (("field", "a"), ("each",), ("field", "b"))),
        ("a[*] | b", (("field", "a"), ("each",), ("nothing",), ("field", "b"))),
        ("a[?x]", (("field", "a"), ("filter", compile_expression("x")))),
        ("a[*].b | [?x]", (("field", "a"), ("each",), ("field", "b"), ("only", compile_expression("x")))),
    ],
)
def test_shapes(text: str, shape: Any) -> None:
    assert compile_path(text).shape == shape


def test_filters_have_the_shape_of_the_items_that_they_test() -> None:
    path = compile_path("a[?b[?c == 'x'] | [0].d].e | [?f]")
    inner, outer = compile_expression("b[?c == 'x'] | [0].d"), compile_expression("f")
    assert path.filters == (
        ((("field", "a"), ("filter", inner)), inner),
        ((("field", "a"), ("filter", inner), ("field", "e"), ("only", outer)), outer),
    )


def compiled(text: str) -> Path:
    """Compile a path. Reject one that selects from a list of lists."""
    try:
        return compile_path(text)
    except PathError:
        assume(False)
        raise


@given(aimed())
@example(("@[*].b | [-1]", [{"b": 1}, {"b": {"c": 2}}]))
@example(("@.a[1:3]", {"a": [1, None, [2], 3], "b": {}}))
def test_the_keys_of_a_place_lead_to_its_value(pair: tuple[str, Any]) -> None:
    text, value = pair
    places = compiled(text).places(value)
    event("some places" if places else "no places")
    for place in places:
        assert reduce(getitem, place.keys, value) is place.value
    assert len({place.keys for place in places}) == len(places)


def test_negative_and_reversed_positions() -> None:
    value = {"a": [{"b": 1}, {}, {"b": 3}, {"b": None}, {"b": 5}]}
    places = compile_path("a[*].b | [::-2]").places(value)
    assert places == [ValuePlace(5, ("a", 4, "b")), ValuePlace(1, ("a", 0, "b"))]


class Level(Enum):
    HIGH = "high"
    LOW = "low"


class Hit(BaseModel):
    rule: str
    at: datetime.date = datetime.date(2026, 1, 2)
    level: Level = Level.LOW


@dataclass
class Report:
    name: str
    hits: tuple[Any, ...]
    scores: dict[Any, Any]


@dataclass
class Picture:
    url: str
    kind: str = "image-url"


LIVE = {
    "report": Report("r", (Hit(rule="a", level=Level.HIGH), Hit(rule="b"), None), {1: "one", Level.LOW: ("x", "y")}),
    "hits": [Hit(rule="c", level=Level.HIGH), {"rule": "d", "level": Level.HIGH}],
    "values": {1: float("nan"), 2: 2.5},
}
ENTERED = [
    *("report.name", "report.hits[*].rule", "report.hits[0]", "report.hits[-2:].rule", "report.hits[][]"),
    *("report.hits[?level == 'high'].rule", "hits[?at == '2026-01-02'].at", "hits[].rule", "hits[*].rule | [-1]"),
    *('report.scores."1"', "report.scores.low[1]", "report.scores.*", "report.scores.*[]", "*.name", 'values."2"'),
]


@pytest.mark.parametrize("text", ENTERED)
def test_objects_are_entered_as_they_are_stored(text: str) -> None:
    path, stored = compile_path(text), plain(LIVE)
    assert path.find(stored)
    assert [plain(place) for place in path.find(LIVE)] == path.find(stored)


@pytest.mark.parametrize("media", [Picture("u"), {"kind": "image-url", "url": "u"}])
def test_media_are_never_entered(media: Any) -> None:
    for text in ("x.url", "x.*", "x.a[0]", "y[*].url", "y[].*", "y[0].a[]", "y[*].url | [0]"):
        assert compile_path(text).find({"x": media, "y": [media]}) == [], text
    assert compile_path("x[*]").find({"x": [media]}) == [media]
    assert compile_path("x[*].url").find({"x": [media, {"kind": "phishing-url", "url": "v"}]}) == ["v"]


def test_an_object_without_a_json_form_is_unreducible() -> None:
    with pytest.raises(Unreducible):
        compile_path("a.b").find({"a": object()})


def test_deep_values() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep, {"a": deep}]
    for text in ("@", "[0]", "[*]", "[]", "[1].a", "[1].*", "[-1:]", "[*] | [0]", "[0]" * 90):
        assert compile_path(text).find(deep)
    with pytest.raises(Unreducible):
        compile_path("[?@ == `1`]").find(deep)
