"""The model receives reduced contents in typical runs of an agent."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from reducer.histories.stored import reduce_json
from tests.agent.agents import (
    ARTICLES,
    PROMPT,
    Rules,
    Script,
    analyst,
    call,
    contents,
    reducing,
    script,
    steady,
    streamed,
    turns,
)
from tests.histories.messages import shorter

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


def check(answers: list[list[Any]], run: Callable[[Agent[Any, Any]], Any], **more: Any) -> tuple[int, list[Any]]:
    """Check that a processor and a capability send the same messages to the model, with reduced contents.

    Return the number of requests that differ from those of an agent without rules, and the three results of `run`.
    """
    plain, reduced, others = Script(answers), Script(answers), Script(answers)
    results = [
        run(analyst(plain, **more)),
        run(analyst(reduced, reducing("processor", Rules(shorter)), **more)),
        run(analyst(others, reducing("capability", Rules(shorter)), **more)),
    ]
    assert len(plain.received) == len(answers)
    assert [steady(sent) for sent in others.received] == [steady(sent) for sent in reduced.received]
    assert contents(results[2].all_messages()) == contents(results[1].all_messages())
    count = 0
    for before, after in zip(plain.received, reduced.received, strict=True):
        assert steady(after) == steady(reduce_json(before, shorter))
        count += steady(after) != steady(before)
        calls: list[Any] = []
        for message in json.loads(after):
            ids = [(part["tool_call_id"], part["tool_name"]) for part in message["parts"] if "tool_call_id" in part]
            if message["kind"] == "response":
                calls = sorted(ids)
            elif ids:
                assert sorted(ids) == calls
    return count, results


@pytest.mark.parametrize("run", [streamed, lambda made: made.run_sync(PROMPT)], ids=["streamed", "at once"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_model_receives_reduced_contents(name: str, run: Any) -> None:
    assert check(SCENARIOS[name], run)[0] == len(SCENARIOS[name]) - 1


def test_deferred_calls() -> None:
    def run(made: Agent[Any, Any]) -> Any:
        first = made.run_sync(PROMPT)
        assert [deferred.tool_call_id for deferred in first.output.calls] == ["tool_1_slow"]
        results = DeferredToolResults(calls={"tool_1_slow": list(ARTICLES)})
        return made.run_sync(message_history=first.all_messages(), deferred_tool_results=results)

    answers = [[call("explore"), call("slow", 1)], [TextPart("Done.")]]
    count, (_, reduced, _) = check(answers, run, output_type=[str, DeferredToolRequests])
    assert count == 1
    explored, slow = contents(reduced.all_messages())
    assert (explored["nodes"], slow) == ([1, 2], ARTICLES[:2])


def test_call_ids_that_occur_in_several_runs() -> None:
    def run(made: Agent[Any, Any]) -> Any:
        result = made.run_sync("Turn 0, please.")
        for turn in (1, 2):
            result = made.run_sync(f"Turn {turn}, please.", message_history=result.all_messages())
        return result

    count, (plain, reduced, _) = check([[call("deep_research")], [TextPart("Done.")]] * 3, run)
    assert count == 5
    assert steady(reduced.all_messages_json()) == steady(reduce_json(plain.all_messages_json(), shorter))
    assert steady(reduced.new_messages_json()) == steady(reduce_json(plain.new_messages_json(), shorter))


def test_the_history_of_the_caller_does_not_change() -> None:
    old = [ModelRequest.user_text_prompt("Turn 0, please."), *turns(1), ModelResponse([TextPart("Done.")])]
    kept, parts = copy.deepcopy(old), [message.parts for message in old]
    asked = script("deep_research")
    made = analyst(asked, reducing("processor", Rules(shorter)))
    result = made.run_sync("Turn 1, please.", message_history=old)
    assert old == kept
    assert all(message.parts is before for message, before in zip(old, parts, strict=True))
    first = ["turn 0 item 0", "turn 0 item 1"]
    assert [asked.contents(number) for number in (0, 1)] == [[first], [first, ARTICLES[:2]]]
    assert contents(result.all_messages()) == [first, ARTICLES[:2]]
    assert result.new_messages()[0].parts[-1].content == "Turn 1, please."
    assert len(result.new_messages()) == 4
