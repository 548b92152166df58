"""Agents that reduce what their tool returns; a workflow imports this file past the sandbox, as rules are read from files here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.durable_exec.temporal import TemporalDurability
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

from reducer.agent import ReduceToolReturns, Reduction, history_processor
from reducer.agent.durable import workflow
from tests.doors.agents import history_capability

RULES = Path(__file__).parent / "rules"

heard: list[tuple[str, Reduction]] = []


def hear(reduction: Reduction) -> None:
    heard.append((workflow(), reduction))


def agent(name: str, *capabilities: Any) -> Agent[None, str]:
    """Make an agent whose model is only ever asked in an activity."""
    model = FunctionModel(lambda messages, info: ModelResponse([TextPart("Done.")]))
    made: Agent[None, str] = Agent(model, name=name, capabilities=[*capabilities, TemporalDurability()])

    @made.tool_plain
    def deep_research() -> list[str]:
        return ["never asked: its answer is on record"]

    return made


AGENTS = {
    "capability": agent("capability", ReduceToolReturns(RULES, on_reduce=hear)),
    "request_alone": agent("request_alone", ReduceToolReturns(RULES, persist=False, on_reduce=hear)),
    "processor": agent("processor", history_capability(history_processor(RULES, on_reduce=hear))),
}
