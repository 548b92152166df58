from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.errors import HistoryError
from reducer.stored import reduce_json, returns, splice
from tests.doors.fakes import shorter, unchanged
from tests.doors.spelled import histories, reference

HERE = Path(__file__).parent / "data"


@given(histories())
@example('[{"parts":[{"tool_name":"t","content":{"a":1,"a":[1,2,3]},"part_kind":"tool-return"}],"kind":"request"}]')
@example('[{"parts":[{"tool_name":"t","content":"a long text","con\\u0074ent":[1,2,3],"part_kind":"tool-return"}],"kind":"request"}]')
@example('[{"parts":[{"tool_name":"t","content":[[],[],[1]],"part_kind":"tool-return"},{"part_kind":"x"}],"kind":"request"}]')
@example('[{"kind":"request","parts":[{"con\\u0074ent":"other","content":[1,2,3],"part_kind":"tool-return","tool_name":"t"}],"a":1}]')
@example('[{"kind":"request","p\\u0061rts":[],"parts":[{"content":[1,2,3],"part_kind":"tool-return","tool_name":"t"}],"a":1}]')
@example('[{"kind":"request","parts":[{"retry":null,"content":[1,2,3],"part_kind":"tool-return","tool_name":"t"}],"kind":"response"}]')
@example('[{"kind":"request","parts":[{"content":[1,2,3],"part_kind":"tool-return","tool_name":"t"}],"id":""}]')
def test_it_changes_the_contents_that_the_plain_way_changes(text: str) -> None:
    data = text.encode()
    expected, changes = reference(text, shorter)
    result = reduce_json(data, shorter)
    event("changed" if changes else "unchanged")
    assert json.loads(result.decode().removeprefix("\ufeff")) == expected
    if not changes:
        assert result is data


@given(histories())
def test_all_bytes_outside_the_changed_contents_stay(text: str) -> None:
    data = text.encode()
    result = reduce_json(data, shorter)
    changed, after = [], []
    for old, new in zip(returns(data), returns(result), strict=True):
        assert old._replace(content=0, start=0, end=0) == new._replace(content=0, start=0, end=0)
        if not old.untouched and shorter(old.tool, old.content) is not old.content:
            changed.append(old)
            after.append(new)

    def outside(text: str, found: list[Any]) -> list[str]:
        bounds = [0, *(bound for item in found for bound in (item.start, item.end)), len(text)]
        return [text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]

    assert outside(text, changed) == outside(result.decode(), after)


@given(histories())
def test_nothing_changes_when_the_reducer_changes_nothing(text: str) -> None:
    data = text.encode()
    assert reduce_json(data, unchanged) is data


@given(histories())
def test_a_second_pass_gives_the_same_bytes(text: str) -> None:
    once = reduce_json(text.encode(), shorter)
    assert reduce_json(once, shorter) is once


@given(histories())
def test_splice_writes_what_reduce_json_writes(text: str) -> None:
    data = text.encode()
    changes = []
    for found in returns(data):
        if not found.untouched:
            new = shorter(found.tool, found.content)
            if new is not found.content:
                changes.append((found, new))
    assert splice(data, changes) == reduce_json(data, shorter)


@given(histories(), st.integers(0, 10**6))
def test_a_history_cut_short_is_refused(text: str, at: int) -> None:
    text = text.strip()
    cut = text[: at % len(text)]
    with pytest.raises(HistoryError) as caught:
        reduce_json(cut.encode(), shorter)
    assert "\n" not in str(caught.value)


def test_a_return_is_named_by_its_call_and_place() -> None:
    found = list(returns((HERE / "mid_2025.json").read_bytes()))
    assert [(item.tool, item.call_id, item.nth, item.message, item.part, item.untouched) for item in found] == [
        ("deep_research", "tool_0_deep_research", 1, 4, 0, "")
    ]
    assert found[0].content[2] == "A third one."


def test_a_history_of_2025_changes_in_one_place_only() -> None:
    data = (HERE / "mid_2025.json").read_bytes()
    result = reduce_json(data, shorter)
    start = data.index(b',"A third one."')
    end = data.index(b'],"tool_call_id":"tool_0_deep_research","timestamp":"2025-06-11T09:12:49')
    assert result == data[:start] + data[end:]


def test_call_ids_that_come_back_are_counted() -> None:
    turn = '{"parts":[{"tool_name":"t","content":"x","tool_call_id":"tool_0_t","part_kind":"tool-return"}],"kind":"request"}'
    assert [(item.nth, item.message) for item in returns(f"[{turn},{turn},{turn}]".encode())] == [(1, 0), (2, 1), (3, 2)]


def test_an_empty_list_is_a_history() -> None:
    assert reduce_json(b"[]", shorter) == b"[]"
    assert list(returns(b"[ ]")) == []


def test_real_histories(data: Path) -> None:
    count = changed = 0
    for file in sorted((data / "histories").glob("*/*.json")):
        stored = file.read_bytes()
        expected, changes = reference(stored.decode(), shorter)
        result = reduce_json(stored, shorter)
        assert json.loads(result) == expected
        assert reduce_json(result, shorter) is result
        count += sum(1 for _ in returns(stored))
        changed += changes
    assert count > 1000
    assert changed > 800
