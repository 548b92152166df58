"""What happened in a stored history: the same returns at the same places as where they are reduced, whatever the form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reducer.histories.stored import events, returns
from reducer.references import Prompt, Response, Returned, references

DATA = Path(__file__).parent / "data"
FILES = sorted([*DATA.glob("session_*.json"), *DATA.glob("eras/*.json"), DATA / "mid_2025.json"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_returns_stand_where_they_are_reduced(file: Path) -> None:
    stored = {found.key: (found.content, found.call_id) for found in returns(file.read_bytes())}
    happened = {
        place.key: (place.event.content, place.event.call_id)
        for place in events(file.read_bytes())
        if isinstance(place.event, Returned)
    }
    assert happened == stored
    assert stored


def test_real_histories_too(data: Path) -> None:
    seen = 0
    for file in sorted(data.glob("histories/*/*.json"))[::7]:
        stored = [found.key for found in returns(file.read_bytes())]
        assert [place.key for place in events(file.read_bytes()) if isinstance(place.event, Returned)] == stored
        seen += len(stored)
    assert seen > 50


SESSION = [
    {"role": "user", "text_content": "Who is it?", "parts": [], "activity_parts": []},
    {
        "role": "assistant",
        "text_content": None,
        "parts": [
            {"type": "text_output", "text": "Let me look."},
            {
                "type": "activity",
                "activity_type": "tool_request",
                "tools": [{"name": "look", "arguments": {"q": "x"}, "id": "c1"}],
            },
            {
                "type": "activity",
                "activity_type": "tool_result",
                "results": [{"name": "look", "content": "host-7", "is_error": False, "call_id": "c1"}],
            },
            {"type": "activity", "activity_type": "thought", "content": "host-7 it is"},
            {"type": "text_output", "text": "It is host-7."},
        ],
        "response_text_main": "It is host-7.",
    },
]


def test_a_session_history_tells_who_said_what_when() -> None:
    happened = [place.event for place in events(json.dumps(SESSION).encode())]
    assert [type(event) for event in happened] == [Prompt, Response, Returned, Response]
    assert isinstance(happened[1], Response)
    assert [(call.tool, call.arguments, call.id) for call in happened[1].calls] == [("look", {"q": "x"}, "c1")]
    assert [(ref.value, ref.novel) for ref in references(happened)] == [("host-7", True)]


def test_the_older_list_counts_where_the_newer_has_no_answers() -> None:
    user, assistant = SESSION
    older = {
        **assistant,
        "parts": assistant["parts"][:1],
        "activity_parts": [{**part, "type": part.get("activity_type")} for part in assistant["parts"][1:3]],
    }
    happened = [place.event for place in events(json.dumps([user, older]).encode())]
    assert [type(event) for event in happened] == [Prompt, Response, Returned, Response]
