"""What a step took, summed up for people."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reducer.path.written import path_text
from reducer.report.changes import changes
from reducer.report.diff import describe


def lines(old: Any, new: Any) -> list[str]:
    return [describe(change) for change in changes(old, new)]


@pytest.mark.parametrize(
    ("old", "pick", "expected"),
    [
        ([1, 2, 3, 4], [0, 3], ["[1..2]: 2 of 4 items, 4 characters"]),
        ({"a": ["x", "y", "z"]}, {"a": [0, 2]}, ["a[1]: 1 of 3 items, 4 characters"]),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0], [1, 3, 5, 7, 9], ["[0, 2, 4, 6, …]: 6 of 11 items, 12 characters"]),
    ],
)  # fmt: skip
def test_removed_items(old: Any, pick: Any, expected: list[str]) -> None:
    new = [old[index] for index in pick] if type(old) is list else {key: [old[key][i] for i in pick[key]] for key in pick}
    assert lines(old, new) == expected


def test_removed_keys_of_many_objects_are_one_line() -> None:
    old = {"rows": [{"id": number, "ttl": 60} for number in range(20)]}
    new = {"rows": [{"id": row["id"]} for row in old["rows"]]}
    assert lines(old, new) == ["rows[*].ttl (20 times): 180 characters"]


def test_many_removed_keys_are_named_together() -> None:
    old = {"a": {f"k{number}": "x" * number for number in range(9)}}
    assert lines(old, {"a": {"k0": ""}}) == ["a: 8 keys (k8, k7, k6, k5, 4 more), 100 characters"]
    old = {"rows": [old["a"], old["a"]]}
    assert lines(old, {"rows": [{}, {}]}) == ["rows[*]: 9 keys (k8, k7, k6, k5, 5 more), 216 characters"]


def test_an_object_used_as_a_map_is_one_line() -> None:
    old = {"by_ip": {f"192.0.2.{number}": {"asn": 1, "raw": "x"} for number in range(12)}}
    new = {"by_ip": {ip: {"asn": 1} for ip in old["by_ip"]}}
    assert lines(old, new) == ["by_ip.*.raw (12 times): 120 characters"]


def test_cut_texts_and_emptied_values() -> None:
    old = {"whois": {"raw": "x" * 4809}, "links": {"self": "here"}, "n": 1}
    new = {"whois": {"raw": "x" * 390 + " …[4419 more characters]"}, "links": {}, "n": 1}
    assert lines(old, new) == ["whois.raw: 4,809 -> 414 characters", "links: 15 characters, the key stays"]


def test_items_removed_and_changed_at_once() -> None:
    rows = [{"id": number, "raw": "x"} for number in range(4)]
    assert lines(rows, [rows[0], {"id": 1}, rows[3]]) == ["[1].raw: 10 characters", "[2]: 1 of 4 items, 19 characters"]
    assert lines(rows, [{"id": 0}, {"id": 1}]) == ["[*].raw (2 times): 20 characters", "[2..3]: 2 of 4 items, 38 characters"]


def test_the_same_value_many_times_takes_no_longer() -> None:
    same = ["x"] * 200_000
    assert lines(same, same[:5]) == ["[5..199999]: 199,995 of 200,000 items, 799,980 characters"]
    assert lines(same, same[:-1]) == ["[199999]: 1 of 200,000 items, 4 characters"]


def test_nothing_changed() -> None:
    assert lines([1, {"a": "b"}], [1, {"a": "b"}]) == []


def test_paths_are_jmespath() -> None:
    jmespath = pytest.importorskip("jmespath")
    data = {"a b": [{"x-y": {"z": 7}}], "@t": 1}
    assert path_text(("a b", 0, "x-y", "z")) == '"a b"[0]."x-y".z'
    assert jmespath.search(path_text(("a b", 0, "x-y", "z")), data) == 7
    assert jmespath.search(path_text(("@t",)), data) == 1
    assert path_text(()) == "@"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=25,
)


@st.composite
def shrunk(draw: st.DrawFn, value: Any) -> Any:
    """Take items and keys away and cut texts, at random, everywhere."""
    if type(value) is list:
        return [draw(shrunk(item)) for item in value if draw(st.integers(0, 3))]
    if type(value) is dict:
        return {key: draw(shrunk(item)) for key, item in value.items() if draw(st.integers(0, 3))}
    if type(value) is str:
        return value[: draw(st.integers(0, len(value)))]
    return value


@given(st.data())
def test_changes_are_told_if_and_only_if_there_are_any(data: st.DataObject) -> None:
    old = data.draw(VALUES)
    new = data.draw(shrunk(old))
    found = changes(old, new)
    event("changed" if old != new else "same")
    assert bool(found) == (old != new)
    for change in found:
        assert describe(change)


@given(st.lists(st.integers(0, 3).map(lambda number: {"n": number}), max_size=12), st.data())
def test_removed_items_are_counted_exactly(items: list[Any], data: st.DataObject) -> None:
    new = [item for item in items if data.draw(st.booleans())]
    found = changes(items, new)
    assert sum(change.items for change in found) == len(items) - len(new)
    assert {change.kind for change in found} <= {"removed"}
