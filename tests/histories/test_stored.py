"""Stored histories: only contents change, whatever a history is written like."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.errors import HistoryError
from reducer.histories.stored import events, reduce_json, returns
from reducer.references import Returned
from tests.histories.fakes import shorter
from tests.histories.spelled import histories, history, reference

DATA = Path(__file__).parent / "data"
ERAS = sorted((DATA / "eras").glob("*.json"))
SAMPLES = [*ERAS, *sorted(DATA.glob("session_*.json"))]
TURN = '{"parts":[{"tool_name":"t","content":[1,2,3],"tool_call_id":"c","part_kind":"tool-return"}],"kind":"request"}'


def outside(data: bytes, spans: list[tuple[int, int]]) -> list[bytes]:
    """Return the pieces of a history between spans."""
    bounds = [0, *(bound for span in sorted(spans) for bound in span), len(data)]
    return [data[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]


@given(histories())
@example(history('{"a":1,"a":[1,2,3]}').decode())
@example(history('"other"', ',"con\\u0074ent":[1,2,3]').decode())
@example(history("[1,2,3]").decode().replace("[{", '[{"p\\u0061rts":[],', 1))
@example(f'[{{"parts":[],"kind":"response"}},{TURN[:-1]},"kind":"response"}}]')
def test_the_contents_that_the_plain_way_changes_change_and_nothing_else(text: str) -> None:
    data = text.encode()
    expected, changes = reference(text, shorter)
    result = reduce_json(data, shorter)
    event("changed" if changes else "unchanged")
    assert json.loads(result.decode().removeprefix("\ufeff")) == expected
    assert changes or result is data
    assert reduce_json(result, shorter) is result
    spans: list[tuple[int, int]] = []
    after: list[tuple[int, int]] = []
    for old, new in zip(returns(data), returns(result), strict=True):
        assert old._replace(places=()) == new._replace(places=())
        if not old.untouched and shorter(old.tool, old.content) is not old.content:
            spans.append(old.places[0][1:])
            after.append(new.places[0][1:])
    assert outside(data, spans) == outside(result, after)


def test_a_tool_to_which_nothing_applies_is_not_reduced() -> None:
    other = TURN.replace('"t"', '"u"')
    expected = TURN.replace("[1,2,3]", "[1,2]")
    result = reduce_json(f"[{TURN},{other},{TURN}]".encode(), shorter, applies=lambda name: name == "t")
    assert result == f"[{expected},{other},{expected}]".encode()


@given(
    histories(),
    st.sampled_from(["NaN", '"\\ud800"', "-Infinity", "1e999", "9" * 5000, "[" * 3000 + "]" * 3000, '"\\u0000é"']),
)
def test_what_other_json_readers_refuse_does_no_harm(text: str, odd: str) -> None:
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
        patch.setattr("reducer.histories.source.readable", None)  # the installed release does not copy them
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
    changed = [one for one in returns(data) if not one.untouched and shorter(one.tool, one.content) is not one.content]
    assert len(changed) >= 12
    result = reduce_json(data, shorter)
    after = {one.key: one.places[0][1:] for one in returns(result)}
    spans = [one.places[0][1:] for one in changed]
    assert outside(data, spans) == outside(result, [after[one.key] for one in changed])
    assert reduce_json(result, shorter) is result
    assert reduce_json(data, lambda tool, content: content) is data
    kept = {"nothing", "flaky"} | ({"day"} if b"content_file_digests" in data else set())
    assert not kept & {one.tool for one in changed}


@pytest.mark.parametrize("file", [*SAMPLES, DATA / "mid_2025.json"], ids=lambda file: file.stem)
def test_events_have_the_returns_where_they_are_reduced(file: Path) -> None:
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


def test_of_repeated_keys_the_last_counts_as_for_pydantic_ai() -> None:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    data = history("[1,2,3]", ',"content":[4,5,6],"timestamp":"2026-01-01T00:00:00Z"')
    ((part,),) = (message.parts for message in ModelMessagesTypeAdapter.validate_json(data))
    assert [one.content for one in returns(data)] == [part.content] == [[4, 5, 6]]
    assert reduce_json(data, shorter) == data.replace(b"[4,5,6]", b"[4,5]")


def test_real_histories(data: Path) -> None:
    count = changed = 0
    for file in sorted((data / "histories").glob("*/*.json")):
        content = file.read_bytes()
        expected, changes = reference(content.decode(), shorter)
        result = reduce_json(content, shorter)
        assert json.loads(result) == expected
        assert reduce_json(result, shorter) is result
        count += sum(1 for _ in returns(content))
        changed += changes
    assert count > 1000
    assert changed > 800


NEVER = [
    ("[1,2,3]", ',"outcome":"retried"', "its outcome is retried"),
    ("[1,2,3]", ',"outcome":"failed"', "its outcome is failed"),
    ("[1,2,3]", ',"tool_kind":"tool-search"', "its tool kind is tool-search"),
    ("[1,2,3]", ',"metadata":{"pydantic_ai_synthesized_tool_return":true}',
     "PydanticAI wrote it for a call without an answer"),
    ("[1,2,3]", ',"tool_name":"final_result"', "it answers an output tool"),
    ("[1,2,3]", ',"tool_name":"recall_tool_return"', "it is what the model asked to see again"),
    ("[1,2,3]", ',"tool_name":null', "it names no tool"),
    ("", "", "its content is no text, list or object"),
    ("null", "", "its content is no text, list or object"),
    ("123456789", "", "its content is no text, list or object"),
    ('{"a":[1,2,3],"a":1}', "", "an object in it has the same key twice"),
    ('[{"id":1},{"b":[1,2,3],"c":{"c":1,"\\u0063":1}}]', "", "an object in it has the same key twice"),
    (f"[1,2,3,{'9' * 5000}]", "", "a number in it has more digits than can be read"),
    ('"bm8gdGV4dA=="', ',"content_file_digests":[]', "its content is bytes, a date or the like, stored as a text"),
    ("[" * 257 + "]" * 257, "", "it is nested too deep to be read"),
    ("[" * 100_000 + "]" * 100_000, "", "it is nested too deep to be read"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "more", "why"), NEVER, ids=range(len(NEVER)))
def test_what_is_never_touched(content: str, more: str, why: str) -> None:
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
