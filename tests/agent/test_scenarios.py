"""What the model receives when messages flow through PydanticAI in five ways."""

from __future__ import annotations

import asyncio
import copy
import json
from itertools import pairwise
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
)
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from reducer.histories.stored import reduce_json
from tests.agent.agents import Script, agent, call, steady
from tests.histories.fakes import shorter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ARTICLES = ["One article.", "Another article.", "A third one.", "A fourth one."]
GRAPH = {"nodes": [1, 2, 3, 4], "edges": [[1, 2], [3, 4], [1, 4]], "name": "a graph"}


def add_tools(made: Agent[Any, Any]) -> None:
    @made.tool_plain
    def deep_research(query: str = "") -> list[str]:
        return list(ARTICLES)

    @made.tool_plain
    def explore(node: int = 1) -> dict[str, Any]:
        return copy.deepcopy(GRAPH)

    @made.tool_plain
    def status() -> str:
        return "ok"

    @made.tool_plain
    def count() -> int:
        return 123_456

    @made.tool_plain(retries=2)
    def picky(word: str) -> list[str]:
        if word != "right":
            raise ModelRetry("Say the right word, and take your time about it.")
        return list(ARTICLES)

    @made.tool_plain
    def with_pictures() -> ToolReturn:
        return ToolReturn(
            return_value=list(ARTICLES),
            content=["A picture of it:", "as described at length"],
            metadata={"rows": [1, 2, 3]},
        )

    @made.tool_plain
    def slow() -> list[str]:
        raise CallDeferred


SCENARIOS: dict[str, list[list[Any]]] = {
    "plain text": [[TextPart("A long answer, all in text.")]],
    "one tool call": [[call("deep_research", query="x")], [TextPart("Done.")]],
    "parallel calls": [
        [call("deep_research"), call("explore", 1), call("status", 2), call("deep_research", 3), call("count", 4)],
        [TextPart("Done.")],
    ],
    "mixed returns, retries and user parts": [
        [call("picky", word="wrong"), call("explore", 1)],
        [call("picky", word="right"), call("with_pictures", 1), call("status", 2)],
        [call("unknown_tool")],
        [call("deep_research")],
        [TextPart("Done.")],
    ],
    "text and tool call in one response": [
        [TextPart("I will look at that, one moment please."), call("deep_research")],
        [TextPart("And now the graph of it."), call("explore")],
        [TextPart("Done.")],
    ],
}


def check(plain: Script, reduced: Script) -> int:
    """Check that the model received the same messages with reduced contents; return how many requests differ."""
    count = 0
    assert len(plain.received) == len(reduced.received) == len(plain.answers)
    for before, after in zip(plain.received, reduced.received, strict=True):
        expected = reduce_json(before, shorter)
        assert steady(after) == steady(expected)
        count += steady(after) != steady(before)
        ids = []
        for message in json.loads(after):
            calls = {
                (part["tool_call_id"], part["tool_name"])
                for part in message["parts"]
                if part["part_kind"] == "tool-call"
            }
            if message["kind"] == "response":
                ids = sorted(calls)
            elif answers := [part for part in message["parts"] if part["part_kind"] in ("tool-return", "retry-prompt")]:
                assert sorted((part["tool_call_id"], part["tool_name"]) for part in answers) == ids
    return count


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("stream", [False, True], ids=["run", "stream"])
def test_the_model_receives_the_same_messages_with_reduced_contents(name: str, stream: bool) -> None:
    scripts = []
    for reduce in (None, shorter):
        script = Script(SCENARIOS[name])
        made = agent(script, reduce)
        add_tools(made)
        if stream:
            asyncio.run(streamed(made))
        else:
            made.run_sync("Look into it, please.")
        scripts.append(script)
    assert check(*scripts) == len(SCENARIOS[name]) - 1


async def streamed(made: Agent[Any, Any]) -> None:
    # The events of all steps: `run_stream` would end at the first text.
    async with made.iter("Look into it, please.") as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as events:
                    async for _ in events:
                        pass


