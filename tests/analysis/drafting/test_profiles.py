"""Profiles count every character once, and recognise maps and texts that contain structure."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from reducer.analysis.drafting.profiles import Profile, profile
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


def test_an_object_used_as_a_map_is_one_place() -> None:
    engines = {f"Engine {number}": {"category": "harmless", "result": "clean"} for number in range(6)}
    root = profile([{"results": engines}])
    assert None in at(root, "results").below
    assert len(at(root, "results", None, "category").entries) == 6
    ports = {str(number): [{"banner": "x"}] for number in range(20, 26)}
    assert len(at(profile([{"ports": ports}]), "ports", None, -1, "banner").entries) == 6


def test_objects_with_different_values_are_no_map() -> None:
    values = ({"raw": "x"}, {"a": [1]}, {"jarm": "y"}, {"title": "z"}, {"city": "w"}, {"number": 1})
    assert None not in profile([dict(zip(("whois", "dns", "tls", "http", "geo", "asn"), values, strict=True))]).below
    assert None not in profile([{"a": {"x": 1}, "b": {"x": 1}}]).below


def test_levels_that_rules_do_not_reach_are_left_out() -> None:
    value: Any = "x" * 1000
    for _ in range(5000):
        value = [value]
    assert profile([value]).chars < 1000
