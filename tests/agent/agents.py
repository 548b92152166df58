"""Agents with scripted models for every version of PydanticAI, and histories without what differs between runs."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from reducer.agent import history_processor

VERSION = tuple(int(number) for number in version("pydantic-ai-slim").split(".")[:2])
V2 = VERSION >= (2, 0)
REQUEST_ALONE = not (2, 54) <= VERSION < (2, 64)
"""Whether a capability can change the request alone."""


def context(conversation: str | None = None, messages: list[ModelMessage] | None = None) -> Any:
    """Return the parts of a run context that the processor and the recall read."""
    return SimpleNamespace(conversation_id=conversation, messages=messages or [])


@dataclass
class Rules:
    """Rules that are one function."""

    reduce_content: Callable[[str, Any], Any]


@dataclass
class Script:
    """A model that answers with these parts, one list per request, and records the requests as JSON."""

    answers: list[list[Any]]
    received: list[bytes] = field(default_factory=list)

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.received.append(ModelMessagesTypeAdapter.dump_json(messages))
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


def call(tool: str, index: int = 0, **args: Any) -> ToolCallPart:
    """Return a call with an id that occurs again in every turn."""
    return ToolCallPart(tool, args, f"tool_{index}_{tool}")


def agent(script: Script, reduce: Callable[[str, Any], Any] | None = None, **more: Any) -> Agent[Any, Any]:
    """Return an agent with the model of `script`, and with `reduce` in a history processor."""
    return processed(script, [] if reduce is None else [history_processor(Rules(reduce))], **more)


def processed(script: Script, processors: list[Any], **more: Any) -> Agent[Any, Any]:
    """Return an agent with history processors, as this version of PydanticAI takes them."""
    if not processors:
        return Agent(script.model, **more)
    if V2:
        from pydantic_ai.capabilities import ProcessHistory

        return Agent(script.model, capabilities=[ProcessHistory(processor) for processor in processors], **more)
    return Agent(script.model, history_processors=processors, **more)


def history_capability(processor: Any) -> Any:
    """Return a history processor as a capability, whose class had another name before."""
    from pydantic_ai import capabilities

    return (getattr(capabilities, "ProcessHistory", None) or capabilities.HistoryProcessor)(processor)


def steady(history: bytes) -> Any:
    """Return a history without the times, ids and token counts that differ between runs."""
    text = re.sub(r'"timestamp":"[^"]*"', '"timestamp":"T"', history.decode())
    text = re.sub(r'"(input|output)_tokens":\d+', r'"\1_tokens":0', text)
    return json.loads(re.sub(r'"(run_id|conversation_id)":"[^"]*"', r'"\1":"R"', text))
