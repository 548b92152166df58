"""Where messages are found, and what is refused because there are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.errors import HistoryError
from reducer.histories.stored import reduce_json, returns
from tests.histories.fakes import shorter
from tests.histories.messages import answer, request, results

DATA = Path(__file__).parent / "data"
MODEL = "a list of messages, each an object with `kind` and `parts`"
SESSIONS = "a session history, a list of objects with `role` and `parts` that carry activities"
NATIVE = [request(), request(answer("c", content=[1, 2, 3]))]
ACTIVITY = results("c", [1, 2, 3])
SESSION = [{"role": "user", "text_content": "hi"}, {"role": "assistant", "parts": [ACTIVITY]}]
NOTE = {"content": [1, 2, 3], "part_kind": "tool-return"}
NOTES = {"content": [1, 2, 3], "note": [NOTE], "openai": [{"role": "tool"}]}
NO_MESSAGE = "not a history: item 1 at line 1, column 2 is not a message: found an object with the keys {}, expected {}"


def wrapped(history: list[Any]) -> list[tuple[Any, int]]:
    """Return wrappers of a history, and how often its return is in each."""
    hits = [{"_id": number, "_score": None, "_source": message} for number, message in enumerate(history)]
    return [
        (history, 1),
        (history[1], 1),
        ({"messages": history}, 1),
        ({"id": 7, **NOTES, "messages": history, "more": NOTES}, 1),
        ({"data": {"notes": NOTES, "history": history}}, 1),
        ({"all_messages": history, "new_messages": history[1:]}, 2),
        ([{"id": 1, "messages": history}, {"id": 2, "messages": history}, {"id": 3, "messages": []}], 2),
        ({"sessions": [{"id": 1, "runs": [{"turns": history}, {"turns": history}]}]}, 2),
        ({"message": history[1]}, 1),
        ({"took": 1, "hits": {"total": {"value": 2}, "hits": hits}}, 1),
        ([[history]], 1),
    ]


@pytest.mark.parametrize("history", [NATIVE, SESSION], ids=["model-messages", "session"])
@pytest.mark.parametrize("number", range(11))
@pytest.mark.parametrize("indent", [None, 1])
def test_a_history_is_found_in_what_it_is_wrapped_in(history: list[Any], number: int, indent: int | None) -> None:
    value, times = wrapped(history)[number]
    data = json.dumps(value, indent=indent).replace('"parts"', '"p\\u0061rts"' if indent else '"parts"').encode()
    found = list(returns(data))
    assert [one.content for one in found] == [[1, 2, 3]] * times
    assert [one.nth for one in found] == [*range(1, times + 1)]
    assert len({one.key.message for one in found}) == times
    assert reduce_json(data, shorter) == splice_all(data, [one.places[0] for one in found])


def splice_all(data: bytes, places: list[Any]) -> bytes:
    for place in reversed(places):
        data = data[: place.start] + b"[1,2]" + data[place.end :]
    return data


JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(["kind", "role", "request", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "role", "parts", "content", "messages", "a"]), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(JSON, st.sampled_from([NATIVE, SESSION]))
def test_what_stands_around_a_history_does_no_harm(value: Any, history: list[Any]) -> None:
    data = json.dumps({"a": value, "messages": history, "b": value}).encode()
    try:
        (found,) = returns(data)
    except HistoryError:
        assert b'"parts"' in json.dumps(value).encode()  # a list in which only some items are messages
    else:
        assert reduce_json(data, shorter) == splice_all(data, [found.places[0]])


@pytest.mark.parametrize("name", ["", "messages", "history", "all_messages", "new_messages", "message_history"])
def test_an_empty_history_is_one(name: str) -> None:
    data = json.dumps({"id": 1, name: []} if name else []).encode()
    assert reduce_json(data, shorter) is data
    assert list(returns(data)) == []


REFUSED = [
    *((text.encode(), "auto", message) for text, message in json.loads((DATA / "refused.json").read_text())),
    (b"[" * 100_000, "auto", "cut off: the text ends at line 1, column 100001, in the middle of a history"),
    (b"\xff\xfe[\x00]\x00", "auto", "not UTF-8 text: byte 0xff at line 1, byte 1"),
    (b'["a",\n"\xed\xa0\x80"]', "auto", "not UTF-8 text: byte 0xed at line 2, byte 2"),
    (b'[{"role":"user","parts":[]}]', "model-messages", NO_MESSAGE.format("role, parts", MODEL)),
    (b'[{"parts":[],"kind":"request"}]', "session", NO_MESSAGE.format("parts, kind", SESSIONS)),
]


@pytest.mark.parametrize(("data", "input_format", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_history_is_refused(data: bytes, input_format: str, message: str) -> None:
    with pytest.raises(HistoryError) as caught:
        reduce_json(data, shorter, input_format)
    assert str(caught.value) == message


def test_an_uncertain_session_history_is_read_if_asked_for() -> None:
    data = json.dumps([{"role": "user", "parts": []}, {"role": "x", "parts": [{**ACTIVITY, "type": "tool_result"}]}])
    (found,) = returns(data.encode(), "session")
    assert reduce_json(data.encode(), shorter, "session") == splice_all(data.encode(), [found.places[0]])
