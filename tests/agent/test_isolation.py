"""A recall returns the originals of its own conversation only."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, TextPart, ToolCallPart

from reducer.agent import Archive, ReduceToolReturns, history_processor, recall_tools
from tests.agent.agents import ARTICLES, V2, Rules, Script, analyst, context, returns, script
from tests.archive.samples import execute
from tests.histories.fakes import shorter

SECRET = ["public", "public", "the secret of the first conversation"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def store(archive: Archive, conversation: str | None) -> list[ModelMessage]:
    """Reduce a tool return in a conversation and return the reduced history."""
    reduced = history_processor(Rules(shorter), archive=archive)(context(conversation), returns(list(SECRET)))
    assert archive.flush(10)
    return reduced


def recall(archive: Archive, conversation: str | None, messages: list[ModelMessage]) -> str:
    (tool,) = recall_tools(archive).tools.values()
    return str(tool.function(context(conversation, messages), tool_call_id="call_0"))


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with Archive(tmp_path / "returns.db") as made:
        yield made


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
    first = history_processor(Rules(lambda tool, content: content[:4]), archive=archive)
    reduced = first(context("other"), returns([1, 2, 3, 4, 5]))
    assert archive.flush(10)
    twice = history_processor(Rules(shorter), archive=archive)(context("first"), reduced)
    assert archive.flush(10)
    assert recall(archive, "first", twice).endswith("\n[1,2,3,4]")
    assert recall(archive, "other", reduced).endswith("\n[1,2,3,4,5]")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_without_a_conversation_only_the_process_that_stored_an_original_reads_it(archive: Archive) -> None:
    history = store(archive, None)
    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    child = fork.Process(target=lambda: results.put(recall(archive, None, history)))
    child.start()
    child.join(30)
    answer = results.get()
    assert "not reduced: characters" in answer
    assert "secret" not in answer
    assert "secret" in recall(archive, None, history)


def test_originals_older_than_max_age_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "returns.db"
    with Archive(path) as archive:
        history = store(archive, "first")
    execute(path, "UPDATE returns SET stored_at = stored_at - 2 * 86400000000")
    for days, visible in [(30, True), (1, False)]:
        with Archive(path, max_age=days) as archive:
            assert ("secret" in recall(archive, "first", history)) == visible


@pytest.mark.skipif(not V2, reason="PydanticAI 1.71 has no conversation ids")
@pytest.mark.parametrize(("conversation", "visible"), [("first", True), ("second", False), ("new", False)])
def test_an_agent_that_gets_the_history_of_another_conversation_does_not_read_it(
    archive: Archive, conversation: str, visible: bool
) -> None:
    """The application names the conversation, and a client sends its history."""
    recall_call = ToolCallPart("recall_tool_return", {"tool_call_id": "tool_0_deep_research", "path": "[3]"}, "r")
    scripts = script("deep_research"), Script([[recall_call], [TextPart("Done.")]])
    history: list[ModelMessage] = []
    for one, name in zip(scripts, ("first", conversation), strict=True):
        made = analyst(one, ReduceToolReturns(Rules(shorter), archive=archive))
        result = made.run_sync("Look into it.", message_history=history, conversation_id=name)
        history = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
    (recalled,) = scripts[1].contents(-1, "recall_tool_return")
    assert recalled.endswith(f"\n{ARTICLES[3]}") == (ARTICLES[3] in recalled) == visible
