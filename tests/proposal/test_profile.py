"""Where the characters are: counted exactly, maps and texts that hold structure seen as what they are."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from reducer.profile import Spot, profile
from reducer.values import dump
from tests.laws.strategies import values


def at(spot: Spot, *path: str | int | None) -> Spot:
    for token in path:
        below = spot.each if token == -1 else spot.keys[token]  # type: ignore[index]
        assert below is not None
        spot = below
    assert spot.path == path
    return spot


@given(values)
def test_no_character_is_counted_twice(value: Any) -> None:
    root = profile([value])
    spots = list(root.everywhere())
    assert spots[0] is root
    for spot in spots:
        # A key counts with its colon and comma: the last one of an object has none.
        assert sum(below.chars for below in spot.below()) <= spot.chars + spot.objects


def test_characters_items_and_texts() -> None:
    value = {"hits": [{"name": "a", "note": "x" * 100}, {"name": "b", "note": None}], "total": 2}
    root = profile([value, {"hits": [], "total": 0}])
    assert abs(root.chars - len(dump(value)) - len('{"hits":[],"total":0}')) <= 8
    assert (at(root, "hits").lists, at(root, "hits").items, at(root, "hits").longest) == (2, 2, 2)
    assert (at(root, "hits", -1, "note").longest_text, at(root, "hits", -1, "note").texts) == (100, 1)
    assert at(root, "hits", -1).empty == len('"note":null,')
    assert at(root, "total").seen == [2, 0]


def test_an_object_used_as_a_map_is_one_place() -> None:
    engines = {f"Engine {number}": {"category": "harmless", "result": "clean"} for number in range(6)}
    root = profile([{"results": engines}])
    assert at(root, "results").is_map
    assert at(root, "results", None, "category").values == 6
    ports = {str(number): [{"banner": "x"}] for number in range(20, 26)}
    assert at(profile([{"ports": ports}]), "ports", None, -1, "banner").values == 6


def test_objects_with_keys_of_their_own_are_no_map() -> None:
    report = {"whois": {"raw": "x"}, "dns": {"a": [1]}, "tls": {"jarm": "y"}, "http": {"title": "z"}, "geo": {"city": "w"}, "asn": {"number": 1}}
    assert not profile([report]).is_map
    assert not profile([{"a": {"x": 1}, "b": {"x": 1}}]).is_map


def test_texts_that_hold_structure_are_looked_into() -> None:
    inner = {"results": [{"title": "a"}, {"title": "b"}], "more": "x" * 40}
    root = profile([{"content": [{"text": json.dumps(inner)}]}])
    text = at(root, "content", -1, "text")
    assert (text.saying, text.notation, text.said) == (1, "JSON", len(dump(json.dumps(inner))))
    assert at(root, "content", -1, "text", "results", -1, "title").values == 2
    assert profile(["[('a', 1), ('b', 2)]"]).notation == "Python literal"
    assert profile(["{not JSON}"]).saying == 0


def test_what_is_too_deep_is_left_out() -> None:
    value: Any = "x" * 1000
    for _ in range(5000):
        value = [value]
    assert profile([value]).chars < 1000
