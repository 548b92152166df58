"""The laws of places: same object, spine only, order of keys and calls, nothing mutated; and values that are no plain JSON."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from hypothesis import event, example, given
from path_strategies import aimed
from pydantic import BaseModel

from reducer.path import compile_path
from reducer.values import Unreducible, plain


class Mark:
    """What takes the place of a value; equal to nothing else."""


def spine(new: Any, old: Any, copies: list[tuple[int, int]]) -> int:
    """Count the marks below `new`; what has none must be the same object as in `old`, the rest has its keys and length."""
    if isinstance(new, Mark):
        return 1
    marks = 0
    if new is not old:
        assert type(new) is type(old)
        assert len(new) == len(old)
        copies.append((id(new), id(old)))
        if isinstance(new, dict):
            assert list(new) == list(old)
            marks = sum(spine(new[name], old[name], copies) for name in old)
        else:
            marks = sum(spine(a, b, copies) for a, b in zip(new, old, strict=True))
        assert marks, "copied though nothing below it changed"
    return marks


@given(aimed())
@example(("@[*].b | [-1]", [{"b": 1}, {"b": {"c": 2}}]))
@example(("@.a[1:3]", {"a": [1, None, [2], 3], "b": {}}))
def test_only_the_spine_is_copied(pair: tuple[str, Any]) -> None:
    text, value = pair
    path, before, called, noted = compile_path(text), repr(value), [], []

    def mark(place: Any) -> Mark:
        called.append(place)
        return Mark()

    new = path.update(value, mark, lambda new, old: noted.append((id(new), id(old))))
    places = path.find(value)
    event("some places" if places else "no places")
    assert [id(place) for place in called] == [id(place) for place in places]
    rebuilt: list[tuple[int, int]] = []
    assert spine(new, value, rebuilt) == len(places)
    assert sorted(noted) == sorted(rebuilt)
    assert repr(value) == before


@given(aimed())
def test_nothing_changes_without_a_change(pair: tuple[str, Any]) -> None:
    text, value = pair
    noted: list[Any] = []
    assert compile_path(text).update(value, lambda place: place, lambda new, old: noted.append(new)) is value
    assert noted == []


def other(place: Any) -> Any:
    """Change a value into another one of its type."""
    if isinstance(place, bool):
        return not place
    if isinstance(place, dict):
        return {**place, "more": 1}
    return place + {str: "~", int: 1, float: 0.5, list: ["more"]}[type(place)]


@given(aimed())
@example(("@[][]", [[1, ["x", [2]]], True]))
def test_what_is_put_is_found(pair: tuple[str, Any]) -> None:
    text, value = pair
    path = compile_path(text)
    if path.filters:  # the change may be one that the filter does not let through
        return
    assert path.find(path.update(value, other)) == [other(place) for place in path.find(value)]


def test_some_items_change() -> None:
    items = [{"id": 1}, {"id": None}, "text", {"id": 3, "kind": 2}, {}]
    value = {"x": [0], "items": items, "y": {}}
    new = compile_path("items[*].id").update(value, lambda number: 30 if number == 3 else number)
    assert new == {"x": [0], "items": [{"id": 1}, {"id": None}, "text", {"id": 30, "kind": 2}, {}], "y": {}}
    assert all(new["items"][n] is items[n] for n in (0, 1, 2, 4))
    assert list(new["items"][3]) == ["id", "kind"]
    assert (new["x"], new["y"]) == (value["x"], value["y"])
    assert new["x"] is value["x"]


def test_negative_and_reversed_positions() -> None:
    value = {"a": [{"b": 1}, {}, {"b": 3}, {"b": None}, {"b": 5}]}
    seen: list[int] = []
    new = compile_path("a[*].b | [::-2]").update(value, lambda number: seen.append(number) or -number)
    assert seen == [5, 1]
    assert new == {"a": [{"b": -1}, {}, {"b": 3}, {"b": None}, {"b": -5}]}
    assert new["a"][2] is value["a"][2]


def test_null_is_no_place() -> None:
    calls: list[Any] = []
    for text, value in [
        ("@", None),
        ("a", {"a": None}),
        ("[*]", [None]),
        ("*", {"a": None}),
        ("[0]", [None]),
        ("[:]", [None]),
        ("[]", [[None]]),
    ]:
        assert compile_path(text).update(value, calls.append) is value
        assert compile_path(text).find(value) == []
    assert calls == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a[0][1:] | [1]", [2.5]),  # a bare slice keeps its nulls, and NaN is one
        ("a[0][1:] | [0]", [float("nan")]),
        ("a[0][1:][]", [2.5, 3]),
        ("a[0][*] | [1]", [2.5]),  # a projection has none
        ("a[1][1:] | [1]", [3]),
        ("a[1][1:][]", [3]),
        ("a[1][1:][*] | [0]", [3]),
    ],
)
def test_nulls_in_slices(text: str, found: list[Any]) -> None:
    value = {"a": [[1, float("nan"), 2.5, 3], [1, None, 3]]}
    places = compile_path(text).find(value)
    assert repr([place for place in places if place == place]) == repr([place for place in found if place == place])


# Values that are no plain JSON


class Level(Enum):
    HIGH = "high"
    LOW = "low"


class Hit(BaseModel):
    rule: str
    at: datetime.date
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


DAY = datetime.date(2026, 1, 2)
LIVE = {
    "report": Report("r", (Hit(rule="a", at=DAY, level=Level.HIGH), Hit(rule="b", at=DAY), None), {1: "one", Level.LOW: ("x", "y")}),
    "hits": [Hit(rule="c", at=DAY, level=Level.HIGH), {"rule": "d", "level": Level.HIGH}],
    "values": {1: float("nan"), 2: 2.5},
}


ENTERED = [
    *("report.name", "report.hits[*].rule", "report.hits[0]", "report.hits[-2:].rule", "report.hits[?level == 'high'].rule"),
    *("hits[?level == 'high'].rule", 'report.scores."1"', "report.scores.low[*]", "report.scores.low[1]", "report.scores.*"),
    *("report.scores.*[]", "*.name", "hits[].rule", "hits[*].at", "hits[*].rule | [-1]", "hits[?at == '2026-01-02'].at"),
    *('values."2"', "report.hits[][]", "nothing.name"),
]


@pytest.mark.parametrize("text", ENTERED)
def test_objects_are_entered_as_they_are_stored(text: str) -> None:
    path, stored = compile_path(text), plain(LIVE)
    assert [plain(place) for place in path.find(LIVE)] == path.find(stored)
    assert path.update(LIVE, lambda place: place) is LIVE
    changed = path.update(LIVE, lambda place: "changed")
    assert plain(changed) == path.update(stored, lambda place: "changed")


def test_an_object_off_the_spine_stays_itself() -> None:
    new = compile_path("hits[1].rule").update(LIVE, str.upper)
    assert new["hits"][0] is LIVE["hits"][0]
    assert new["report"] is LIVE["report"]
    assert new["hits"][1] == {"rule": "D", "level": Level.HIGH}


def test_a_tuple_becomes_a_list_and_is_noted() -> None:
    value, noted = {"a": (1, 2)}, []
    new = compile_path("a[*]").update(value, lambda number: number + 1, lambda new, old: noted.append((new, old)))
    assert new == {"a": [2, 3]}
    assert noted == [([2, 3], (1, 2)), ({"a": [2, 3]}, {"a": (1, 2)})]


@pytest.mark.parametrize("media", [Picture("u"), {"kind": "image-url", "url": "u", "a": [1]}, {"kind": "binary", "url": "u", "a": [1]}])
def test_media_are_never_entered(media: Any) -> None:
    for value in ({"x": media}, {"x": [media]}):
        for text in ("x.url", "x.*", "x.a[0]", "x[*].url", "x[].*", "x[0].a[]", "x[*].url | [0]"):
            assert compile_path(text).find(value) == [], text
            assert compile_path(text).update(value, lambda place: 0) is value
    assert compile_path("x[*]").find({"x": [media]}) == [media]
    assert compile_path("x[*].url").find({"x": [media, {"kind": "domain", "url": "v"}]}) == ["v"]
    assert compile_path("x[*].url | [0]").find({"x": [media, {"url": "v"}]}) == ["v"]


def test_an_object_without_a_json_form_is_unreducible() -> None:
    path = compile_path("a.b")
    with pytest.raises(Unreducible):
        path.find({"a": object()})


def test_deep_values_are_no_trouble() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep, {"a": deep}]
    for text in (
        "@",
        "[0]",
        "[*]",
        "[]",
        "[1].a",
        "[1].*",
        "[-1:]",
        "[*] | [0]",
        "[*][*] | [1]",
        ".".join(["a"] * 90),
        "[0]" * 90,
    ):
        path = compile_path(text)
        path.find(deep)
        assert path.update(deep, lambda place: place) is deep
        path.update(deep, lambda place: 0)
    with pytest.raises(Unreducible):
        compile_path("[?@ == `1`]").find(deep)


def test_shape_and_filters() -> None:
    path = compile_path("a[*].b[?x == 'y' && z[0].w > `1`].c.*.d[0] | [2:]")
    assert path.shape == (
        ("field", "a"), ("each",), ("pick", 2, None, None), ("field", "b"), ("filter", (("x",), ("z", "w"))),
        ("field", "c"), ("values",), ("field", "d"), ("index", 0),
    )  # fmt: skip
    [(shape, condition)] = path.filters
    assert shape == (("field", "a"), ("each",), ("field", "b"), ("filter", (("x",), ("z", "w"))))
    assert condition.text == "x == 'y' && z[0].w > `1`"
    assert condition.reads == (("x",), ("z", "w"))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("@", ()),
        ("a.b", (("field", "a"), ("field", "b"))),
        ("a[]", (("field", "a"), ("each",))),
        ("a[*].b[*].c[]", (("field", "a"), ("each",), ("field", "b"), ("each",), ("field", "c"))),
        ("a[*].b[*].c[][]", (("field", "a"), ("each",), ("field", "b"), ("each",), ("field", "c"), ("each",))),
        ("a[*].b | [0]", (("field", "a"), ("each",), ("field", "b"), ("pick", 0, 1, None))),
        ("a[*].b[*] | [0]", (("field", "a"), ("each",), ("pick", 0, 1, None), ("field", "b"), ("each",))),
        ("a | b", (("field", "a"), ("field", "b"))),
        ('"a b"."c.d"', (("field", "a b"), ("field", "c.d"))),
    ],
)
def test_shapes(text: str, shape: Any) -> None:
    assert compile_path(text).shape == shape


def test_filters_within_filters_belong_to_the_condition() -> None:
    path = compile_path("a[?b[?c == 'x'] | [0].d].e[?f]")
    assert [condition.text for _, condition in path.filters] == ["b[?c == 'x'] | [0].d", "f"]
    assert path.filters[1][0] == (("field", "a"), ("filter", (("b", "c"), ("b", "d"))), ("field", "e"), ("filter", (("f",),)))
