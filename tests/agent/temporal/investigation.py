"""Two Temporal workflows: agents that reduce tool returns, and a processor that the sandbox restricts."""

from __future__ import annotations

import time
from typing import Any

from pydantic_ai.durable_exec.temporal import PydanticAIWorkflow
from temporalio import workflow
from temporalio.exceptions import ApplicationError
from temporalio.worker.workflow_sandbox import RestrictedWorkflowAccessError

with workflow.unsafe.imports_passed_through():
    import yaml  # noqa: F401  # its C extension knows the classes of one import alone

    from tests.agent.agents import contents, returns
    from tests.agent.temporal.agents import AGENTS

from reducer import Reducer
from reducer.agent import history_processor
from reducer.agent.telemetry import workflow as engine
from reducer.rules import compile_rules

RULE = "version: 1\ntool: deep_research\nsteps:\n  - limit: 2\n  - truncate: 30\npreserve: [cve, ip]\n"
ruleset, problems = compile_rules([("rule.yaml", RULE)])
assert ruleset is not None, problems
reduce = history_processor(Reducer(ruleset))


@workflow.defn
class Investigation(PydanticAIWorkflow):
    """Run one of the agents, and fail if the stored tool returns differ from the expected ones."""

    __pydantic_ai_agents__ = tuple(AGENTS.values())

    @workflow.run
    async def run(self, form: str, expected: Any) -> None:
        result = await AGENTS[form].run("Look into it, please.")
        returned = contents(result.all_messages())
        if returned != expected:
            raise ApplicationError(f"{returned} is not {expected}", non_retryable=True)


@workflow.defn
class Restricted:
    """Reduce with a processor that was imported in the sandbox, which blocks clocks, files and the environment."""

    @workflow.run
    async def run(self, articles: list[str], expected: list[str]) -> None:
        try:
            time.time()
        except RestrictedWorkflowAccessError:
            pass
        else:
            raise ApplicationError("the sandbox restricts nothing", non_retryable=True)
        if engine() != "Temporal":
            raise ApplicationError("the workflow is not detected", non_retryable=True)
        (returned,) = contents(reduce(returns(articles, tool="deep_research")))
        if returned != expected:
            raise ApplicationError(f"{returned} is not {expected}", non_retryable=True)
