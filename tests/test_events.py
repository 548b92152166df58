"""What happened in a stored history: the same returns at the same places as where they are reduced, whatever the form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reducer.references import Returned, Said, Written, references
from reducer.stored import returns
from reducer.stored.events import events, keyed

DATA = Path(__file__).parent / "doors" / "data"
FILES = sorted([*DATA.glob("session_*.json"), *DATA.glob("eras/*.json"), DATA / "mid_2025.json"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_returns_stand_where_they_are_reduced(file: Path) -> None:
    stored = {key: (found.content, found.call_id) for key, found in keyed(returns(file.read_bytes()))}
    happened = {place.key: (place.event.content, place.event.call_id) for place in events(json.loads(file.read_bytes())) if isinstance(place.event, Returned)}
    assert happened == stored
    assert stored


def test_real_histories_too(data: Path) -> None:
    seen = 0
    for file in sorted(data.glob("histories/*/*.json"))[::7]:
        stored = [key for key, _ in keyed(returns(file.read_bytes()))]
        assert [place.key for place in events(json.loads(file.read_bytes())) if isinstance(place.event, Returned)] == stored
        seen += len(stored)
    assert seen > 50


SESSION = [
    {"role": "user", "text_content": "Who is it?", "parts": [], "activity_parts": []},
    {
        "role": "assistant",
        "text_content": None,
        "parts": [
            {"type": "text_output", "text": "Let me look."},
            {"type": "activity", "activity_type": "tool_request", "tools": [{"name": "look", "arguments": {"q": "x"}, "id": "c1"}]},
            {"type": "activity", "activity_type": "tool_result", "results": [{"name": "look", "content": "host-7", "is_error": False, "call_id": "c1"}]},
            {"type": "activity", "activity_type": "thought", "content": "host-7 it is"},
            {"type": "text_output", "text": "It is host-7."},
        ],
        "response_text_main": "It is host-7.",
    },
]


def test_a_session_history_tells_who_said_what_when() -> None:
    happened = [place.event for place in events(SESSION)]
    assert [type(event) for event in happened] == [Said, Written, Returned, Written]
    assert isinstance(happened[1], Written)
    assert [(call.tool, call.arguments, call.id) for call in happened[1].calls] == [("look", {"q": "x"}, "c1")]
    assert [(ref.value, ref.novel) for ref in references(happened)] == [("host-7", True)]


def test_the_older_list_counts_where_the_newer_has_no_answers() -> None:
    user, assistant = SESSION
    older = {**assistant, "parts": assistant["parts"][:1], "activity_parts": [{**part, "type": part.get("activity_type")} for part in assistant["parts"][1:3]]}
    happened = [place.event for place in events([user, older])]
    assert [type(event) for event in happened] == [Said, Written, Returned, Written]


@pytest.mark.parametrize(
    "history", [None, 3, [], {}, [[[]]], {"messages": []}, [{"kind": "response", "parts": 7}], [{"role": "assistant", "parts": [None, 5]}]]
)
def test_what_is_no_history_is_empty(history: object) -> None:
    assert not [place for place in events(history) if isinstance(place.event, Returned)]
