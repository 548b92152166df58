"""Paths: their shapes, their places, values that are not plain JSON, and places written as paths."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.paths import PathError, ValuePlace, compile_expression, compile_path
from reducer.paths.written import Token, path_text
from reducer.values import Unreducible, plain
from tests.paths.live import LIVE, PICTURE
from tests.paths.strategies import aimed

A, B, EACH = ("field", "a"), ("field", "b"), ("each",)
X = compile_expression("x")
SHAPES: dict[str, Any] = {
    "@": (),
    "a.b": (A, B),
    "a | b": (A, B),
    '"a b"."c.d"': (("field", "a b"), ("field", "c.d")),
    "a.*.b": (A, ("values",), B),
    "a[0][1:]": (A, ("index", 0), ("slice", 1, None, None)),
    "a[]": (A, EACH, ("flatten",)),
    "a[*].b[]": (A, EACH, B, ("flatten",)),
    "a[*].b[*].a[]": (A, EACH, B, EACH, A),
    "a[*].b | [0]": (A, EACH, B, ("pick", 0)),
    "(a[*].b)[1:]": (A, EACH, B, ("pick", 1, None, None)),
    "a[*] | [*].b": (A, EACH, B),
    "a[*] | b": (A, EACH, ("nothing",), B),
    "a[?x]": (A, ("filter", X)),
    "a[*].b | [?x]": (A, EACH, B, ("only", X)),
}


@pytest.mark.parametrize("text", SHAPES)
def test_shapes(text: str) -> None:
    assert compile_path(text).shape == SHAPES[text]


def test_filters_have_the_shape_of_the_items_that_they_test() -> None:
    path = compile_path("a[?b[?c == 'x'] | [0].d].e | [?f]")
    inner, outer = compile_expression("b[?c == 'x'] | [0].d"), compile_expression("f")
    tested = (A, ("filter", inner))
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


def test_positions_in_what_a_list_of_places_holds() -> None:
    value = {"a": [{"b": 1}, {}, {"b": 3}, {"b": None}, {"b": 5}]}
    found = compile_path("a[*].b | [::-2]").places(value)
    assert found == [ValuePlace(5, ("a", 4, "b")), ValuePlace(1, ("a", 0, "b"))]


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


@pytest.mark.parametrize("media", [PICTURE, {"kind": "image-url", "url": "u"}])
def test_media_are_never_entered(media: Any) -> None:
    for text in ("x.url", "x.*", "x.a[0]", "y[*].url", "y[].*", "y[0].a[]", "y[*].url | [0]"):
        assert compile_path(text).find({"x": media, "y": [media]}) == [], text
    assert compile_path("x[*]").find({"x": [media]}) == [media]
    assert compile_path("x[*].url").find({"x": [media, {"kind": "phishing-url", "url": "v"}]}) == ["v"]


def test_values_without_a_json_form_or_too_deep_for_one_are_unreducible() -> None:
    with pytest.raises(Unreducible):
        compile_path("a.b").find({"a": object()})
    deep: Any = []
    for _ in range(100_000):
        deep = [deep, {"a": deep}]
    for text in ("@", "[0]", "[*]", "[]", "[1].a", "[1].*", "[-1:]", "[*] | [0]", "[0]" * 90):
        assert compile_path(text).find(deep)
    with pytest.raises(Unreducible):
        compile_path("[?@ == `1`]").find(deep)


@given(st.lists(st.sampled_from(["b", "x-y", 'q"', "é", "last.seen", -1, None, 0]), min_size=1, max_size=7))
@example([None, "b", "c"])
@example([-1, None, "b", "c"])
@example(["b", None, 0, "b"])
def test_a_written_place_is_found(tokens: list[Token]) -> None:
    value: Any = "leaf"
    for token in reversed(tokens):
        value = [value] if type(token) is int else {token or "any": value}
    path = compile_path(path_text(tokens))
    assert path.find(value) == ["leaf"]
    assert path.warnings == ()


def test_how_a_place_is_written() -> None:
    assert path_text([]) == "@"
    assert path_text(["a", -1, "b"]) == "a[*].b"
    assert path_text(["a", None, "b"]) == "a.*.b"
    assert path_text(["a", None, "b", "c"]) == "a.* | [*].b.c"
    assert path_text(["a", None, -1, "b", "c"]) == "a.*[*].b.c"
