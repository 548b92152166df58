"""The prefix of requests never changes. A provider's client renders the requests without a network."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from importlib.metadata import requires
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reducer.agent import history_processor
from tests.agent.agents import ARTICLES, FORMS, PROMPT, analyst, history_capability, reducing, script

openai = pytest.importorskip("openai")
# The client's own HTTP library: it changed in the course of PydanticAI 2.
httpx: Any = import_module("httpx2" if any(line.startswith("httpx2") for line in requires("openai") or ()) else "httpx")


@pytest.fixture
def both(rules: Path) -> Path:
    """Return a folder with rules for `deep_research` and `explore`."""
    (rules / "explore.yaml").write_text("version: 1\ntool: explore\nsteps: [{path: nodes, limit: 2}]\npreserve: []\n")
    return rules


def completion(number: int, steps: int) -> dict[str, Any]:
    """Return the provider's answer to a request: a tool call, or a text for the last request."""
    message: dict[str, Any] = {"role": "assistant", "content": "Done."}
    if number < steps:
        function = {"name": ("deep_research", "explore", "status")[number % 3], "arguments": "{}"}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if number < steps else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    kind = {"id": f"r{number}", "object": "chat.completion", "created": 1, "model": "m"}
    return {**kind, "choices": [choice], "usage": usage}


def run(capability: Any, steps: int = 50) -> list[dict[str, Any]]:
    """Run an agent with this number of requests, and return the bodies that the client sent."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    bodies: list[dict[str, Any]] = []

    def answer(request: Any) -> Any:
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json=completion(len(bodies), steps))

    async def go() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
            provider = OpenAIProvider(openai_client=openai.AsyncOpenAI(api_key="none", http_client=client))
            made = analyst(script(), capability, instructions="You are an analyst.")
            limits = UsageLimits(request_limit=None)
            await made.run(PROMPT, model=OpenAIChatModel("gpt-4o", provider=provider), usage_limits=limits)

    asyncio.run(go())
    assert len(bodies) == steps
    return bodies


def changed_prefixes(bodies: list[dict[str, Any]]) -> int:
    """Count the requests that do not start with the previous request without its closing brackets."""
    rendered = [json.dumps({"tools": body["tools"], "messages": body["messages"]})[:-2] for body in bodies]
    return sum(not after.startswith(before) for before, after in pairwise(rendered))


@pytest.mark.parametrize("form", FORMS)
def test_no_prefix_of_fifty_requests_changes(form: str, both: Path) -> None:
    bodies = run(reducing(form, both))
    assert changed_prefixes(bodies) == 0
    assert ("shortened by fixed rules" in json.dumps(bodies[0]["messages"])) == (form != "processor")
    assert ARTICLES[0] in str(bodies[-1])
    assert ARTICLES[3] not in str(bodies[-1])


def test_reducing_by_age_changes_prefixes(both: Path) -> None:
    """The count detects changes: if only the newest return stays unreduced, every prefix changes."""

    def by_age(messages: list[Any]) -> list[Any]:
        reduced = history_processor(both)(messages)
        return [*reduced[:-1], messages[-1]]

    assert changed_prefixes(run(history_capability(by_age), 8)) == 4
