"""What happened in a stored history: the same returns at the same places as where they are reduced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reducer.histories.stored import events, returns
from reducer.references import Prompt, Response, Returned, references
from tests.histories.messages import requests, results

DATA = Path(__file__).parent / "data"
FILES = sorted([*DATA.glob("session_*.json"), *DATA.glob("eras/*.json"), DATA / "mid_2025.json"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_returns_are_where_they_are_reduced(file: Path) -> None:
    stored = {found.key: Returned(found.content, found.call_id) for found in returns(file.read_bytes())}
    happened = events(file.read_bytes())
    assert {place.key: place.event for place in happened if isinstance(place.event, Returned)} == stored
    assert stored


USER = {"role": "user", "text_content": "Who is it?", "parts": [], "activity_parts": []}
FIRST, LAST = {"type": "text_output", "text": "Let me look."}, {"type": "text_output", "text": "It is host-7."}
THOUGHT = {"type": "activity", "activity_type": "thought", "content": "host-7 it is"}
ANSWER = {"role": "assistant", "text_content": None, "response_text_main": "It is host-7."}


def test_a_session_history_tells_who_said_what_when() -> None:
    parts = [FIRST, requests("c1"), results("c1", "host-7"), THOUGHT, LAST]
    happened = [place.event for place in events(json.dumps([USER, {**ANSWER, "parts": parts}]).encode())]
    assert [type(event) for event in happened] == [Prompt, Response, Returned, Response]
    assert isinstance(happened[1], Response)
    assert [(call.tool, call.arguments, call.id) for call in happened[1].calls] == [("t", {}, "c1")]
    assert [(ref.value, ref.novel) for ref in references(happened)] == [("host-7", True)]


def test_the_older_list_counts_where_the_newer_has_no_answers() -> None:
    older = [{**part, "type": part["activity_type"]} for part in (requests("c1"), results("c1", "host-7"))]
    data = json.dumps([USER, {**ANSWER, "parts": [FIRST], "activity_parts": older}]).encode()
    assert [type(place.event) for place in events(data)] == [Prompt, Response, Returned, Response]
