"""An agent with an archive: originals can be restored and recalled, and a failing disk harms no run."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, TextPart, ToolCallPart, ToolReturnPart

from reducer import Reducer
from reducer.agent import Archive, ReduceToolReturns, history_processor, recall_tools
from reducer.archive.database import open_to_read
from reducer.archive.histories import restore
from reducer.histories.live import reduce_messages
from reducer.histories.stored import reduce_json
from tests.agent.agents import V2, Rules, Script, call, context, processed
from tests.agent.test_scenarios import ARTICLES, add_tools
from tests.histories.fakes import shorter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Report(BaseModel):
    hosts: list[str]
    seen: date = date(2026, 1, 2)
    score: float = 1e-7


@dataclass
class Node:
    id: int
    edges: tuple[int, ...] = (1, 2, 3, 4)


def contents(turn: int) -> list[Any]:
    """Return what a tool returns in one turn: different in every turn, and equal after reduction."""
    return [
        ["a", "b", f"turn {turn}", 1e-7, 2.5e22, None],
        {"hosts": ["a", "b", f"turn {turn}", "é …[3 more characters]"], "n": 10**25, "t": (1, 2, turn)},
        Report(hosts=["x", "y", f"turn {turn}"]),
        Node(1, (1, 2, turn)),
        f"A text {turn} with \"quotes\", a \\ and \u2028 and 😀.",
    ]  # fmt: skip


def talk(reduce: bool, archive: Archive | None, stored: bool) -> bytes:
    """Run an agent over five turns with the same call ids, and return the stored history."""
    history: list[Any] | None = None
    for turn in range(5):
        values = iter(contents(turn))
        script = Script(
            [[call("look", index) for index in range(3)], [call("look"), call("look", 1)], [TextPart("Done.")]]
        )
        made = processed(script, [history_processor(Rules(shorter), archive=archive)] if reduce else [])

        @made.tool_plain(sequential=True)
        def look() -> Any:
            return next(values)  # noqa: B023

        result = made.run_sync(f"Turn {turn}, please.", message_history=history)
        history = (
            ModelMessagesTypeAdapter.validate_json(result.all_messages_json()) if stored else result.all_messages()
        )
    return bytes(result.all_messages_json())


def timeless(history: bytes) -> str:
    text = re.sub(r'"timestamp":"[^"]*"', '"timestamp":"T"', history.decode())
    text = re.sub(r'"(input|output)_tokens":\d+', r'"\1_tokens":0', text)
    return re.sub(r'"(run_id|conversation_id)":"[^"]*"', r'"\1":"R"', text)


@pytest.mark.parametrize("stored", [False, True])
def test_a_restored_history_is_that_of_a_run_without_rules_byte_for_byte(tmp_path: Path, stored: bool) -> None:
    plain = talk(False, None, stored)
    with Archive(tmp_path / "returns.db") as archive:
        reduced = talk(True, archive, stored)
        assert timeless(reduced) != timeless(plain)
        assert len(reduced) < len(plain) - 500
        archive.flush()
        with open_to_read(archive.path) as connection:
            result = restore(reduced, connection)
            assert timeless(result.history) == timeless(plain)
            assert result.restored == 25
            assert not result.unrestored
            # Some programs write the history with other white space and escapes.
            again = restore(json.dumps(json.loads(reduced), indent=1).encode(), connection)
            assert json.loads(again.history) == json.loads(result.history)


def test_a_history_that_is_reduced_at_once_can_be_restored(tmp_path: Path) -> None:
    messages: list[Any] = [
        ModelRequest([ToolReturnPart("look", value, f"c{index}") for index, value in enumerate(contents(turn))])
        for turn in range(40)
    ]
    whole = ModelMessagesTypeAdapter.dump_json(messages)
    with Archive(tmp_path / "returns.db") as archive:
        reduced = ModelMessagesTypeAdapter.dump_json(
            history_processor(Rules(shorter), archive=archive)(context(), messages)
        )
        assert reduced == ModelMessagesTypeAdapter.dump_json(reduce_messages(messages, shorter))
        archive.flush()
        with open_to_read(archive.path) as connection:
            assert restore(reduced, connection).history == whole
            # Without times, the number among the returns with one call id is enough.
            bare = [re.sub(rb',"timestamp":"[^"]*"', b"", history) for history in (reduced, whole)]
            assert restore(bare[0], connection).history == bare[1]


def test_the_rule_and_its_version_are_stored(tmp_path: Path) -> None:
    rule = tmp_path / "rule.yaml"
    rule.write_text("version: 1\ntool: look\nsteps:\n  - limit: 2\npreserve: []\n")
    versions = []
    for text in (rule.read_text(), rule.read_text() + "# later\n"):
        rule.write_text(text)
        with Archive(tmp_path / "returns.db") as archive:
            history_processor(rule, archive=archive)(
                context(), [ModelRequest([ToolReturnPart("look", [1, 2, 3], "c")])]
            )
            archive.flush()
            with open_to_read(archive.path) as connection:
                versions = [row[0] for row in connection.execute("SELECT rule FROM returns ORDER BY id")]
    assert len(set(versions)) == 2
    assert all(re.fullmatch(re.escape(str(rule)) + "@[0-9a-f]{12}", version) for version in versions)


def recalling(archive: Archive, *recalls: dict[str, Any]) -> Script:
    """Return a script that calls a tool, recalls its return in some ways, and ends."""
    recall = [
        [ToolCallPart("recall_tool_return", arguments, f"recall_{number}")] for number, arguments in enumerate(recalls)
    ]
    return Script([[call("deep_research")], *recall, [TextPart("Done.")]])


def answers(script: Script) -> list[str]:
    parts = [part for message in json.loads(script.received[-1]) for part in message["parts"]]
    return [
        part["content"]
        for part in parts
        if part["part_kind"] == "tool-return" and part["tool_name"] == "recall_tool_return"
    ]


RECALLS = [
    {"tool_call_id": "tool_0_deep_research"},
    {"tool_call_id": "tool_0_deep_research", "path": "[3]"},
    {"tool_call_id": "nothing"},
    {"offset": "x", "tool_call_id": "tool_0_deep_research", "nth": {}},
]


@pytest.mark.parametrize("persist", [True, False] if V2 else [True])
def test_the_model_recalls_originals(tmp_path: Path, persist: bool) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        script = recalling(archive, *RECALLS)
        rules = Rules(lambda tool, content: shorter(tool, content) if tool == "deep_research" else f"{content[:9]}")
        made = Agent(script.model, capabilities=[ReduceToolReturns(rules, archive=archive, persist=persist)])
        add_tools(made)
        result = made.run_sync("Look into it, please.")
    whole = json.dumps(ARTICLES, separators=(",", ":"))
    # Without `persist` the stored history is whole. Recalled content is never reduced.
    source = "the original" if persist else "not reduced"
    assert answers(script) == [
        f"deep_research `tool_0_deep_research`, {source}: characters 0-{len(whole)} of {len(whole)}\n{whole}",
        f"deep_research `tool_0_deep_research`, `[3]` in {source}: characters 0-13 of 13\nA fourth one.",
        "No tool return has the id `nothing`. The tool returns of this conversation:\n"
        "- `tool_0_deep_research`: deep_research",
        "Wrong arguments: `nth`: Input should be a valid integer; `offset`: Input should be a valid integer, "
        "unable to parse string as an integer.",
    ]
    assert json.loads(script.received[1])[2]["parts"][0]["content"] == ARTICLES[:2]
    stored = result.all_messages_json()
    assert reduce_json(stored, lambda tool, content: content if tool == "deep_research" else "") == stored


def test_recall_tools_work_with_a_history_processor(tmp_path: Path) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        script = recalling(archive, RECALLS[1])
        made = processed(script, [history_processor(Rules(shorter), archive=archive)], toolsets=[recall_tools(archive)])
        add_tools(made)
        made.run_sync("Look into it, please.")
    assert answers(script) == [
        "deep_research `tool_0_deep_research`, `[3]` in the original: characters 0-13 of 13\nA fourth one."
    ]


@pytest.mark.parametrize("args", ["[1]", "null", "5", None, "", {}])
def test_arguments_that_are_not_an_object_list_the_returns(tmp_path: Path, args: Any) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        script = Script([[call("deep_research")], [ToolCallPart("recall_tool_return", args, "r")], [TextPart("Done.")]])
        made = processed(script, [history_processor(Rules(shorter), archive=archive)], toolsets=[recall_tools(archive)])
        add_tools(made)
        made.run_sync("Look into it, please.")
    assert answers(script) == ["The tool returns of this conversation:\n- `tool_0_deep_research`: deep_research"]


def test_a_failing_archive_harms_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "reducer"), Archive(tmp_path / "returns.db") as archive:
        script = recalling(archive, RECALLS[0])
        made = processed(script, [history_processor(Rules(shorter), archive=archive)], toolsets=[recall_tools(archive)])
        add_tools(made)
        archive.path.write_bytes(b"no database " * 1000)
        assert made.run_sync("Look into it, please.").output == "Done."
        archive.flush()
        assert archive.failures == 1
        assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == [
            "file is not a database" if "is not" in caplog.text else "?"
        ]
    assert answers(script)[0].startswith(
        "deep_research `tool_0_deep_research`, as in this conversation (the archive cannot be read): "
    )


def test_an_original_that_cannot_be_serialized_is_counted_and_harms_no_run(tmp_path: Path) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        reduce = history_processor(
            Rules(lambda tool, content: content[:1] if len(content) > 1 else content), archive=archive
        )
        (message,) = reduce(
            context(),
            [ModelRequest([ToolReturnPart("look", [1, object(), 3], "c"), ToolReturnPart("look", [1, 2, 3], "d")])],
        )
        assert len(message.parts[0].content) == 1
        archive.flush()
        assert archive.failures == 1


def test_each_return_is_archived_once(tmp_path: Path) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        batches: list[Any] = []
        archive.add = batches.append  # type: ignore[method-assign]
        reduce = history_processor(Rules(shorter), archive=archive)
        messages: list[Any] = [
            ModelRequest([ToolReturnPart("look", [1, 2, 3], "c"), ToolReturnPart("look", [1, 2], "d")])
        ]
        once = reduce(context(), messages)
        reduce(context(), messages)
        reduce(context(), once)
        created = [create() for batch in batches for create in batch]
        assert [(entry.id.call_id, entry.id.nth, entry.original) for entry in created] == [("c", 1, b"[1,2,3]")]


def test_the_instructions_name_the_recall_tool(tmp_path: Path) -> None:
    (tmp_path / "rule.yaml").write_text("version: 1\ntool: deep_research\nsteps:\n  - limit: 2\npreserve: []\n")
    capability = ReduceToolReturns(Reducer.load(tmp_path), archive=str(tmp_path / "returns.db"))
    script = recalling(Archive(tmp_path / "returns.db"), RECALLS[1])
    made = Agent(script.model, capabilities=[capability])
    add_tools(made)
    result = made.run_sync("Look into it, please.")
    assert result.all_messages()[0].instructions.splitlines()[1:] == [
        "- `deep_research`: keeps the first 2 items of the answer.",
        "`recall_tool_return` reads the original of a shortened tool return: in pages, or only the part that you need.",
    ]
    assert answers(script)[0].endswith("A fourth one.")


@pytest.mark.skipif(not V2, reason="agent spec files came with 2")
def test_agent_spec_files_name_the_archive(tmp_path: Path) -> None:
    (tmp_path / "rule.yaml").write_text("version: 1\ntool: deep_research\nsteps:\n  - limit: 2\npreserve: []\n")
    spec = tmp_path / "agent.yaml"
    spec.write_text(
        "model: test\ncapabilities:\n"
        f"  - ReduceToolReturns: {{rules: {tmp_path}/rule.yaml, archive: {tmp_path}/returns.db}}\n"
    )
    script = Script(
        [[call("deep_research")], [ToolCallPart("recall_tool_return", RECALLS[1], "r")], [TextPart("Done.")]]
    )
    made = Agent.from_file(spec, custom_capability_types=[ReduceToolReturns], model=script.model)
    add_tools(made)
    made.run_sync("Look into it, please.")
    assert answers(script)[0].endswith("A fourth one.")
