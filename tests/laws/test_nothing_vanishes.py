"""Law 14: a list that lost items says so, unless the author or the size of the marker speaks against it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer import markers
from reducer.engine import attempt
from reducer.values import chars
from tests.helpers import fixed_point, rules
from tests.laws.strategies import laws

ITEMS = st.lists(st.fixed_dictionaries({"id": st.integers(0, 3), "note": st.text("abc ", max_size=40)}), max_size=12)
STEPS = st.sampled_from(
    [
        {"limit": 2},
        {"limit": {"head": 1, "tail": 1}, "sort_by": "note"},
        {"keep": "[?id > 1]"},
        {"drop": "[?id == 0]"},
        {"dedupe": "id"},
        {"drop_dangling": {"id": "known[*]"}},
    ]
)
MARKS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"mark": True}, {"mark": "id"}, {"mark": False}, {"keys": "all"}]
)


@laws
@given(ITEMS, STEPS, MARKS)
@example([{"id": 1, "note": "a"}] * 9, {"limit": 2}, {"mark": True})
def test_a_shorter_list_counts_what_it_lost(items: list[Any], step: dict[str, Any], how: dict[str, Any]) -> None:
    """A marker has at most a quarter of the removed characters, if the author did not decide."""
    on_rule = how if "keys" in how else {}
    ruleset = rules(steps=[{"path": "items", **step, **({} if on_rule else how)}], **on_rule)
    outcome = fixed_point(ruleset, {"items": items, "known": [1, 2]})
    left = outcome.content["items"]
    kept = [item for item in left if not isinstance(item, str)]
    removed = len(items) - len(kept)
    marker = left[-1] if len(left) > len(kept) else ""
    event(f"{bool(removed)}, marked: {bool(marker)}")
    if marker:
        found = markers.read_item(marker, lambda value: False)
        assert found is not None
        assert (found.count, outcome.unmarked) == (removed, 0)
        assert how in ({}, {"mark": True}, {"mark": "id"})
    else:
        assert outcome.unmarked == removed
    if removed and not how:
        size = sum(chars(item) + len(",") for item in items) - sum(chars(item) + len(",") for item in kept)
        assert bool(marker) == (size >= 4 * (len(markers.written(removed, "items")) + len('"",')))


@laws
@given(st.text("abc. \n", min_size=1, max_size=400), st.integers(1, 100))
def test_a_shorter_text_counts_what_it_lost(text: str, most: int) -> None:
    left = fixed_point(rules(steps=[{"truncate": most}]), {"note": text}).content["note"]
    event("cut" if left != text else "whole")
    assert left == text or markers.PREFIX in left


def test_a_return_that_lost_all_values_is_reported() -> None:
    ruleset = rules(steps=[{"keep": {"names": ["none"], "strict": True}}])
    for content in ({"a": "text", "b": ["text"]}, [{"a": "text"}], json.dumps({"a": "text", "b": [{"c": "text"}]})):
        assert attempt(ruleset, "t", content).is_emptied
    assert not attempt(ruleset, "t", {"a": 1}).is_emptied, "a number at the root stays"
    assert not attempt(ruleset, "t", {"a": ""}).is_emptied, "it had no values before"
    assert not attempt(rules(steps=[{"drop": "a"}]), "t", {"a": "text", "b": "text"}).is_emptied
