"""An agent with an archive: originals can be restored and recalled, and a failing disk harms no run."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai.messages import ModelMessagesTypeAdapter, TextPart, ToolCallPart

from reducer.agent import Archive, ReduceToolReturns, history_processor, recall_tools
from reducer.archive.database import open_to_read
from reducer.archive.histories import restore
from reducer.histories.stored import reduce_json
from tests.agent.agents import ARTICLES, PROMPT, V2, Rules, Script, analyst, call, context, returns, steady
from tests.histories.fakes import shorter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TOOL = "recall_tool_return"
RECALLS = [
    {"tool_call_id": "tool_0_deep_research"},
    {"tool_call_id": "tool_0_deep_research", "path": "[3]"},
    {"tool_call_id": "nothing"},
    {"offset": "x", "tool_call_id": "tool_0_deep_research", "nth": {}},
]
to_json = ModelMessagesTypeAdapter.dump_json


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with Archive(tmp_path / "returns.db") as made:
        yield made


class Report(BaseModel):
    hosts: list[str]
    seen: date = date(2026, 1, 2)
    score: float = 1e-7


@dataclass
class Node:
    id: int
    edges: tuple[int, ...] = (1, 2, 3, 4)


def returned(turn: int) -> list[Any]:
    """Return what a tool returns in one turn: different in every turn, and equal after reduction."""
    return [
        ["a", "b", f"turn {turn}", 1e-7, 2.5e22, None],
        {"hosts": ["a", "b", f"turn {turn}", "é …[3 more characters]"], "n": 10**25, "t": (1, 2, turn)},
        Report(hosts=["x", "y", f"turn {turn}"]),
        Node(1, (1, 2, turn)),
        f"A text {turn} with \"quotes\", a \\ and \u2028 and 😀.",
    ]  # fmt: skip


def talk(processors: list[Any], stored: bool) -> bytes:
    """Run an agent over five turns with the same call ids, and return the stored history."""
    history: list[Any] | None = None
    for turn in range(5):
        values = iter(returned(turn))
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
    reduced = talk([history_processor(Rules(shorter), archive=archive)], stored)
    assert len(reduced) < len(plain) - 500
    archive.flush()
    with open_to_read(archive.path) as connection:
        result = restore(reduced, connection)
        assert steady(result.history) == steady(plain)
        assert (result.restored, result.unrestored) == (25, ())
        # Some programs write the history with other white space and escapes, and without times.
        bare = [re.sub(rb'"timestamp":"[^"]*",?', b"", history) for history in (reduced, result.history)]
        again = restore(json.dumps(json.loads(bare[0]), indent=1).encode(), connection)
        assert json.loads(again.history) == json.loads(bare[1])


def test_the_rule_and_its_version_are_stored(archive: Archive, tmp_path: Path) -> None:
    rule = tmp_path / "rule.yaml"
    for comment in ("# first\n", "# later\n"):
        rule.write_text(f"{comment}version: 1\ntool: look\nsteps:\n  - limit: 2\npreserve: []\n")
        history_processor(rule, archive=archive)(context(), returns([1, 2, 3]))
    archive.flush()
    with open_to_read(archive.path) as connection:
        versions = [row[0] for row in connection.execute("SELECT rule FROM returns ORDER BY id")]
    assert len(set(versions)) == 2
    assert all(re.fullmatch(re.escape(str(rule)) + "@[0-9a-f]{12}", version) for version in versions)


def recalling(*recalls: Any) -> Script:
    """Return a script that calls a tool, recalls its return in some ways, and ends."""
    calls = [[ToolCallPart(TOOL, arguments, f"recall_{number}")] for number, arguments in enumerate(recalls)]
    return Script([[call("deep_research")], *calls, [TextPart("Done.")]])


def run_with_processor(script: Script, archive: Archive) -> Any:
    processor = history_processor(Rules(shorter), archive=archive)
    return analyst(script, processors=[processor], toolsets=[recall_tools(archive)]).run_sync(PROMPT)


@pytest.mark.parametrize("persist", [True, False] if V2 else [True])
def test_the_model_recalls_originals(archive: Archive, persist: bool) -> None:
    script = recalling(*RECALLS)
    rules = Rules(lambda tool, content: shorter(tool, content) if tool == "deep_research" else f"{content[:9]}")
    result = analyst(script, ReduceToolReturns(rules, archive=archive, persist=persist)).run_sync(PROMPT)
    whole = json.dumps(ARTICLES, separators=(",", ":"))
    # Without `persist` the stored history is whole. Recalled content is never reduced.
    source = "the original" if persist else "not reduced"
    assert script.contents(-1, TOOL) == [
        f"deep_research `tool_0_deep_research`, {source}: characters 0-{len(whole)} of {len(whole)}\n{whole}",
        f"deep_research `tool_0_deep_research`, `[3]` in {source}: characters 0-13 of 13\nA fourth one.",
        "No tool return has the id `nothing`. The tool returns of this conversation:\n"
        "- `tool_0_deep_research`: deep_research",
        "Wrong arguments: `nth`: Input should be a valid integer; `offset`: Input should be a valid integer, "
        "unable to parse string as an integer.",
    ]
    assert script.contents(1) == [ARTICLES[:2]]
    stored = result.all_messages_json()
    assert reduce_json(stored, lambda tool, content: content if tool == "deep_research" else "") == stored


def test_recall_tools_work_with_a_history_processor(archive: Archive) -> None:
    script = recalling(RECALLS[1], None, "", {})
    run_with_processor(script, archive)
    first, *others = script.contents(-1, TOOL)
    assert first.endswith("`[3]` in the original: characters 0-13 of 13\nA fourth one.")
    assert others == ["The tool returns of this conversation:\n- `tool_0_deep_research`: deep_research"] * 3


def test_a_failing_archive_harms_no_run(archive: Archive, caplog: pytest.LogCaptureFixture) -> None:
    archive.path.write_bytes(b"no database " * 1000)
    script = recalling(RECALLS[0])
    with caplog.at_level(logging.WARNING, "reducer"):
        assert run_with_processor(script, archive).output == "Done."
        archive.flush()
    assert archive.failures == 1
    assert [message.rpartition(": ")[2] for message in caplog.messages] == ["file is not a database"]
    expected = "deep_research `tool_0_deep_research`, as in this conversation (the archive cannot be read): "
    assert script.contents(-1, TOOL)[0].startswith(expected)
