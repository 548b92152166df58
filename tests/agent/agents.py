"""Agents with scripted models for every supported version of PydanticAI, and histories for tests."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, capabilities
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.run import AgentRun
from pydantic_core import to_json

from reducer import Reducer
from reducer.agent import ReduceToolReturns, history_processor
from reducer.engine import Outcome, attempt
from reducer.rules import Ruleset, compile_rules

VERSION = tuple(int(number) for number in version("pydantic-ai-slim").split(".")[:2])
V2 = VERSION >= (2, 0)
REQUEST_ALONE = not (2, 54) <= VERSION < (2, 64)
"""Whether a capability can change only the request."""
FORMS = ["capability", "request alone", "processor"] if REQUEST_ALONE else ["capability", "processor"]

PROMPT = "Look into it, please."
RULE = "version: 1\ntool: deep_research\nsteps:\n  - limit: 2\npreserve: []\n"
ARTICLES = ["One article.", "Another article.", "A third one.", "A fourth one."]
GRAPH = {"nodes": [1, 2, 3, 4], "edges": [[1, 2], [3, 4], [1, 4]], "name": "a graph"}


def reducer_of(text: str) -> Reducer:
    ruleset, problems = compile_rules([("rule.yaml", text)])
    assert ruleset is not None, problems
    return Reducer(ruleset)


SHORTER = reducer_of(
    "version: 1\ntool: '*'\nsteps:\n  - limit: 2\n  - {path: '*', limit: 2}\n  - truncate: 20\npreserve: []\n"
)
"""Keeps two items of each list, at the root and below it, and 20 characters of each text."""


def watch_engine(patch: pytest.MonkeyPatch, **errors: Exception) -> list[str]:
    """Return a list of the tools to whose returns rules are applied. For these tools, the engine raises an error."""
    tools: list[str] = []

    def watched(ruleset: Ruleset, tool: str, *more: Any) -> Outcome:
        tools.append(tool)
        if tool in errors:
            raise errors[tool]
        return attempt(ruleset, tool, *more)

    patch.setattr("reducer.agent.processor.attempt", watched)
    return tools


@dataclass
class Script:
    """A model that answers each request with one list of parts and records the requests and their tools as JSON."""

    answers: list[list[Any]]
    received: list[bytes] = field(default_factory=list)
    tools: list[bytes] = field(default_factory=list)

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.received.append(ModelMessagesTypeAdapter.dump_json(messages))
        self.tools.append(to_json(info.function_tools))
        return ModelResponse(list(self.answers[len(self.received) - 1]))

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for index, part in enumerate(self.answer(messages, info).parts):
            if isinstance(part, TextPart):
                yield part.content
            else:
                yield {index: DeltaToolCall(part.tool_name, json.dumps(part.args), tool_call_id=part.tool_call_id)}

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self.answer, stream_function=self.stream)

    def contents(self, request: int, tool: str = "deep_research") -> list[Any]:
        """Return the contents of the returns of a tool in one request."""
        parts = [part for message in json.loads(self.received[request]) for part in message["parts"]]
        return [part["content"] for part in parts if part["part_kind"] == "tool-return" and part["tool_name"] == tool]


def call(tool: str, index: int = 0, **args: Any) -> ToolCallPart:
    """Return a tool call. Its id is the same in every turn."""
    return ToolCallPart(tool, args, f"tool_{index}_{tool}")


def script(*tools: str) -> Script:
    """Return a script that calls one tool per request and then ends."""
    return Script([*([call(tool)] for tool in tools), [TextPart("Done.")]])


def analyst(script: Script, *capabilities: Any, processors: Sequence[Any] = (), **more: Any) -> Agent[Any, Any]:
    """Return an agent with the tools of `add_tools`, capabilities and history processors."""
    if processors and not V2:
        more["history_processors"] = processors
    elif processors:
        capabilities += tuple(map(history_capability, processors))
    made = Agent(script.model, capabilities=capabilities, **more)
    add_tools(made)
    return made


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
        content = ["A picture of it:", "as described at length"]
        return ToolReturn(return_value=list(ARTICLES), content=content, metadata={"rows": [1, 2, 3]})

    @made.tool_plain
    def slow() -> list[str]:
        raise CallDeferred


def history_capability(processor: Any) -> Any:
    """Return a history processor as a capability. Its class was called `HistoryProcessor` before."""
    return (getattr(capabilities, "ProcessHistory", None) or capabilities.HistoryProcessor)(processor)


def reducing(form: str, rules: Any, **options: Any) -> Any:
    """Return a capability for one of `FORMS`."""
    if form == "processor":
        return history_capability(history_processor(rules, **options))
    return ReduceToolReturns(rules, persist=form == "capability", **options)


def streamed(made: Agent[Any, Any]) -> AgentRun[Any, Any]:
    """Run an agent and stream all its steps: `run_stream` would end at the first text."""

    async def stream() -> Any:
        async with made.iter(PROMPT) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as events:
                        async for _ in events:
                            pass
            return run

    return asyncio.run(stream())


def context(conversation: str | None = None, messages: list[ModelMessage] | None = None) -> Any:
    """Return an object with the fields of a run context that the processor and the recall tool read."""
    return SimpleNamespace(conversation_id=conversation, messages=messages or [])


def returns(*contents: Any, tool: str = "look") -> list[ModelMessage]:
    """Return one request with one tool return for each content."""
    return [ModelRequest([ToolReturnPart(tool, content, f"call_{number}")]) for number, content in enumerate(contents)]


def turns(count: int) -> list[ModelMessage]:
    """Return a history in which every tool call has the same id."""
    messages: list[ModelMessage] = []
    for turn in range(count):
        returned = ToolReturnPart("deep_research", [f"turn {turn} item {n}" for n in range(4)], "tool_0_deep_research")
        messages += [ModelResponse([call("deep_research")]), ModelRequest([returned, UserPromptPart("go on")])]
    return messages


def contents(messages: Sequence[ModelMessage]) -> list[Any]:
    """Return the contents of the tool returns of a history."""
    return [part.content for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]


def same(messages: Sequence[ModelMessage], others: Sequence[ModelMessage]) -> bool:
    """Return whether two histories contain the same objects."""
    return list(map(id, messages)) == list(map(id, others))


def steady(history: bytes) -> str:
    """Return a history without the times, ids and token counts that differ between runs."""
    text = re.sub(r'"timestamp":"[^"]*"', '"timestamp":"T"', history.decode())
    text = re.sub(r'"(input|output)_tokens":\d+', r'"\1_tokens":0', text)
    return re.sub(r'"(run_id|conversation_id)":"[^"]*"', r'"\1":"R"', text)
