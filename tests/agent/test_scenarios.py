"""The model receives reduced contents in typical runs, and the prefix of requests never changes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse, TextPart
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, RunContext
from pydantic_ai.usage import UsageLimits

from reducer import Reducer
from reducer.agent import history_processor
from tests.agent.agents import (
    ARTICLES,
    FORMS,
    PROMPT,
    SHORTER,
    Script,
    analyst,
    call,
    contents,
    history_capability,
    reducing,
    script,
    steady,
    streamed,
    turns,
)
from tests.agent.conftest import Points

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
        run(analyst(reduced, reducing("processor", SHORTER), **more)),
        run(analyst(others, reducing("capability", SHORTER, instructions=False), **more)),
    ]
    assert len(plain.received) == len(answers)
    assert [steady(sent) for sent in others.received] == [steady(sent) for sent in reduced.received]
    assert contents(results[2].all_messages()) == contents(results[1].all_messages())
    count = 0
    for before, after in zip(plain.received, reduced.received, strict=True):
        assert steady(after) == steady(SHORTER.reduce_json(before, references=False))
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


def test_the_history_of_the_caller_does_not_change() -> None:
    old = [ModelRequest.user_text_prompt("Turn 0, please."), *turns(1), ModelResponse([TextPart("Done.")])]
    kept, parts = copy.deepcopy(old), [message.parts for message in old]
    asked = script("deep_research")
    made = analyst(asked, reducing("processor", SHORTER))
    result = made.run_sync("Turn 1, please.", message_history=old)
    assert old == kept
    assert all(message.parts is before for message, before in zip(old, parts, strict=True))
    first = ["turn 0 item 0", "turn 0 item 1"]
    assert [asked.contents(number) for number in (0, 1)] == [[first], [first, ARTICLES[:2]]]
    assert contents(result.all_messages()) == [first, ARTICLES[:2]]
    assert result.new_messages()[0].parts[-1].content == "Turn 1, please."
    assert len(result.new_messages()) == 4


def in_context(ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
    return [message for message in messages if message.parts]


async def asynchronous_in_context(ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
    return [replace(message) for message in messages]


@pytest.mark.parametrize("place", range(3))
def test_other_processors_can_come_before_and_after(place: int) -> None:
    asked = script("deep_research", "explore")
    processors: list[Any] = [in_context, asynchronous_in_context]
    processors.insert(place, history_processor(SHORTER))
    analyst(asked, processors=processors).run_sync(PROMPT)
    assert asked.contents(1) == asked.contents(2) == [ARTICLES[:2]]


@pytest.mark.parametrize("form", FORMS)
def test_an_agent_counts_each_return_of_a_stored_conversation_once(form: str, rules: Path, points: Points) -> None:
    stored = b"[]"
    for _ in range(3):
        made = analyst(script("deep_research", "status"), reducing(form, Reducer.load(rules)))
        messages = ModelMessagesTypeAdapter.validate_json(stored)
        stored = made.run_sync(PROMPT, message_history=messages).all_messages_json()
    assert points("returns", "tool", "outcome") == {("deep_research", "reduced"): 3, ("status", "no_rule"): 3}
    assert points("duration", "outcome") == {("reduced",): 3, ("no_rule",): 3}


# --- prefixes: a provider can cache them


@pytest.fixture
def both(rules: Path) -> Path:
    """Return a folder with rules for `deep_research` and `explore`."""
    (rules / "explore.yaml").write_text("version: 1\ntool: explore\nsteps: [{path: nodes, limit: 2}]\npreserve: []\n")
    return rules


def requests(capability: Any, count: int) -> list[str]:
    """Run an agent with this number of requests, and return them as JSON."""
    asked = script(*(("status", "deep_research", "explore")[number % 3] for number in range(1, count)))
    made = analyst(asked, capability, instructions="You are an analyst.")
    made.run_sync(PROMPT, usage_limits=UsageLimits(request_limit=None))
    assert len(asked.received) == count
    assert len(set(asked.tools)) == 1
    return [sent.decode() for sent in asked.received]


def changed_prefixes(sent: list[str]) -> int:
    """Count the requests that do not start with the previous request without its closing bracket."""
    return sum(not after.startswith(before[:-1]) for before, after in pairwise(sent))


@pytest.mark.parametrize("form", FORMS)
def test_no_prefix_of_fifty_requests_changes(form: str, both: Path) -> None:
    sent = requests(reducing(form, both), 50)
    assert changed_prefixes(sent) == 0
    assert ("shortened by fixed rules" in sent[0]) == (form != "processor")
    assert ARTICLES[0] in sent[-1]
    assert ARTICLES[3] not in sent[-1]


def test_reducing_by_age_changes_prefixes(both: Path) -> None:
    """The count detects changes: if only the newest return stays unreduced, every prefix changes."""

    def by_age(messages: list[Any]) -> list[Any]:
        reduced = history_processor(both)(messages)
        return [*reduced[:-1], messages[-1]]

    assert changed_prefixes(requests(history_capability(by_age), 8)) == 4
