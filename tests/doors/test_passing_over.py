"""What is not read is passed over as it would be read: to the same end, and with the same faults at the same places."""

from __future__ import annotations

from collections.abc import Callable
from json.decoder import JSONDecodeError
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reducer.errors import HistoryError
from reducer.reading import DEEPEST
from reducer.stored import reduce_json, returns
from reducer.stored.text import MAX_NESTING, JsonText
from tests.doors.fakes import shorter
from tests.doors.spelled import LEAVES, history, objects, spellings

VALUES = st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=4), objects(inner, st.text(max_size=2))), max_leaves=10)


def read(step: Callable[[], int]) -> Any:
    try:
        return step()
    except JSONDecodeError as error:
        return error.msg, error.pos


@given(value=VALUES, write=spellings(), at=st.none() | st.integers(0, 10**6), what=st.sampled_from(["", "}", "]", ",", ":", '"', "x", "\\", " ", "[1]"]))
def test_passing_over_is_reading_without_the_value(value: Any, write: Callable[[Any], str], at: int | None, what: str) -> None:
    text = write(value)
    if at is not None:
        at %= len(text)
        text = text[:at] + what + text[at + 1 :]
    found = read(lambda: JsonText(text).skip(0))
    assert found == read(lambda: JsonText(text).value(0)[1])
    event("a fault" if type(found) is tuple else "none")


def deep(levels: int, inner: str = "1") -> str:
    return '[{"a":' * (levels // 2) + "[" * (levels % 2) + inner + "]" * (levels % 2) + "}]" * (levels // 2)


@pytest.mark.parametrize("levels", [DEEPEST - 1, DEEPEST, DEEPEST + 1, 500, 901, 5_000, 9_000])
def test_a_content_is_read_to_one_depth(levels: int) -> None:
    (found,) = returns(history(deep(levels)))
    assert (found.content is None) == (levels > DEEPEST)
    assert found.untouched == ("it is nested too deep to be read" if levels > DEEPEST else "")


@pytest.mark.parametrize("levels", [300, 901, 5_000, 9_000])
@pytest.mark.parametrize(
    ("inner", "message", "after"),
    [
        ("1,,2", "Expecting value", 2),
        ("1 2", "Expecting ',' delimiter", 2),
        ("[1,]", "Expecting value", 3),
        ('{"a":1, }', "Expecting property name enclosed in double quotes", 8),
    ],
)
def test_a_fault_below_what_is_read_is_found(levels: int, inner: str, message: str, after: int) -> None:
    levels += 1 - levels % 2
    whole = history(deep(levels, inner))
    at = whole.index(inner.encode()) + after
    for step in (lambda: reduce_json(whole, shorter), lambda: list(returns(whole))):
        with pytest.raises(HistoryError) as caught:
            step()
        assert str(caught.value) == f"not JSON: {message} at line 1, column {at + 1}"


def test_what_is_cut_off_below_what_is_read_is_cut_off() -> None:
    whole = history(deep(5_000))
    at = whole.index(b"]")
    with pytest.raises(HistoryError, match=f"^cut off: the text ends at line 1, column {at}, in the middle of a history$"):
        reduce_json(whole[: at - 1], shorter)


@pytest.mark.parametrize(("levels", "is_read"), [(MAX_NESTING, True), (MAX_NESTING + 1, False)])
@pytest.mark.parametrize("inner", ["1", '"]"', "{}", "[ ]"])
def test_so_many_levels_are_passed_over_and_no_more(levels: int, is_read: bool, inner: str) -> None:
    text = "[" * (levels - (inner[0] in "[{")) + inner + "]" * (levels - (inner[0] in "[{"))
    if is_read:
        assert JsonText(text).value(0) == (None, len(text))
    else:
        with pytest.raises(HistoryError, match=f"^nested deeper than 10,000 levels at line 1, column {MAX_NESTING + 1}$"):
            JsonText(text).value(0)
