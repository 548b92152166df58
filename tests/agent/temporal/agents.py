"""Agents that reduce tool returns. Workflows import this file outside of the sandbox, because it reads rule files."""

from __future__ import annotations

from pathlib import Path

from pydantic_ai.durable_exec.temporal import TemporalDurability

from reducer.agent import Reduction
from reducer.agent.telemetry import workflow
from tests.agent.agents import FORMS, analyst, reducing, script

RULES = Path(__file__).parent / "rules"

reported: list[tuple[str, Reduction]] = []


def report(reduction: Reduction) -> None:
    reported.append((workflow(), reduction))


# The model of each agent is called in activities only.
AGENTS = {
    form: analyst(script(), reducing(form, RULES, on_reduce=report), TemporalDurability(), name=form.replace(" ", "_"))
    for form in FORMS
}
