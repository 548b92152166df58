"""Stored histories: messages are found in every wrapper and spelling, and only contents change."""

from __future__ import annotations

import json
from itertools import compress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.errors import HistoryError
from reducer.histories.stored import Return, events, reduce_json, returns
from reducer.references import Returned
from tests.histories.messages import answer, request, results, shorter
from tests.histories.spelled import histories

DATA = Path(__file__).parent / "data"
ERAS = sorted((DATA / "eras").glob("*.json"))
SAMPLES = [*ERAS, *sorted(DATA.glob("session_*.json"))]
TURN = '{"parts":[{"tool_name":"t","content":[1,2,3],"tool_call_id":"c","part_kind":"tool-return"}],"kind":"request"}'


def history(content: str, more: str = "") -> bytes:
    """Return a history of one tool return, with the JSON of its content, if any, and more fields."""
    content = f'"content":{content},' if content else ""
    fields = f'"tool_name":"t",{content}"tool_call_id":"c"{more},"part_kind":"tool-return"'
    return f'[{{"parts":[{{{fields}}}],"kind":"request"}}]'.encode()


def reference(text: str) -> Any:
    """Return the parsed history with reduced contents: a plain implementation of `reduce_json`."""

    class Repeating(dict[str, Any]):
        """An object with a repeated key."""

    def repeats(value: Any) -> bool:
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return isinstance(value, Repeating) or any(map(repeats, items))

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(pairs) if len(dict(pairs)) == len(pairs) else Repeating(pairs)

    history = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=members)
    for message in history if isinstance(history, list) else [history]:
        for part in message["parts"] if message["kind"] == "request" else []:
            tool, metadata, content = (part.get(name) for name in ("tool_name", "metadata", "content"))
            if (
                part.get("part_kind") == "tool-return"
                and isinstance(tool, str)
                and not tool.startswith("final_result")
                and part.get("outcome") in (None, "success")
                and part.get("tool_kind") is None
                and not (isinstance(metadata, dict) and "pydantic_ai_synthesized_tool_return" in metadata)
                and isinstance(content, (str, list, dict))
                and not repeats(content)
            ):
                part["content"] = shorter(tool, content)
    return history


def reduced_returns(data: bytes) -> list[Return]:
    """Reduce a history, check that nothing but contents changes, and return the returns that change."""
    result = reduce_json(data, shorter)
    assert reduce_json(result, shorter) is result
    before, after = list(returns(data)), list(returns(result))
    assert [one._replace(copies=()) for one in before] == [one._replace(copies=()) for one in after]
    changed = [not one.untouched and shorter(one.tool, one.content) is not one.content for one in before]
    spans = [[one.copies[0][1:] for one in compress(side, changed)] for side in (before, after)]
    assert outside(data, spans[0]) == outside(result, spans[1])
    assert any(changed) or result is data
    return list(compress(before, changed))


def outside(data: bytes, spans: list[tuple[int, int]]) -> list[bytes]:
    """Return the pieces of a history between spans."""
    bounds = [0, *(bound for span in sorted(spans) for bound in span), len(data)]
    return [data[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]


@given(histories())
@example(history('{"a":1,"a":[1,2,3]}').decode())
@example(history('"other"', ',"con\\u0074ent":[1,2,3]').decode())
@example(history("[1,2,3]").decode().replace("[{", '[{"p\\u0061rts":[],', 1))
@example(f'[{{"parts":[],"kind":"response"}},{TURN[:-1]},"kind":"response"}}]')
def test_contents_change_as_in_the_reference_and_nothing_else_does(text: str) -> None:
    changed = reduced_returns(text.encode())
    event("changed" if changed else "unchanged")
    assert json.loads(reduce_json(text.encode(), shorter).decode().removeprefix("\ufeff")) == reference(text)


def test_a_tool_without_a_rule_is_not_reduced() -> None:
    other = TURN.replace('"t"', '"u"')
    expected = TURN.replace("[1,2,3]", "[1,2]")
    result = reduce_json(f"[{TURN},{other},{TURN}]".encode(), shorter, applies=lambda name: name == "t")
    assert result == f"[{expected},{other},{expected}]".encode()


@given(
    histories(),
    st.sampled_from(["NaN", '"\\ud800"', "-Infinity", "1e999", "9" * 5000, "[" * 3000 + "]" * 3000, '"\\u0000é"']),
)
def test_json_that_other_readers_refuse_is_read(text: str, odd: str) -> None:
    messages = text.removeprefix("\ufeff")
    data = f'{{"odd":{odd},"messages":[{{"parts":[],"kind":"x"}}],"log":{messages},"end":{odd}}}'.encode()
    expected = reduce_json(messages.encode(), shorter).decode()
    assert reduce_json(data, shorter).decode() == data.decode().replace(messages, expected)


def copying(kind: Any) -> Any:
    """Return a decoder like that of a release of msgspec that copies values."""
    decode = msgspec.json.Decoder(kind).decode
    return SimpleNamespace(decode=lambda raw: decode(bytes(raw)))


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.stem)
def test_a_release_of_msgspec_that_copies_values_changes_nothing(file: Path) -> None:
    data = file.read_bytes()
    expected = reduce_json(data, shorter), list(returns(data)), events(data)
    assert expected[0] != data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reducer.histories.source._decoder", copying)
        assert (reduce_json(data, shorter), list(returns(data)), events(data)) == expected
        patch.undo()
        patch.setattr("reducer.histories.source._readable", None)  # the installed release does not copy them
        for mark in (b"", b"\xef\xbb\xbf \n"):
            assert reduce_json(mark + data, shorter) == mark + expected[0]


