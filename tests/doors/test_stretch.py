"""Histories that are read many messages at once give what reading them one by one gives, whatever the text and wherever it is cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.errors import HistoryError
from reducer.stored import messages, returns, seams, session, stretch
from reducer.stored.raw import Found, Raw
from reducer.stored.reader import read
from reducer.stored.stretch import Stretch
from tests.doors.spelled import Pairs, histories, parts, spellings
from tests.doors.test_stored_session import sessions

MARK = "-8000000000000000001"
RETURN = f'{{"tool_name":"t","content":[1,2],"part_kind":"tool-return"}},{{"tool_name":"u","x":1,"content":{MARK},"part_kind":"tool-return"}}'
MANY = f'{{"name":"t","content":{"1" * 60},"x":1}}'
KEYS = ["content", "parts", "part_kind", "kind", "tool_name"]


@st.composite
def usual(draw: st.DrawFn) -> str:
    """Write a history as PydanticAI does, but for a twist at most: a key twice or written with escapes, a number that looks like a mark."""
    write = draw(spellings())
    found = []
    for _ in range(draw(st.integers(1, 5))):
        held: list[Any] = draw(st.lists(parts(), max_size=3))
        fields = [("parts", held), ("timestamp", "2026-01-01T00:00:04Z"), ("kind", draw(st.sampled_from(["request", "request", "response"])))]
        if draw(st.integers(0, 9)) == 0:
            fields.insert(draw(st.integers(0, 3)), ("parts", draw(st.lists(parts(), max_size=2))))
        found.append(Pairs(fields))
    text = str(write(found))
    twist = draw(st.sampled_from(["", "", "", "escaped", "mark", "surrogate", "cut"]))
    if twist == "escaped":
        key = draw(st.sampled_from(KEYS))
        at = draw(st.integers(0, len(key) - 1))
        text = text.replace(f'"{key}"', f'"{key[:at]}\\u00{ord(key[at]):02x}{key[at + 1 :]}"', draw(st.integers(1, 3)))
    elif twist == "mark":
        text = text.replace("null", MARK, draw(st.integers(1, 3)))
    elif twist == "surrogate":
        text = text.replace("short", "\\ud800")
    elif twist == "cut":
        at = draw(st.integers(1, len(text) - 1))
        text = text[:at] + draw(st.sampled_from(["", "}", "]", ",", '"', "x", "\\"])) + text[at + 1 :]
    before, behind = draw(
        st.sampled_from([("", ""), ("", ""), ("\ufeff ", "\n"), ('{"id":7,"messages":', "}"), ('{"messages":', ',"tags":["é"]}'), ("", " 1")])
    )
    return before + text + behind


def said(data: bytes) -> Any:
    """Give all that is said of the tool returns of a history, places in bytes; or why it is refused."""

    def plain(raw: Raw, found: Found) -> Any:
        index, part, fields, content, start, end, flaw, copies = raw.sure(found)
        named = [fields.get(key) for key in ("tool_name", "tool_call_id", "timestamp", "outcome", "tool_kind")]
        places = [(content, start, end), *((value, begin, behind) for begin, behind, value, _ in copies)]
        spans = [(repr(value), type(value), len(raw.piece(0, begin)), raw.piece(begin, behind)) for value, begin, behind in places]
        return index, part, repr(named), flaw, spans

    raw = Raw(data)
    try:
        return [plain(raw, found) for found in read(raw)]
    except HistoryError as error:
        return str(error)


def same(text: str, size: int) -> bool:
    """Check that a history is read at once as it is one by one; tells whether any of it was read at once."""
    data = text.encode("utf-8", "surrogatepass")
    quick = []

    def counted(*given: Any, **more: Any) -> Stretch | None:
        quick.append(stretch.stretch(*given, **more))
        return quick[-1]

    with pytest.MonkeyPatch.context() as patch:
        for module in (messages, session):
            patch.setattr(module, "stretch", lambda *given, **more: None)
        expected = said(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stretch, "SIZE", size)
        patch.setattr(stretch, "_MUCH", size)
        patch.setattr(messages, "SIZE", size)
        for module in (seams, stretch):
            patch.setattr(module, "LONG", 0)
        patch.setattr(seams, "_SHORT", size)
        for module in (messages, session):
            patch.setattr(module, "stretch", counted)
        assert said(data) == expected
    return any(read is not None for read in quick)


@pytest.mark.parametrize("size", [1 << 20, 1])
@given(text=st.one_of(usual(), histories()))
@example(text=f'[{{"parts":[{RETURN}],"kind":"request"}}]')
@example(text=f'[{{"parts":[{{"tool_name":"t","content":"a","content":{MARK},"part_kind":"tool-return"}}],"kind":"request"}}]')
@example(text=f'[{{"parts":[],"p\\u0061rts":[{RETURN}],"kind":"request"}}]')
@example(text=f'[{{"p\\u0061rts":[],"parts":[{RETURN}],"kind":"request"}}]')
@example(text=f'[{{"parts":[{RETURN}],"parts":[],"kind":"request"}},{{"parts":[],"kind":"request"}}]')
@example(text='[{"parts":[{"content":1,"tool_name":"t","c\\u006fntent":[1,2],"part_kind":"tool-return"}],"kind":"request"}]')
@example(text='[{"parts":[{"tool_name":"é","content":["é","\\u00e9"],"part_kind":"tool-return"}],"kind":"request"}]')
@example(text='[{"parts":[{"tool_name":"t","content":{"é":1,"\\u00e9":2},"part_kind":"tool-return"}],"kind":"request"}]')
@example(text='[{"parts":[{"tool_name":"t","content":{"Ã©":1,"é":2},"part_kind":"tool-return"}],"kind":"request"}]')
@example(text='[{"parts":[{"tool_name":"t","content":"\\u00e9\\ud800é","part_kind":"tool-return"}],"kind":"request"}]')
@example(text='[{"parts":{},"kind":"request"}]')
@example(text='[{"arts":[{"part_kind":"tool-return"}],"parts":[],"kind":"request"},{"parts":[],"kind":"request"}]')
@example(text='[{"parts":[1,[],{"part_kind":"tool-return"}],"kind":"request"},{"parts":[{"part_kind":[]}],"kind":"request"}]')
@example(text='{"messages":[{"parts":[{"tool_name":"t","content":"é é","part_kind":"tool-return"}],"kind":"request"}],"tags":["é"]}')
@example(text='{"a":[{"parts":[],"kind":"request"}],"b":[{"parts":[{"tool_name":"t","content":"é","part_kind":"tool-return"}],"kind":"request"}]}')
def test_messages_read_at_once_are_read_as_one_by_one(size: int, text: str) -> None:
    event(f"read at once: {same(text, size)}")
    same(f'{{"id":"é","messages":{text},"n":1}}', size)


@pytest.mark.parametrize("size", [1 << 20, 1])
@given(text=sessions())
@example(text='[{"role":"assistant","parts":[{"type":"tool_result","results":[{"name":"t","content":"a","content":"b"}]}]}]')
@example(text='[{"role":"a","parts":[],"parts":[{"type":"tool_result","results":[{"name":"t","content":"a"}]}],"text_content":1}]')
@example(text='[{"role":"a","parts":[{"type":"tool_result","results":[],"results":[{"name":"t","content":"a"}]}],"text_content":1}]')
@example(text='[{"role":"a","parts":[{"type":"tool_result","results":[{"name":"t","content":"a"}],"results":[]}],"text_content":1}]')
@example(text=f'[{{"role":"a","parts":[{{"type":"tool_result","results":[{{"name":"t","content":"a","content":{MARK}}}]}}],"text_content":1}}]')
@example(text='[{"role":"a","parts":[{"type":"tool_result","technical_details":{"raw_result":1,"raw_result":[2]}}],"text_content":1}]')
@example(text='[{"role":"a","parts":[{"type":"tool_result","technical_details":{"raw\\u005fresult":1,"raw_result":[2]}}],"text_content":1}]')
@example(text='[{"role":"a","parts":[{"type":["tool_result"]},{"type":"tool_result","results":{"content":"é","name":"t"}}],"text_content":1}]')
@example(text=f'[{{"role":"a","text_content":1,"parts":[{{"type":"tool_result","results":[{MANY},{MANY.replace("11,", "112,")}]}}]}}]')
@example(text='[{"role":"a","parts":[]},{"role":"a","parts":[{"type":"tool_result","results":[{"name":"t","content":"a"}]}]}]')
@example(text='[{"role":"a","parts":[{"type":"tool_result","results":[{"name":"t","content":"a"}]}],"text_content":1},{"role":1}]')
def test_a_session_history_read_at_once_is_read_as_one_by_one(size: int, text: str) -> None:
    event(f"read at once: {same(text, size)}")
    same(f'{{"id":"é","messages":{text},"n":1}}', size)


def test_real_histories_are_read_at_once(data: Path) -> None:
    for file in sorted((data / "histories").glob("*/*.json"))[::7]:
        text = file.read_text()
        for history in (text, json.dumps(json.loads(text), indent=1, sort_keys=True)):
            assert same(history, 1 << 13)


def test_places_are_characters_of_the_text() -> None:
    told = ",".join(f'{{"tool_name":"é","content":{content},"part_kind":"tool-return"}}' for content in ('"日本"', '["é"]'))
    text = f'[{{"parts":[{told}],"kind":"request"}}]'
    assert [text[found.start : found.end] for found in returns(text.encode())] == ['"日本"', '["é"]']


def tries(text: str, size: int) -> list[bool]:
    """Tell of each try to read messages at once whether something was read."""
    told: list[bool] = []

    def counted(*given: Any, **more: Any) -> Stretch | None:
        read = stretch.stretch(*given, **more)
        told.append(read is not None)
        return read

    with pytest.MonkeyPatch.context() as patch:
        for module in (messages, session):
            patch.setattr(module, "stretch", counted)
        for module in (messages, stretch):
            patch.setattr(module, "SIZE", size)
        list(returns(text.encode()))
    return told


def test_what_failed_once_is_not_tried_first_again() -> None:
    ordinary = [{"content": "\ud800", "part_kind": "user-prompt"}, {"tool_name": "t", "content": "a", "tool_call_id": "c", "part_kind": "tool-return"}]
    result = {"name": "t", "content": {"a": [1, 2, 3]}, "is_error": False, "call_id": "c"}
    found = {"role": "assistant", "parts": [{"type": "tool_result", "results": [result]}], "text_content": "x"}
    for message, failing in (({"parts": ordinary, "kind": "request"}, 1), (found, 0)):
        for sort in (False, True):
            text = json.dumps([message] * 100, sort_keys=sort)
            assert same(text, 1000)
            told = tries(text, 1000)
            assert told.count(False) == failing
            assert 100 * len(json.dumps(message)) // 1000 / 2 < len(told) < 30
            assert len(list(returns(text.encode()))) == 100


def test_what_cannot_be_read_at_once_is_tried_seldom() -> None:
    call = {"parts": [{"tool_name": "t", "args": "\ud800", "tool_call_id": "c", "part_kind": "tool-call"}], "kind": "response"}
    told = {"parts": [{"tool_name": "t", "content": "a", "tool_call_id": "c", "part_kind": "tool-return"}], "kind": "request"}
    text = json.dumps([call, told] * 200)
    assert len(text) > 200 * 200
    assert 8 < len(tries(text, 200)) < 60
    assert not any(tries(text, 200))
    text = json.dumps([call, *[told] * 200])
    assert tries(text, 200).count(True) > 50
