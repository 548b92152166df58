"""Stored histories: messages are found in every wrapper and spelling, and only contents change, in all copies alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.errors import HistoryError
from reducer.histories.stored import Return, events, reduce_json, returns
from reducer.references import Prompt, Response, Returned, references
from tests.helpers import table
from tests.histories.generated import histories
from tests.histories.messages import answer, outside, reduced_returns, request, requests, results, shorter

DATA = Path(__file__).parent / "data"
ERAS = sorted((DATA / "eras").glob("*.json"))
CASES = table(__file__, "sessions.yaml")
SAMPLES = [*ERAS, *sorted(DATA.glob("session_*.json"))]
TURN = '{"parts":[{"tool_name":"t","content":[1,2,3],"tool_call_id":"c","part_kind":"tool-return"}],"kind":"request"}'


def history(content: str, more: str = "") -> bytes:
    """Return a history of one tool return, with the JSON of its content, if any, and more fields."""
    content = f'"content":{content},' if content else ""
    fields = f'"tool_name":"t",{content}"tool_call_id":"c"{more},"part_kind":"tool-return"'
    return f'[{{"parts":[{{{fields}}}],"kind":"request"}}]'.encode()


@given(histories())
def test_contents_change_and_nothing_else_does(history: tuple[bytes, bytes]) -> None:
    before, after = history
    event("changed" if after != before else "unchanged")
    assert reduce_json(before, shorter) == after
    assert reduce_json(after, shorter) is after
    assert after != before or reduce_json(before, shorter) is before


def test_a_tool_without_a_rule_is_not_reduced() -> None:
    other = TURN.replace('"t"', '"u"')
    expected = TURN.replace("[1,2,3]", "[1,2]")
    result = reduce_json(f"[{TURN},{other},{TURN}]".encode(), shorter, applies=lambda name: name == "t")
    assert result == f"[{expected},{other},{expected}]".encode()


ODD = ["NaN", '"\\ud800"', "-Infinity", "1e999", "9" * 5000, "[" * 3000 + "]" * 3000, '"\\u0000é"', "-1E+999"]
ODD += ["1.5e-999", f"-{'7' * 300}.5", f"-9{'0' * 400}e-5000", '["1e999 NaN [{\\"\\ud83d\\ude00\\ud83d", -1e999]']


@given(histories(), st.sampled_from(ODD))
def test_json_that_other_readers_refuse_is_read(history: tuple[bytes, bytes], odd: str) -> None:
    before, after = (
        f'{{"odd":{odd},"messages":[{{"parts":[],"kind":"x"}}],"log":{text},"end":{odd}}}'.encode()
        for text in (data.decode().removeprefix("\ufeff").replace("{", f'{{"odd":{odd},', 1) for data in history)
    )
    assert reduce_json(before, shorter) == after


@given(histories(), st.integers(0, 10**6), st.binary(min_size=1, max_size=3))
@example((b"[]", b""), 0, b"\x00")
@example((b"[1]", b""), 1, b"\xff")
def test_hostile_bytes_raise_nothing_but_history_errors(history: tuple[bytes, bytes], at: int, planted: bytes) -> None:
    data = history[0].strip()
    at %= len(data)
    cut_short = data[:at]
    for hostile in (data[:at] + planted + data[at + 1 :], data[:at] + planted, planted, cut_short):
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
    # msgspec refuses a byte order mark and NaN.
    assert events(b'\xef\xbb\xbf {"odd":NaN,"messages":' + file.read_bytes() + b"}") == happened
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
        changed += len(reduced_returns(content))
        count += sum(1 for _ in returns(content))
    assert count > 1000
    assert changed > 800


@pytest.mark.parametrize(
    "case",
    [
        *table(__file__, "untouched.yaml"),
        {"content": f"[1,2,3,{'9' * 5000}]", "fields": "", "why": "it contains a number with too many digits"},
        {"content": "[" * 257 + "]" * 257, "fields": "", "why": "it is nested too deeply to be read"},
        {"content": "[" * 100_000 + "]" * 100_000, "fields": "", "why": "it is nested too deeply to be read"},
    ],
)
def test_reasons_why_rules_never_apply(case: dict[str, str]) -> None:
    data = history(case["content"], case["fields"])
    assert [one.untouched for one in returns(data)] == [case["why"]]
    assert reduce_json(data, shorter) is data
    other = f",{TURN}]".encode()
    assert reduce_json(data[:-1] + other, shorter) == data[:-1] + other.replace(b"[1,2,3]", b"[1,2]")


LONG_NUMBER = {"content": f"[{'9' * 300},2,3]", "written": f"[{'9' * 300},2]"}


@pytest.mark.parametrize("case", [*table(__file__, "written.yaml"), LONG_NUMBER])
def test_how_contents_are_written(case: dict[str, str]) -> None:
    def two(tool: str, content: Any) -> Any:
        return content[:5] if isinstance(content, str) else content[:2]

    assert reduce_json(history(case["content"]), two) == history(case["written"])


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
    assert reduce_json(data, shorter) == spliced(data, found)


def spliced(data: bytes, found: list[Return]) -> bytes:
    return b"[1,2]".join(outside(data, [one.copies[0][1:3] for one in found]))


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
        assert reduce_json(data, shorter) == spliced(data, [found])


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
    assert reduce_json(data.encode(), shorter, "session") == spliced(data.encode(), [found])


# --- session histories


@pytest.mark.parametrize("name", CASES["returns"])
def test_each_return_is_yielded_once(name: str) -> None:
    found = returns((DATA / f"{name}.json").read_bytes())
    rows = [[one.tool, one.call_id, one.nth, *one.key[:2], len(one.copies), one.untouched] for one in found]
    assert rows == CASES["returns"][name]


def with_results(results: Any, details: Any = None, older: Any = None) -> bytes:
    """Write a session history with one activity, and an older list of activities."""
    part = {"type": "activity", "activity_type": "tool_result", "results": results, "technical_details": details}
    return json.dumps([{"role": "x", "parts": [part], "activity_parts": older}]).encode()


def copies(data: bytes) -> list[list[Any]]:
    """Return the tool of each return with the contents of all copies."""
    return [[found.tool, [copy.content for copy in found.copies]] for found in returns(data)]


def test_a_copy_without_an_id_belongs_to_the_same_return() -> None:
    with_id, without = ({"name": "t", "content": "a long text", **more} for more in ({"call_id": "c"}, {}))
    for first, second in ((with_id, without), (without, with_id), (without, without)):
        data = with_results([first] * 2, older=[{"type": "tool_call", "results": [second] * 2}])
        assert copies(data) == [["t", ["a long text"] * 2]] * 2


@pytest.mark.parametrize(("results", "details", "expected"), CASES["copies"])
def test_technical_details_pair_by_position_then_by_name(results: str, details: str, expected: Any) -> None:
    raw = [{"function_name": name, "raw_result": f"{name}{number}"} for number, name in enumerate(details)]
    texts = [{"name": name, "content": f"text {name}", "call_id": name} for name in results]
    assert copies(with_results(texts, raw)) == expected


def test_many_details_of_another_tool_belong_to_no_result() -> None:
    """It would take minutes to compare every result with every detail."""
    details = [{"function_name": "other", "raw_result": "text"}] * 20_000
    assert len(copies(with_results([{"name": "t", "content": "text"}] * 20_000, details))) == 40_000


@pytest.mark.parametrize("results", CASES["stay"])
def test_results_without_reducible_content_stay(results: Any) -> None:
    data = with_results(results, details=7, older="none")
    assert reduce_json(data, shorter) is data


USER = {"role": "user", "text_content": "Who is it?", "parts": [], "activity_parts": []}
FIRST, LAST = {"type": "text_output", "text": "Let me look."}, {"type": "text_output", "text": "It is host-7."}
THOUGHT = {"type": "activity", "activity_type": "thought", "content": "host-7 it is"}
ANSWER = {"role": "assistant", "text_content": None, "response_text_main": "It is host-7."}


def happened_in(messages: list[dict[str, Any]]) -> list[Any]:
    return [place.event for place in events(json.dumps(messages).encode())]


def test_a_session_history_has_prompts_responses_and_returns_in_order() -> None:
    parts = [FIRST, requests("c1"), results("c1", "host-7"), THOUGHT, LAST]
    happened = happened_in([USER, {**ANSWER, "parts": parts}])
    assert [type(event) for event in happened] == [Prompt, Response, Returned, Response]
    assert [(call.tool, call.arguments, call.id) for call in happened[1].calls] == [("t", {}, "c1")]
    assert [(ref.value, ref.novel) for ref in references(happened)] == [("host-7", True)]


@pytest.mark.parametrize(("part", "is_used"), CASES["shown"])
def test_what_an_answer_shows_counts_as_later_use(part: dict[str, Any], is_used: bool) -> None:
    answer = {**ANSWER, "response_text_main": "This is all.", "parts": [requests("c1"), results("c1", "host-7"), part]}
    found = references(happened_in([USER, answer]))
    assert [one.value for one in found] == ["host-7"] * is_used


def test_the_main_text_counts_next_to_parts() -> None:
    answer = {**ANSWER, "parts": [requests("c1"), results("c1", "host-7"), FIRST]}
    happened = happened_in([USER, answer])
    assert happened[-1] == Response((FIRST["text"], "It is host-7."))
    assert [one.value for one in references(happened)] == ["host-7"]


def test_the_older_list_is_read_if_the_newer_one_has_no_results() -> None:
    older = [{**part, "type": part["activity_type"]} for part in (requests("c1"), results("c1", "host-7"))]
    happened = happened_in([USER, {**ANSWER, "parts": [FIRST], "activity_parts": older}])
    assert list(map(type, happened)) == [Prompt, Response, Returned, Response]