def test_deferred_calls() -> None:
    answers = [[call("explore"), call("slow", 1)], [TextPart("Done.")]]
    scripts = []
    for reduce in (None, shorter):
        script = Script(answers)
        made = agent(script, reduce, output_type=[str, DeferredToolRequests])
        add_tools(made)
        first = made.run_sync("Look into it, please.")
        assert [deferred.tool_call_id for deferred in first.output.calls] == ["tool_1_slow"]
        results = DeferredToolResults(calls={"tool_1_slow": list(ARTICLES)})
        made.run_sync(message_history=first.all_messages(), deferred_tool_results=results)
        scripts.append(script)
    assert check(*scripts) == 1
    parts = [part for message in json.loads(scripts[1].received[1]) for part in message["parts"]]
    returned = {part["tool_name"]: part["content"] for part in parts if part["part_kind"] == "tool-return"}
    assert returned["slow"] == ARTICLES[:2]
    assert returned["explore"]["nodes"] == [1, 2]


def turns(made: Agent[Any, Any], count: int) -> Any:
    result = None
    for turn in range(count):
        result = made.run_sync(f"Turn {turn}, please.", message_history=result.all_messages() if result else None)
    return result


def test_call_ids_that_occur_in_several_runs() -> None:
    answers = [[call("deep_research")], [TextPart("Done.")]] * 3
    scripts, results = [], []
    for reduce in (None, shorter):
        script = Script(answers)
        made = agent(script, reduce)
        add_tools(made)
        results.append(turns(made, 3))
        scripts.append(script)
    assert check(*scripts) == 5
    for read in (lambda result: result.all_messages_json(), lambda result: result.new_messages_json()):
        plain, reduced = map(read, results)
        assert steady(reduced) == steady(reduce_json(plain, shorter))


def test_the_history_of_the_caller_does_not_change() -> None:
    old = [
        ModelRequest.user_text_prompt("Turn 0, please."),
        ModelResponse([ToolCallPart("deep_research", {}, "tool_0_deep_research")]),
        ModelRequest([ToolReturnPart("deep_research", list(ARTICLES), "tool_0_deep_research")]),
        ModelResponse([TextPart("Done.")]),
    ]
    kept, parts = copy.deepcopy(old), [message.parts for message in old]
    script = Script([[call("deep_research")], [TextPart("Done.")]])
    made = agent(script, shorter)
    add_tools(made)
    result = made.run_sync("Turn 1, please.", message_history=old)
    assert old == kept
    assert all(message.parts is before for message, before in zip(old, parts, strict=True))
    assert [json.loads(sent)[2]["parts"][0]["content"] for sent in script.received] == [ARTICLES[:2]] * 2
    assert result.all_messages()[2].parts[0].content == ARTICLES[:2]
    assert result.new_messages()[0].parts[-1].content == "Turn 1, please."
    assert len(result.new_messages()) == 4


def test_only_a_return_that_no_request_contained_is_stored_unreduced() -> None:
    script = Script([[call("deep_research")], [call("explore")], [TextPart("Done.")]])
    made = agent(script, shorter)
    add_tools(made)
    stored = made.run_sync("Look into it, please.").all_messages()
    contents = [part.content for message in stored for part in message.parts if isinstance(part, ToolReturnPart)]
    assert contents == [ARTICLES[:2], {"nodes": [1, 2], "edges": [[1, 2], [3, 4]], "name": "a graph"}]


def test_run_stream_reduces() -> None:
    script = Script([[call("deep_research")], [TextPart("Done.")]])
    made = agent(script, shorter)
    add_tools(made)

    async def run() -> Any:
        async with made.run_stream("Look into it, please.") as result:
            assert await result.get_output() == "Done."
            return result.all_messages()

    stored = asyncio.run(run())
    assert json.loads(script.received[1])[2]["parts"][0]["content"] == ARTICLES[:2]
    assert stored[2].parts[0].content == ARTICLES[:2]


def test_the_prefix_of_requests_never_changes() -> None:
    script = Script([[call("deep_research"), call("explore", 1)]] * 10 + [[TextPart("Done.")]])
    made = agent(script, shorter)
    add_tools(made)
    made.run_sync("Look into it, please.")
    histories = [steady(sent) for sent in script.received]
    for before, after in pairwise(histories):
        assert [message["parts"] for message in after[: len(before)]] == [message["parts"] for message in before]
