"""Temporal's core replays workflows in its sandbox, without a server."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_core import to_jsonable_python

from tests.agent.agents import FORMS, call

pytest.importorskip("temporalio")
temporal = pytest.importorskip("pydantic_ai.durable_exec.temporal")
if not hasattr(temporal, "TemporalDurability"):
    pytest.skip("this PydanticAI has no TemporalDurability", allow_module_level=True)

from temporalio.client import WorkflowHistory  # noqa: E402
from temporalio.worker import Replayer  # noqa: E402

from reducer import Reducer  # noqa: E402
from reducer.agent.telemetry import workflow  # noqa: E402
from tests.agent.temporal.agents import reported  # noqa: E402
from tests.agent.temporal.investigation import Investigation, Restricted, ruleset  # noqa: E402

ARTICLES = [
    "One article.",
    f"Another article, {'which goes on ' * 9} from 192.0.2.1.",
    "A third one, longer than a marker " * 3,
    "CVE-2024-3400 again",
]
QUEUE = {"taskQueue": {"name": "queue"}}
RUN = {"originalExecutionRunId": "run", "firstExecutionRunId": "run", "attempt": 1, "workflowTaskTimeout": "10s"}


def payloads(*values: Any) -> dict[str, Any]:
    """Return values as arguments or results in Temporal's JSON."""
    encoding = {"encoding": base64.b64encode(b"json/plain").decode()}
    data = [base64.b64encode(json.dumps(value).encode()).decode() for value in values]
    return {"payloads": [{"metadata": encoding, "data": one} for one in data]}


def record(workflow: str, *arguments: Any, activities: Iterable[tuple[str, Any]] = ()) -> dict[str, Any]:
    """Return the history of one workflow as a server records it, with the results of its activities."""
    events: list[dict[str, Any]] = []

    def add(kind: str, **attributes: Any) -> str:
        event_type, number = "EVENT_TYPE_" + re.sub("([A-Z])", r"_\1", kind).upper(), str(len(events) + 1)
        event = {"eventId": number, "eventTime": "2026-01-01T00:00:00Z", "eventType": event_type}
        events.append({**event, f"{kind}EventAttributes": attributes})
        return number

    def add_task() -> str:
        """Record that the workflow ran until it had to wait."""
        ids = {"scheduledEventId": add("workflowTaskScheduled", **QUEUE)}
        ids["startedEventId"] = add("workflowTaskStarted", **ids)
        return add("workflowTaskCompleted", **ids)

    started = {"workflowType": {"name": workflow}, "input": payloads(*arguments)}
    add("workflowExecutionStarted", **started, **QUEUE, **RUN)
    completed = add_task()
    for kind, result in activities:
        activity = {"activityId": completed, "activityType": {"name": kind}, **QUEUE}
        ids = {"scheduledEventId": add("activityTaskScheduled", **activity, workflowTaskCompletedEventId=completed)}
        ids["startedEventId"] = add("activityTaskStarted", **ids)
        add("activityTaskCompleted", **ids, result=payloads(result))
        completed = add_task()
    add("workflowExecutionCompleted", result=payloads(None), workflowTaskCompletedEventId=completed)
    return {"events": events}


CALL, DONE = to_jsonable_python([ModelResponse([call("deep_research")]), ModelResponse([TextPart("Done.")])])


def replayed(events: dict[str, Any]) -> BaseException | None:
    """Replay a history in the sandbox and return the failure of the replay."""
    # `debug_mode` switches off the deadlock detection, which fails on a busy machine. The sandbox stays on, as the last
    # test checks.
    replayer = Replayer(workflows=[Investigation, Restricted], plugins=[temporal.PydanticAIPlugin()], debug_mode=True)
    history = WorkflowHistory.from_json("workflow", events)
    return asyncio.run(replayer.replay_workflow(history, raise_on_replay_failure=False)).replay_failure


def investigation(form: str, expected: Any) -> dict[str, Any]:
    agent = f"agent__{form.replace(' ', '_')}"
    ask, use = f"{agent}__model_request", f"{agent}__toolset__<agent>__call_tool"
    turn = [(ask, CALL), (use, {"kind": "tool_return", "result": ARTICLES})]
    return record("Investigation", form, expected, activities=[*turn, *turn, (ask, DONE)])


@pytest.mark.parametrize("form", FORMS)
def test_a_workflow_is_replayed(form: str) -> None:
    reported.clear()
    stored = ARTICLES if form == "request alone" else [*ARTICLES[:2], "…[2 more items]"]
    assert replayed(investigation(form, [stored, stored])) is None
    assert [(place, reduction.before > reduction.after) for place, reduction in reported] == [("Temporal", True)] * 2
    assert workflow() == ""


def test_a_replay_with_other_contents_fails() -> None:
    assert "Nondeterminism" in repr(replayed(investigation("capability", [ARTICLES, ARTICLES])))


def test_the_sandbox_permits_what_the_processor_does() -> None:
    kept = Reducer(ruleset).reduce_content("deep_research", ARTICLES)
    assert len(str(kept)) < len(str(ARTICLES))
    assert replayed(record("Restricted", ARTICLES, kept)) is None
    assert replayed(record("Restricted", ARTICLES, [])) is not None
