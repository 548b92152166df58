"""Profiles count every character once, and recognise maps and texts that contain structure."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from reducer.analysis.drafting.profiles import Profile, profile
from reducer.values import dump
from tests.laws.strategies import values


def at(place: Profile, *path: str | int | None) -> Profile:
    for token in path:
        place = place.below[token]
    assert place.path == path
    return place


@given(values)
def test_no_character_is_counted_twice(value: Any) -> None:
    root = profile([value])
    places = list(root.walk())
    assert places[0] is root
    for place in places:
        # A key counts with its colon and comma, but the last key of an object has no comma.
        assert sum(below.chars for below in place.below.values()) <= place.chars + place.objects


def test_characters_items_and_texts() -> None:
    value = {"hits": [{"name": "a", "note": "x" * 100}, {"name": "b", "note": None}], "total": 2}
    root = profile([value, {"hits": [], "total": 0}])
    assert abs(root.chars - len(dump(value)) - len('{"hits":[],"total":0}')) <= 8
    assert at(root, "hits").lengths == [2, 0]
    note = at(root, "hits", -1, "note")
    assert (note.max_text, note.texts, note.scalars) == (100, ["x" * 100], ["x" * 100, None])
    assert note.entries[1] == (0, None, len('"note":null,'))
    assert [entry.answer for entry in at(root, "total").entries] == [0, 1]


def test_an_object_used_as_a_map_is_one_place() -> None:
    engines = {f"Engine {number}": {"category": "harmless", "result": "clean"} for number in range(6)}
    root = profile([{"results": engines}])
    assert at(root, "results").is_map
    assert len(at(root, "results", None, "category").entries) == 6
    ports = {str(number): [{"banner": "x"}] for number in range(20, 26)}
    assert len(at(profile([{"ports": ports}]), "ports", None, -1, "banner").entries) == 6


def test_objects_with_different_values_are_no_map() -> None:
    values = ({"raw": "x"}, {"a": [1]}, {"jarm": "y"}, {"title": "z"}, {"city": "w"}, {"number": 1})
    assert not profile([dict(zip(("whois", "dns", "tls", "http", "geo", "asn"), values, strict=True))]).is_map
    assert not profile([{"a": {"x": 1}, "b": {"x": 1}}]).is_map


def test_texts_that_contain_structure_are_parsed() -> None:
    inner = {"results": [{"title": "a"}, {"title": "b"}], "more": "x" * 40}
    root = profile([{"content": [{"text": json.dumps(inner)}]}])
    text = at(root, "content", -1, "text")
    assert text.encoded == [("JSON", len(dump(json.dumps(inner))))]
    assert at(root, "content", -1, "text", "results", -1, "title").texts == ["a", "b"]
    assert profile(["[('a', 1), ('b', 2)]"]).encoded == [("Python literal", 20)]
    assert profile(["{not JSON}"]).encoded == []


def test_levels_that_rules_do_not_reach_are_left_out() -> None:
    value: Any = "x" * 1000
    for _ in range(5000):
        value = [value]
    assert profile([value]).chars < 1000
