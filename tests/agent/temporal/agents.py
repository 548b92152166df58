"""Agents that reduce tool returns. A workflow imports this file past the sandbox, because it reads rule files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.durable_exec.temporal import TemporalDurability

from reducer.agent import ReduceToolReturns, Reduction, history_processor
from reducer.agent.telemetry import workflow
from tests.agent.agents import analyst, history_capability, script

RULES = Path(__file__).parent / "rules"

reported: list[tuple[str, Reduction]] = []


def report(reduction: Reduction) -> None:
    reported.append((workflow(), reduction))


def agent(name: str, *capabilities: Any) -> Agent[None, str]:
    """Return an agent whose model is called in activities only."""
    return analyst(script(), *capabilities, TemporalDurability(), name=name)


AGENTS = {
    "capability": agent("capability", ReduceToolReturns(RULES, on_reduce=report)),
    "request_alone": agent("request_alone", ReduceToolReturns(RULES, persist=False, on_reduce=report)),
    "processor": agent("processor", history_capability(history_processor(RULES, on_reduce=report))),
}