@given(histories(), st.integers(0, 10**6), st.binary(min_size=1, max_size=3))
@example("[]", 0, b"\x00")
@example("[1]", 1, b"\xff")
def test_hostile_bytes_raise_nothing_but_history_errors(text: str, at: int, bytes: bytes) -> None:
    data = text.strip().encode()
    at %= len(data)
    cut_short = data[:at]
    for hostile in (data[:at] + bytes + data[at + 1 :], data[:at] + bytes, bytes, cut_short):
        try:
            result = reduce_json(hostile, shorter)
        except HistoryError as error:
            event("refused")
            message = str(error)
        else:
            message = ""
            assert hostile != cut_short
            assert len(list(returns(result))) == len(list(returns(hostile)))
        assert "\n" not in message


@pytest.mark.parametrize("file", ERAS, ids=lambda file: file.stem)
def test_histories_of_every_version_change_in_their_contents_only(file: Path) -> None:
    data = file.read_bytes()
    changed = reduced_returns(data)
    assert len(changed) >= 12
    assert reduce_json(data, lambda tool, content: content) is data
    kept = {"nothing", "flaky"} | ({"day"} if b"content_file_digests" in data else set())
    assert not kept & {one.tool for one in changed}


@pytest.mark.parametrize("file", [*SAMPLES, DATA / "mid_2025.json"], ids=lambda file: file.stem)
def test_events_contain_every_return_at_its_place(file: Path) -> None:
    stored = {found.key: Returned(found.content, found.call_id) for found in returns(file.read_bytes())}
    happened = events(file.read_bytes())
    assert {place.key: place.event for place in happened if isinstance(place.event, Returned)} == stored
    assert stored


def test_a_return_is_named_by_its_call_and_place() -> None:
    found = list(returns((DATA / "mid_2025.json").read_bytes()))
    assert [(one.tool, one.call_id, one.nth, one.key, one.untouched) for one in found] == [
        ("deep_research", "tool_0_deep_research", 1, (4, 0, 0), "")
    ]
    assert found[0].content[2] == "A third one."
    turns = returns(f"[{TURN},{TURN},{TURN}]".encode())
    assert [(one.nth, one.key.message) for one in turns] == [(1, 0), (2, 1), (3, 2)]


def test_the_last_duplicate_key_wins_as_in_pydantic_ai() -> None:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    data = history("[1,2,3]", ',"content":[4,5,6],"timestamp":"2026-01-01T00:00:00Z"')
    ((part,),) = (message.parts for message in ModelMessagesTypeAdapter.validate_json(data))
    assert [one.content for one in returns(data)] == [part.content] == [[4, 5, 6]]
    assert reduce_json(data, shorter) == data.replace(b"[4,5,6]", b"[4,5]")


def test_real_histories(data: Path) -> None:
    count = changed = 0
    for file in sorted((data / "histories").glob("*/*.json")):
        content = file.read_bytes()
        assert json.loads(reduce_json(content, shorter)) == reference(content.decode())
        changed += len(reduced_returns(content))
        count += sum(1 for _ in returns(content))
    assert count > 1000
    assert changed > 800


