"""The prefix of a request never changes: a provider's client renders every request, without a network."""

from __future__ import annotations

import asyncio
import copy
import json
from importlib import import_module
from importlib.metadata import requires
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent

from reducer.agent import ReduceToolReturns, history_processor
from tests.agent.agents import REQUEST_ALONE, history_capability

openai = pytest.importorskip("openai")
# The client's own HTTP library: it changed in the course of PydanticAI 2.
httpx: Any = import_module("httpx2" if any(line.startswith("httpx2") for line in requires("openai") or ()) else "httpx")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

STEPS = 50
CONTENTS: dict[str, Any] = {
    "deep_research": [
        f"Article {number}. " + "APT28 went on with its campaign from 185.220.101.34 " * number for number in range(8)
    ],
    "explore": {
        "nodes": [{"id": number, "risk": number % 7, "raw": "x" * 40} for number in range(40)],
        "name": "a graph",
    },
    "look_up": json.dumps({"results": list(range(500)), "note": "nothing"}),
}
TOOLS = tuple(CONTENTS)
RULES = {
    "deep_research": "steps:\n  - truncate: 100\n",
    "explore": "steps:\n  - {path: nodes, limit: 5, sort_by: risk}\n  - {path: nodes, drop: raw}\n",
    "look_up": "steps:\n  - {path: results, limit: 5}\n",
}


class Provider:
    """Answers each request with a tool call, the last with a text, and records the requests."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.bodies: list[dict[str, Any]] = []

    def answer(self, request: Any) -> Any:
        self.bodies.append(json.loads(request.content))
        number = len(self.bodies)
        message: dict[str, Any] = {"role": "assistant", "content": "Done."}
        if number < self.steps:
            name = TOOLS[number % len(TOOLS)]
            calls = [
                {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": '{"query": "x"}'}}
            ]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        choice = {"index": 0, "message": message, "finish_reason": "stop" if number == self.steps else "tool_calls"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {
            "id": f"r{number}",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }


def run(capabilities: list[Any], steps: int = STEPS) -> list[dict[str, Any]]:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    provider = Provider(steps)
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=provider.answer(request)))

    async def go() -> None:
        async with httpx.AsyncClient(transport=transport) as client:
            model = OpenAIChatModel(
                "gpt-4o", provider=OpenAIProvider(openai_client=openai.AsyncOpenAI(api_key="none", http_client=client))
            )
            made: Agent[None, str] = Agent(model, capabilities=capabilities, instructions="You are an analyst.")
            for tool in TOOLS:
                made.tool_plain(name=tool)(answering(CONTENTS[tool]))
            await made.run("Look into it, please.", usage_limits=UsageLimits(request_limit=None))

    asyncio.run(go())
    assert len(provider.bodies) == steps
    return provider.bodies


def answering(content: Any) -> Any:
    def answer(query: str) -> Any:
        return copy.deepcopy(content)

    return answer


def changed_prefixes(bodies: list[dict[str, Any]]) -> int:
    """Count the requests that do not start with the request before, apart from its closing brackets."""
    rendered = [json.dumps({"tools": body["tools"], "messages": body["messages"]})[:-2] for body in bodies]
    return sum(not after.startswith(before) for before, after in pairwise(rendered))


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    for tool, text in RULES.items():
        (tmp_path / f"{tool}.yaml").write_text(f"version: 1\ntool: {tool}\n{text}")
    return tmp_path


@pytest.mark.parametrize(
    "persist", [True, pytest.param(False, marks=pytest.mark.skipif(not REQUEST_ALONE, reason="this version cannot"))]
)
def test_no_prefix_of_fifty_requests_changes(persist: bool, rules: Path) -> None:
    bodies = run([ReduceToolReturns(rules, persist=persist)])
    assert changed_prefixes(bodies) == 0
    assert "shortened by fixed rules" in json.dumps(bodies[0]["messages"])
    assert "Article 7." in str(bodies[-1])
    assert CONTENTS["explore"]["nodes"][0]["raw"] not in str(bodies[-1])


def test_no_prefix_of_fifty_requests_changes_with_the_processor(rules: Path) -> None:
    assert changed_prefixes(run([history_capability(history_processor(rules))])) == 0


def test_reducing_by_age_changes_prefixes(rules: Path) -> None:
    """The count can fail: keeping only the newest return unreduced changes every prefix."""

    def by_age(messages: list[Any]) -> list[Any]:
        reduced = history_processor(rules)(messages)
        return [*reduced[:-1], messages[-1]]

    assert changed_prefixes(run([history_capability(by_age)], 8)) == 6
