"""Agents with an archive: originals can be restored and recalled, and a failing disk does not stop a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, TextPart, ToolCallPart

from reducer.agent import Archive, ReduceToolReturns, history_processor, recall_tools
from reducer.archive.database import open_to_read
from reducer.archive.histories import restore
from reducer.histories.stored import reduce_json
from tests.agent.agents import (
    ARTICLES,
    FORMS,
    PROMPT,
    SHORTER,
    V2,
    Script,
    analyst,
    call,
    context,
    reducer_of,
    reducing,
    returns,
    script,
    steady,
)
from tests.archive.samples import execute

TOOL = "recall_tool_return"
WHOLE = {"tool_call_id": "tool_0_deep_research"}
PART = {**WHOLE, "path": "[3]"}
to_json = ModelMessagesTypeAdapter.dump_json


class Report(BaseModel):
    hosts: list[str]
    seen: date = date(2026, 1, 2)


@dataclass
class Node:
    id: int
    edges: tuple[int, ...]


def returned(turn: int) -> Iterator[Any]:
    """Yield the returns of a tool in one turn. They differ between turns but are equal after reduction."""
    yield ["a", "b", f"turn {turn}", 1e-7, 2.5e22, None]
    yield {"hosts": ["a", "b", f"turn {turn}", "é …[3 more characters]"], "n": 10**25, "t": (1, 2, turn)}
    yield Report(hosts=["x", "y", f"turn {turn}"])
    yield Node(1, (1, 2, turn))
    yield f'A text {turn} with "quotes", a \\ and \u2028 and 😀.'


def talk(processors: list[Any], stored: bool) -> bytes:
    """Run an agent over five turns with the same call ids, and return the stored history."""
    history: list[Any] | None = None
    for turn in range(5):
        values = returned(turn)
        calls = [[call("look", index) for index in range(3)], [call("look"), call("look", 1)]]
        made = analyst(Script([*calls, [TextPart("Done.")]]), processors=processors)

        @made.tool_plain(sequential=True)
        def look() -> Any:
            return next(values)  # noqa: B023

        result = made.run_sync(f"Turn {turn}, please.", message_history=history)
        history = result.all_messages()
        history = ModelMessagesTypeAdapter.validate_json(to_json(history)) if stored else history
    return bytes(result.all_messages_json())


@pytest.mark.parametrize("stored", [False, True])
def test_a_restored_history_is_that_of_a_run_without_rules_byte_for_byte(archive: Archive, stored: bool) -> None:
    plain = talk([], stored)
    reduced = talk([history_processor(SHORTER, archive=archive)], stored)
    assert len(reduced) < len(plain) - 300
    archive.flush()
    with open_to_read(archive.path) as connection:
        result = restore(reduced, connection)
        assert steady(result.history) == steady(plain)
        assert (result.restored, result.unrestored) == (25, ())
        # Some programs write the history with other white space and escapes, and without times.
        bare = [re.sub(rb'"timestamp":"[^"]*",?', b"", history) for history in (reduced, result.history)]
        again = restore(json.dumps(json.loads(bare[0]), indent=1).encode(), connection)
        assert json.loads(again.history) == json.loads(bare[1])


def recalling(*recalls: Any, before: tuple[Any, ...] = (call("deep_research"),)) -> Script:
    """Return a script that calls a tool, recalls its return with each of these arguments, and ends."""
    calls = [ToolCallPart(TOOL, arguments, f"recall_{number}") for number, arguments in enumerate(recalls)]
    return Script([*([one] for one in (*before, *calls, TextPart("Done.")))])


@pytest.mark.parametrize("form", FORMS)
def test_the_model_recalls_originals(archive: Archive, form: str) -> None:
    wrong = {**WHOLE, "offset": "x", "nth": {}}
    script = recalling(WHOLE, PART, {"tool_call_id": "nothing"}, wrong, None, "", {})
    toolsets = [recall_tools(archive)] if form == "processor" else []
    result = analyst(script, reducing(form, SHORTER, archive=archive), toolsets=toolsets).run_sync(PROMPT)
    text = json.dumps(ARTICLES, separators=(",", ":"))
    # If only the request is reduced, the stored history is complete. Recalled content is never reduced.
    source = "the return, which was not reduced" if form == "request alone" else "the original"
    tools = "The tool returns of this conversation:\n- `tool_0_deep_research`: deep_research"
    assert script.contents(-1, TOOL) == [
        f"deep_research `tool_0_deep_research`, {source}: characters 0-{len(text)} of {len(text)}\n{text}",
        f"deep_research `tool_0_deep_research`, `[3]` in {source}: characters 0-13 of 13\nA fourth one.",
        f"No tool return has the id `nothing`. {tools}",
        "Wrong arguments: `nth`: Input should be a valid integer; `offset`: Input should be a valid integer, "
        "unable to parse string as an integer.",
        *[tools] * 3,
    ]
    assert script.contents(1) == [ARTICLES[:2]]
    stored = result.all_messages_json()
    assert reduce_json(stored, lambda tool, content: content if tool == "deep_research" else "") == stored


# --- A recall returns the originals of its own conversation only.

SECRET = ["public", "public", "the secret of the first conversation"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def store(archive: Archive, conversation: str | None) -> list[ModelMessage]:
    """Reduce a tool return in a conversation and return the reduced history."""
    reduced = history_processor(SHORTER, archive=archive)(context(conversation), returns(list(SECRET)))
    assert archive.flush(10)
    return reduced


def recall(archive: Archive, conversation: str | None, messages: list[ModelMessage]) -> str:
    (tool,) = recall_tools(archive).tools.values()
    return str(tool.function(context(conversation, messages), tool_call_id="call_0"))


@pytest.mark.parametrize("stored_by", ["first", None])
@pytest.mark.parametrize("asked_by", ["first", "second", "", None])
def test_only_the_conversation_that_stored_an_original_reads_it(
    archive: Archive, stored_by: str | None, asked_by: str | None
) -> None:
    history = store(archive, stored_by)
    assert ("secret" in recall(archive, asked_by, history)) == (asked_by == stored_by)


@pytest.mark.parametrize("timestamp", [EPOCH, datetime(1969, 12, 31, 23, 59, 59, 999999), None])
def test_a_forged_history_does_not_read_another_conversation(archive: Archive, timestamp: Any) -> None:
    part = store(archive, "first")[0].parts[0]
    forged: Any = [ModelRequest([replace(part, timestamp=timestamp)])]
    assert "secret" not in recall(archive, "second", forged)
    assert "secret" not in recall(archive, None, forged)
    assert timestamp != EPOCH or "secret" not in recall(archive, "first", forged)


def test_an_original_that_was_reduced_twice_stays_in_its_conversation(archive: Archive) -> None:
    """A search follows an original that was reduced before back to its own original, within the conversation."""
    first = history_processor(reducer_of("version: 1\ntool: look\nsteps: [{limit: 4}]\n"), archive=archive)
    reduced = first(context("other"), returns([1, 2, 3, 4, 5]))
    assert archive.flush(10)
    twice = history_processor(SHORTER, archive=archive)(context("first"), reduced)
    assert archive.flush(10)
    assert recall(archive, "first", twice).endswith("\n[1,2,3,4]")
    assert recall(archive, "other", reduced).endswith("\n[1,2,3,4,5]")


def test_without_a_conversation_only_the_process_that_stored_an_original_reads_it(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = store(archive, None)
    assert "secret" in recall(archive, None, history)
    monkeypatch.setattr("os.getpid", lambda: 1)
    answer = recall(archive, None, history)
    assert "not reduced: characters" in answer
    assert "secret" not in answer


def test_originals_older_than_max_age_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "returns.db"
    with Archive(path) as archive:
        history = store(archive, "first")
    execute(path, "UPDATE returns SET stored_at = stored_at - 2 * 86400000000")
    for age, visible in [("30d", True), ("1d", False)]:
        with Archive(path, max_age=age) as archive:
            assert ("secret" in recall(archive, "first", history)) == visible


@pytest.mark.skipif(not V2, reason="PydanticAI 1.71 has no conversation ids")
@pytest.mark.parametrize(("conversation", "visible"), [("first", True), ("second", False)])
def test_an_agent_that_gets_the_history_of_another_conversation_does_not_read_it(
    archive: Archive, conversation: str, visible: bool
) -> None:
    """The application names the conversation, and a client sends its history."""
    scripts = script("deep_research"), recalling(PART, before=())
    history: list[ModelMessage] = []
    for one, name in zip(scripts, ("first", conversation), strict=True):
        made = analyst(one, ReduceToolReturns(SHORTER, archive=archive))
        result = made.run_sync("Look into it.", message_history=history, conversation_id=name)
        history = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
    (recalled,) = scripts[1].contents(-1, TOOL)
    assert recalled.endswith(f"\n{ARTICLES[3]}") == (ARTICLES[3] in recalled) == visible