NEVER = [
    ("[1,2,3]", ',"outcome":"retried"', "its outcome is retried"),
    ("[1,2,3]", ',"outcome":"failed"', "its outcome is failed"),
    ("[1,2,3]", ',"tool_kind":"tool-search"', "its tool kind is tool-search"),
    ("[1,2,3]", ',"metadata":{"pydantic_ai_synthesized_tool_return":true}',
     "PydanticAI wrote it for a call without an answer"),
    ("[1,2,3]", ',"tool_name":"final_result"', "it answers an output tool"),
    ("[1,2,3]", ',"tool_name":"recall_tool_return"', "it answers the recall tool"),
    ("[1,2,3]", ',"tool_name":null', "it has no tool name"),
    ("", "", "its content is not a text, list or object"),
    ("null", "", "its content is not a text, list or object"),
    ("123456789", "", "its content is not a text, list or object"),
    ('{"a":[1,2,3],"a":1}', "", "it contains an object with a duplicate key"),
    ('[{"id":1},{"b":[1,2,3],"c":{"c":1,"\\u0063":1}}]', "", "it contains an object with a duplicate key"),
    (f"[1,2,3,{'9' * 5000}]", "", "it contains a number with too many digits"),
    ('"bm8gdGV4dA=="', ',"content_file_digests":[]', "its content is bytes, a date or similar, stored as a text"),
    ("[" * 257 + "]" * 257, "", "it is nested too deeply to be read"),
    ("[" * 100_000 + "]" * 100_000, "", "it is nested too deeply to be read"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "more", "why"), NEVER, ids=range(len(NEVER)))
def test_reasons_why_rules_never_apply(content: str, more: str, why: str) -> None:
    data = history(content, more)
    assert [one.untouched for one in returns(data)] == [why]
    assert reduce_json(data, shorter) is data


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"[{'9' * 300},2,3]", f"[{'9' * 300},2]"),
        ("[NaN,-Infinity,3]", "[NaN,-Infinity]"),
        ("[1e-7,1E22,3]", "[1e-7,1e+22]"),
        ('["\\ud800x","\\u00e9",3]', '["\\ud800x","é"]'),
        ('"\\ud83d\\ude00 and more"', '"😀 and"'),
        ('"\\ud83d and more"', '"\\ud83d and"'),
        ("[1e400,2,3]", "[1e400,2,3]"),
        ('[ 1 , { "b" : 2 , "a" : 1.0 } , 3 ]', '[1,{"b":2,"a":1.0}]'),
    ],
)
def test_how_contents_are_written(content: str, expected: str) -> None:
    def two(tool: str, content: Any) -> Any:
        return content[:5] if isinstance(content, str) else content[:2]

    assert reduce_json(history(content), two) == history(expected)


MODEL = "a list of messages, each an object with `kind` and `parts`"
SESSIONS = "a session history, a list of objects with `role` and `parts` that contain activities"
NATIVE = [request(), request(answer("c", content=[1, 2, 3]))]
ACTIVITY = results("c", [1, 2, 3])
SESSION = [{"role": "user", "text_content": "hi"}, {"role": "assistant", "parts": [ACTIVITY]}]
NOTE = {"content": [1, 2, 3], "part_kind": "tool-return"}
NOTES = {"content": [1, 2, 3], "note": [NOTE], "openai": [{"role": "tool"}]}
NO_MESSAGE = "not a history: item 1 at line 1, column 2 is not a message: found an object with the keys {}, expected {}"


def wrapped(history: list[Any]) -> list[tuple[Any, int]]:
    """Return wrappers of a history, each with the number of returns in it."""
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
def test_a_history_is_found_in_every_wrapper(history: list[Any], number: int, indent: int | None) -> None:
    value, times = wrapped(history)[number]
    data = json.dumps(value, indent=indent).replace('"parts"', '"p\\u0061rts"' if indent else '"parts"').encode()
    found = list(returns(data))
    assert [one.content for one in found] == [[1, 2, 3]] * times
    assert [one.nth for one in found] == [*range(1, times + 1)]
    assert len({one.key.message for one in found}) == times
    assert reduce_json(data, shorter) == splice_all(data, [one.copies[0] for one in found])


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
def test_values_around_a_history_are_ignored(value: Any, history: list[Any]) -> None:
    data = json.dumps({"a": value, "messages": history, "b": value}).encode()
    try:
        (found,) = returns(data)
    except HistoryError:
        assert b'"parts"' in json.dumps(value).encode()  # a list in which only some items are messages
    else:
        assert reduce_json(data, shorter) == splice_all(data, [found.copies[0]])


@pytest.mark.parametrize("name", ["", "messages", "history", "all_messages", "new_messages", "message_history"])
def test_an_empty_history_is_accepted(name: str) -> None:
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
def test_other_data_is_refused(data: bytes, input_format: str, message: str) -> None:
    with pytest.raises(HistoryError) as caught:
        reduce_json(data, shorter, input_format)
    assert str(caught.value) == message


def test_an_ambiguous_session_history_needs_its_format() -> None:
    data = json.dumps([{"role": "user", "parts": []}, {"role": "x", "parts": [{**ACTIVITY, "type": "tool_result"}]}])
    (found,) = returns(data.encode(), "session")
    assert reduce_json(data.encode(), shorter, "session") == splice_all(data.encode(), [found.copies[0]])
