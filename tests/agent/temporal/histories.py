"""Histories of Temporal workflows as a server records them: the results of activities, and the completion."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

QUEUE = {"taskQueue": {"name": "queue"}}
RUN = {"originalExecutionRunId": "run", "firstExecutionRunId": "run", "attempt": 1, "workflowTaskTimeout": "10s"}


def payloads(*values: Any) -> dict[str, Any]:
    """Return values as arguments or results in Temporal's JSON."""
    encoding = {"encoding": base64.b64encode(b"json/plain").decode()}
    data = [base64.b64encode(json.dumps(value).encode()).decode() for value in values]
    return {"payloads": [{"metadata": encoding, "data": one} for one in data]}


class Record:
    """The events of one workflow, in order."""

    def __init__(self, workflow: str, *arguments: Any) -> None:
        self.events: list[dict[str, Any]] = []
        started = {"workflowType": {"name": workflow}, "input": payloads(*arguments)}
        self._add("workflowExecutionStarted", {**started, **QUEUE, **RUN})
        self._task()

    def activity(self, kind: str, result: Any) -> None:
        """Record that the workflow scheduled an activity, and its result."""
        activity = {"activityId": str(len(self.events)), "activityType": {"name": kind}, **QUEUE}
        scheduled = self._add("activityTaskScheduled", {**activity, "workflowTaskCompletedEventId": self._last()})
        started = self._add("activityTaskStarted", {"scheduledEventId": scheduled})
        ids = {"scheduledEventId": scheduled, "startedEventId": started}
        self._add("activityTaskCompleted", {**ids, "result": payloads(result)})
        self._task()

    def completed(self) -> dict[str, Any]:
        """Record the completion of the workflow, and return its history."""
        result = {"result": payloads(None), "workflowTaskCompletedEventId": self._last()}
        self._add("workflowExecutionCompleted", result)
        return {"events": self.events}

    def _task(self) -> None:
        scheduled = self._add("workflowTaskScheduled", QUEUE)
        started = self._add("workflowTaskStarted", {"scheduledEventId": scheduled})
        self._add("workflowTaskCompleted", {"scheduledEventId": scheduled, "startedEventId": started})

    def _add(self, kind: str, attributes: dict[str, Any]) -> str:
        type = "EVENT_TYPE_" + re.sub("([A-Z])", r"_\1", kind).upper()
        event = {"eventId": str(len(self.events) + 1), "eventTime": "2026-01-01T00:00:00Z", "eventType": type}
        self.events.append({**event, f"{kind}EventAttributes": attributes})
        return self._last()

    def _last(self) -> str:
        return str(len(self.events))
