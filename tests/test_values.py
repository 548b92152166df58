"""Every version of Python reads JSON to the same depth."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.values import MAX_JSON_DEPTH, is_deep, loads
from tests.helpers import nested

LEAVES = st.one_of(st.none(), st.integers(), st.text('[{]}"\\a', max_size=4), st.floats(allow_nan=False))


def json_of(levels: int, inner: str, kinds: str = "[") -> str:
    marks = [kinds[number % len(kinds)] for number in range(levels)]
    closing = "".join("]" if mark == "[" else "}" for mark in reversed(marks))
    return "".join(marks).replace("{", '{"key":') + inner + closing


@pytest.mark.parametrize("kinds", ["[", "{", "[{", "{[["])
@pytest.mark.parametrize(
    ("inner", "more"), [("1", 0), ('"text"', 0), ("[]", 1), ("{}", 1), ('[1,"a",[],3]', 2), ('{"a":1,"b":{}}', 2)]
)
def test_the_deepest_json_is_read_and_deeper_json_is_refused(kinds: str, inner: str, more: int) -> None:
    deepest = json_of(MAX_JSON_DEPTH - more, inner, kinds)
    assert json.dumps(loads(deepest), separators=(",", ":")) == deepest
    for levels in (MAX_JSON_DEPTH + 1 - more, 900, 9_000, 100_000):
        with pytest.raises(RecursionError):
            loads(json_of(levels, inner, kinds))


def levels_of(value: Any) -> int:
    if not isinstance(value, (dict, list)):
        return 0
    return 1 + max(map(levels_of, value.values() if isinstance(value, dict) else value), default=0)


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)), st.integers(0, 12))
def test_levels_are_counted_as_they_are_nested(value: Any, more: int) -> None:
    deep = nested(MAX_JSON_DEPTH - more, value)
    assert is_deep(deep, 10_000) == (levels_of(deep) > MAX_JSON_DEPTH)


def test_a_short_text_is_not_counted() -> None:
    longest = json_of(MAX_JSON_DEPTH, "")
    assert not is_deep(loads(longest), len(longest))
    assert len(longest) == 2 * MAX_JSON_DEPTH  # any text with one level more is longer
