"""Histories as PydanticAI of five eras stored them; each was written by that version, by one agent in two runs.

The agent called ten tools in several turns, with ids that come back in the second run: texts, lists, objects, models, a dataclass, a date,
JSON text, null and a request to try again. The prompt had an image by address and one as bytes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reducer.stored import reduce_json, returns
from tests.doors.fakes import shorter, unchanged
from tests.doors.spelled import reference

ERAS = sorted((Path(__file__).parent / "data" / "eras").glob("*.json"))
era = pytest.mark.parametrize("file", ERAS, ids=lambda file: file.stem)


def test_five_eras_are_here() -> None:
    assert [file.stem for file in ERAS] == ["0.3.6", "0.8.1", "1.0.18", "1.107.10", "2.68.0"]


@era
def test_only_content_changes(file: Path) -> None:
    data = file.read_bytes()
    text, result = data.decode(), reduce_json(data, shorter).decode()
    at = done = changed = 0
    for found in returns(data):
        if found.untouched or shorter(found.tool, found.content) is found.content:
            continue
        changed += 1
        between = text[done : found.start]
        assert result[at : at + len(between)] == between
        content, at = json.JSONDecoder().raw_decode(result, at + len(between))
        assert content == shorter(found.tool, found.content)
        done = found.end
    assert result[at:] == text[done:]
    assert changed >= 12
    assert reduce_json(result.encode(), shorter) == result.encode()
    assert reduce_json(data, unchanged) is data


@era
def test_call_ids_that_come_back_are_told_apart(file: Path) -> None:
    found = [item for item in returns(file.read_bytes()) if item.tool == "rows"]
    assert [(item.call_id, item.nth) for item in found] == [("tool_1_rows", 1), ("tool_1_rows", 2)]
    assert found[0].content == found[1].content


@era
def test_all_that_is_no_return_of_a_tool_stays(file: Path) -> None:
    """Nulls, dates where that is said, and requests to try again, in either of their forms."""
    data = file.read_bytes()
    after = json.loads(reduce_json(data, shorter))
    kept = {"nothing", "flaky"} | ({"day"} if b"content_file_digests" in data else set())
    seen = set()
    for old, new in zip(json.loads(data), after, strict=True):
        assert {**old, "parts": 0} == {**new, "parts": 0}
        for before, part in zip(old["parts"], new["parts"], strict=True):
            if before["part_kind"] != "tool-return" or before["tool_name"] in kept:
                seen.add(before.get("tool_name"))
                assert part == before
            else:
                assert {**part, "content": 0} == {**before, "content": 0}
    assert kept <= seen


def dumps(file: Path) -> list[tuple[str, Any]]:
    """Give other spellings of a history: as other programs and other doors of PydanticAI write it."""
    messages = json.loads(file.read_bytes())
    return [
        ("indented", json.dumps(messages, indent=2)),
        ("sorted", json.dumps(messages, sort_keys=True, ensure_ascii=False)),
        ("one message", json.dumps(messages[2])),
        ("wrapped", json.dumps({"id": 7, "all_messages": messages, "usage": {"requests": 9}})),
    ]


@era
def test_other_spellings_are_reduced_alike(file: Path) -> None:
    for name, text in dumps(file):
        value = json.loads(text)
        expected = json.dumps(value["all_messages"] if name == "wrapped" else value)
        plain, changes = reference(expected, shorter)
        result = json.loads(reduce_json(text.encode(), shorter))
        if b"content_file_digests" not in file.read_bytes():
            assert (result["all_messages"] if name == "wrapped" else result) == plain
        assert changes > 0
        assert json.dumps(result) != json.dumps(value)


@era
def test_the_installed_version_loads_what_it_loaded_before(file: Path) -> None:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    data = file.read_bytes()
    try:
        before = ModelMessagesTypeAdapter.validate_json(data)
    except ValueError:
        pytest.skip("the installed version does not load the history as it was either")
    after = ModelMessagesTypeAdapter.validate_json(reduce_json(data, shorter))
    assert [type(message) for message in after] == [type(message) for message in before]
    assert [[type(part) for part in message.parts] for message in after] == [[type(part) for part in message.parts] for message in before]
