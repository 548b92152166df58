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
        below = place.each if token == -1 else place.keys[token]  # type: ignore[index]
        assert below is not None
        place = below
    assert place.path == path
    return place


@given(values)
def test_no_character_is_counted_twice(value: Any) -> None:
    root = profile([value])
    places = list(root.walk())
    assert places[0] is root
    for place in places:
        # A key counts with its colon and comma, but the last key of an object has no comma.
        assert sum(below.chars for below in place.below()) <= place.chars + place.objects


def test_characters_items_and_texts() -> None:
    value = {"hits": [{"name": "a", "note": "x" * 100}, {"name": "b", "note": None}], "total": 2}
    root = profile([value, {"hits": [], "total": 0}])
    assert abs(root.chars - len(dump(value)) - len('{"hits":[],"total":0}')) <= 8
    assert (at(root, "hits").lists, at(root, "hits").items, at(root, "hits").max_items) == (2, 2, 2)
    assert (at(root, "hits", -1, "note").max_text, at(root, "hits", -1, "note").texts) == (100, 1)
    assert at(root, "hits", -1).empty == len('"note":null,')
    assert at(root, "total").samples == [2, 0]
    assert at(root, "hits", -1).answers == {0}


def test_an_object_used_as_a_map_is_one_place() -> None:
    engines = {f"Engine {number}": {"category": "harmless", "result": "clean"} for number in range(6)}
    root = profile([{"results": engines}])
    assert at(root, "results").is_map
    assert at(root, "results", None, "category").values == 6
    ports = {str(number): [{"banner": "x"}] for number in range(20, 26)}
    assert at(profile([{"ports": ports}]), "ports", None, -1, "banner").values == 6


def test_objects_with_different_values_are_no_map() -> None:
    values = ({"raw": "x"}, {"a": [1]}, {"jarm": "y"}, {"title": "z"}, {"city": "w"}, {"number": 1})
    assert not profile([dict(zip(("whois", "dns", "tls", "http", "geo", "asn"), values, strict=True))]).is_map
    assert not profile([{"a": {"x": 1}, "b": {"x": 1}}]).is_map


def test_texts_that_contain_structure_are_parsed() -> None:
    inner = {"results": [{"title": "a"}, {"title": "b"}], "more": "x" * 40}
    root = profile([{"content": [{"text": json.dumps(inner)}]}])
    text = at(root, "content", -1, "text")
    assert (text.encoded, text.encoding, text.encoded_chars) == (1, "JSON", len(dump(json.dumps(inner))))
    assert at(root, "content", -1, "text", "results", -1, "title").values == 2
    assert profile(["[('a', 1), ('b', 2)]"]).encoding == "Python literal"
    assert profile(["{not JSON}"]).encoded == 0


def test_levels_that_rules_do_not_reach_are_left_out() -> None:
    value: Any = "x" * 1000
    for _ in range(5000):
        value = [value]
    assert profile([value]).chars < 1000


def test_evidence_marks_the_places_of_used_values_also_in_maps() -> None:
    hosts = {f"10.0.0.{number}": {"name": f"srv{number}", "note": "x"} for number in range(6)}
    root = profile([{"hosts": hosts}, {"hosts": hosts}], lambda answer, leaf: answer == 1 and leaf == "srv3")
    assert at(root, "hosts", None, "name").used
    assert not at(root, "hosts", None, "note").used
