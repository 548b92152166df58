"""What histories are wrapped in, and what is none although it looks a little like one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.errors import HistoryError
from reducer.stored import reduce_json, returns
from tests.doors.fakes import shorter

RETURN = {"tool_name": "t", "content": [1, 2, 3], "tool_call_id": "c", "part_kind": "tool-return"}
NATIVE = [{"parts": [], "kind": "request"}, {"parts": [RETURN], "kind": "request"}]
ACTIVITY = {"type": "activity", "activity_type": "tool_result", "results": [{"name": "t", "content": [1, 2, 3], "is_error": False, "call_id": "c"}]}
SESSION = [{"role": "user", "text_content": "hi"}, {"role": "assistant", "parts": [ACTIVITY]}]
NOTES = {"content": [1, 2, 3], "note": [{"content": [1, 2, 3], "part_kind": "tool-return"}], "openai": [{"role": "tool", "content": [1, 2, 3]}]}


def wrappers(history: list[Any]) -> list[tuple[Any, int]]:
    """Give wrappings of a history, and how often its return is in each."""
    return [
        (history, 1),
        (history[1], 1),
        ({"messages": history}, 1),
        ({"id": 7, **NOTES, "messages": history, "more": NOTES}, 1),
        ({"data": {"notes": NOTES, "history": history}}, 1),
        ({"all_messages": history, "new_messages": history[1:]}, 2),
        ([{"id": 1, "messages": history}, {"id": 2, "messages": history}, {"id": 3, "messages": []}], 3 - 1),
        ({"sessions": [{"id": 1, "runs": [{"turns": history}, {"turns": history}]}]}, 2),
        ({"message": history[1]}, 1),
        ({"far": ["x" * 5000], "on": {"far": "x" * 5000, "messages": history}}, 1),
    ]


@pytest.mark.parametrize("history", [NATIVE, SESSION], ids=["model-messages", "session"])
@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("indent", [None, 1])
def test_a_history_is_found_in_what_it_is_wrapped_in(history: list[Any], number: int, indent: int | None) -> None:
    value, times = wrappers(history)[number]
    data = json.dumps(value, indent=indent).encode()
    text = data.decode()
    found = list(returns(data))
    assert [item.content for item in found] == [[1, 2, 3]] * times
    assert [item.nth for item in found] == list(range(1, times + 1))
    assert len({item.message for item in found}) == times
    expected, done = "", 0
    for item in found:
        assert json.loads(text[item.start : item.end]) == [1, 2, 3]
        expected += text[done : item.start] + "[1,2]"
        done = item.end
    assert reduce_json(data, shorter).decode() == expected + text[done:]


@pytest.mark.parametrize("far", ["x" * 5000, ["x" * 30] * 200, {"y": ["parts", 7] * 700}], ids=["text", "list", "object"])
def test_a_history_whose_keys_are_escaped_is_found_behind_much_else(far: Any) -> None:
    text = json.dumps({"run": {"far": far, "log": NATIVE}, "more": 1}).replace('"parts": [', '"p\\u0061rts": [')
    assert "u0061" in text
    (found,) = returns(text.encode())
    assert (found.message, found.content) == (1, [1, 2, 3])
    assert reduce_json(text.encode(), shorter).decode() == f"{text[: found.start]}[1,2]{text[found.end :]}"


def test_messages_of_a_search_result_are_found_in_its_hits() -> None:
    for history in (NATIVE, SESSION):
        hits = [{"_index": "m", "_id": str(number), "_score": None, "_source": message} for number, message in enumerate(history)]
        data = json.dumps({"took": 1, "hits": {"total": {"value": 2}, "hits": hits}}).encode()
        assert [(item.message, item.content) for item in returns(data)] == [(1, [1, 2, 3])]


@pytest.mark.parametrize("name", ["messages", "history", "all_messages", "new_messages", "message_history"])
def test_an_empty_history_in_a_wrapper_is_one(name: str) -> None:
    data = json.dumps({"id": 1, name: []}).encode()
    assert reduce_json(data, shorter) is data


JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(["kind", "role", "request", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kind", "role", "content", "messages", "a"]), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_any_other_json_is_refused_or_left_alone(value: Any) -> None:
    data = json.dumps(value).encode()
    if value == [] or '"messages": []' in data.decode():
        assert reduce_json(data, shorter) is data
    else:
        with pytest.raises(HistoryError, match=r"^not a history: "):
            reduce_json(data, shorter)


@given(JSON, st.booleans())
def test_what_stands_around_a_history_does_no_harm(value: Any, session: bool) -> None:
    data = json.dumps({"a": value, "messages": SESSION if session else NATIVE, "b": value}).encode()
    text = data.decode()
    (found,) = returns(data)
    assert reduce_json(data, shorter).decode() == f"{text[: found.start]}[1,2]{text[found.end :]}"


def test_a_wrapper_cut_short_is_refused() -> None:
    data = json.dumps({"id": 1, "messages": SESSION, "next": None})
    for at in range(1, len(data)):
        with pytest.raises(HistoryError):
            reduce_json(data[:at].encode(), shorter)
