"""Where values end is guessed, and keys that stand twice are found by counting: what is read so is what reading with care gives."""

from __future__ import annotations

import json

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.stored import messages, reduce_json, seams, session, stretch
from reducer.stored.outline import TWICE, UNSURE, kept
from reducer.stored.seams import Seams, repeated
from reducer.stored.text import JsonText
from tests.doors.fakes import shorter
from tests.doors.spelled import LEAVES, Pairs, objects, spellings
from tests.doors.test_stretch import same

NAMES = st.sampled_from(["a", "b", "a:", ":", "status", "content", 'q"', "é", "\ud83d"])
VALUES = st.recursive(
    st.one_of(LEAVES, st.sampled_from([":", 'a": ', "\ud800", "x" * 30, "日本語"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), objects(inner, NAMES)),
    max_leaves=10,
)
BEHIND = ['"status": "success"', '"is_error": false, "x": ":"', '"x": 1']


def escaped(text: str) -> str:
    """Write lone surrogates with escapes: UTF-8 has none."""
    return text.replace("\ud83d", "\\ud83d").replace("\ud800", "\\ud800")


def told(pairs: list[tuple[str, str]]) -> tuple[str, list[int]]:
    """Write values under one key, each with what stands behind it; where each starts."""
    text, starts = "", []
    for value, behind in pairs:
        text += '{"content": '
        starts.append(len(text))
        text += f"{value}, {behind}}}, "
    return text, starts


@st.composite
def rows(draw: st.DrawFn) -> tuple[str, list[int]]:
    write = draw(spellings())
    pairs = []
    for _ in range(draw(st.integers(1, 8))):
        value = escaped(str(write(draw(VALUES))))
        if draw(st.integers(0, 5)) == 0:
            value = value.replace('"a"', '"\\u0061"').replace('"a:"', '"a\\u003a"')
        pairs.append((value, draw(st.sampled_from(BEHIND + BEHIND[:1] * 6))))
    return told(pairs)


@pytest.mark.parametrize("short", [0, 1 << 20])
@given(written=rows())
@example(written=told([('{"a": 1, "status": 2}', '"status": 1'), ('[{"a": {"b": 2}, "status": 2}]', '"status": 1')]))
@example(written=told([('{"a": 1}', '"status": 1'), ('{"a": {"b": 2}, "status": 2}', '"status": 1')]))
@example(written=told([('"a"', '"status": 1'), ('"b\\", \\"status\\": \\""', '"status": 1')]))
@example(written=told([('{"a": 1}', '"status": 1'), ('{"a": 1, "a": 2}', '"status": 1'), ('{"a": 1}', '"status": 1')]))
def test_a_value_whose_end_was_guessed_is_that_value(short: int, written: tuple[str, list[int]]) -> None:
    text, starts = written
    data = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seams, "LONG", 0)
        patch.setattr(seams, "_SHORT", short)
        for source, encoded, bytewise in ((data.decode("latin-1"), data, not text.isascii()), (text, data if text.isascii() else None, False)):
            known = Seams(source, encoded, bytewise)
            spelled = starts if source is text else [len(text[:start].encode()) for start in starts]
            for start, begin in zip(starts, spelled, strict=True):
                value, end, flaw = kept(JsonText(text), start)
                piece = text[start:end].encode()
                behind = begin + (end - start if source is text else len(piece))
                read = known.read('"content"', begin)
                event(f"guessed: {read is not None}")
                if read is None:
                    known.learn('"content"', begin, behind)
                else:
                    assert read[:2] == (begin, behind)
                    assert repr(read[2]) == repr(value)
                    assert (repeated(piece, value) if read[3] is UNSURE else read[3]) == flaw


@given(st.builds(lambda value, write, times: escaped(str(write(value))).replace('"a"', '"\\u0061"', times), VALUES, spellings(), st.integers(0, 3)))
@example('{"a":1,"a":":"}')
@example('{"a\\u003a":1,"b":2,"b":3}')
@example('{"a\\u003A":1,"b":2}')
@example('{"a\\\\u003a":1,"b":2}')
@example('{"a" : 1, "a" : {}}')
def test_keys_that_stand_twice_are_found_by_counting(text: str) -> None:
    value, end, flaw = kept(JsonText(text), 0)
    assert end == len(text)
    event(f"twice: {flaw == TWICE}")
    assert repeated(text.encode(), value) == flaw


@st.composite
def alike(draw: st.DrawFn) -> str:
    """Write a session history of many messages of one layout, with raw results of any kind, and keys that stand twice in some."""
    write = draw(spellings())
    found = []
    for number in range(draw(st.integers(2, 6))):
        call_id = f"call_{number}"
        content = draw(st.one_of(st.just(json.dumps([{"a:": number, "content": ["x", "y", "z"]}] * 3)), VALUES))
        result = Pairs([("name", "explore"), ("content", content), ("is_error", False), ("call_id", call_id)])
        raw_result = draw(st.one_of(VALUES, st.just([Pairs([("status", number)])] * 3)))
        details = Pairs([("function_name", "explore"), ("raw_result", raw_result), ("status", "success")])
        part = [("type", "activity"), ("activity_type", "tool_result"), ("content", None), ("results", [result]), ("technical_details", details)]
        legacy = [Pairs([("type", "tool_result"), ("results", [result])])]
        found.append(Pairs([("role", "assistant"), ("parts", [Pairs(part)]), ("activity_parts", legacy), ("text_content", "hé")]))
    return escaped(str(write(found)))


@pytest.mark.parametrize("size", [1 << 20, 1])
@given(text=alike())
def test_session_histories_of_one_layout_are_read_at_once_as_one_by_one(size: int, text: str) -> None:
    event(f"read at once: {same(text, size)}")
    data = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        for module in (messages, session):
            patch.setattr(module, "stretch", lambda *given, **more: None)
        expected = reduce_json(data, shorter)
    event(f"changed: {expected != data}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stretch, "SIZE", size)
        for module in (seams, stretch):
            patch.setattr(module, "LONG", 0)
        assert reduce_json(data, shorter) == expected


def test_guesses_that_fail_are_given_up() -> None:
    misleading = '{"content": {"a": {"b": 1}, "status": 2}, "status": 1}, '
    text = misleading * 100
    known = Seams(text, text.encode(), False)
    learnt = []
    for start in range(12, len(text), len(misleading)):
        assert known.read('"content"', start) is None
        learnt.append(known.learn('"content"', start, start + 28))
    assert learnt.count(True) < 12
    assert not any(learnt[12:])
