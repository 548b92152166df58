"""Histories of Temporal workflows as a server records them: the results of activities, and the completion."""

from __future__ import annotations

import base64
import json
from typing import Any


def payloads(*values: Any) -> dict[str, Any]:
    """Return values as arguments or results in Temporal's JSON."""
    encoding = base64.b64encode(b"json/plain").decode()
    return {
        "payloads": [
            {"metadata": {"encoding": encoding}, "data": base64.b64encode(json.dumps(value).encode()).decode()}
            for value in values
        ]
    }


class Record:
    """The events of one workflow, in order."""

    def __init__(self, workflow: str, *arguments: Any) -> None:
        self.events: list[dict[str, Any]] = []
        self._activities = 0
        queue = {"name": "queue"}
        self._queue = {"taskQueue": queue}
        run = {
            "originalExecutionRunId": "run",
            "firstExecutionRunId": "run",
            "attempt": 1,
            "workflowTaskTimeout": "10s",
        }
        self._add(
            "workflowExecutionStarted",
            {"workflowType": {"name": workflow}, **self._queue, "input": payloads(*arguments), **run},
        )
        self._task()

    def activity(self, kind: str, result: Any) -> None:
        """Record that the workflow scheduled an activity, and its result."""
        self._activities += 1
        number = str(self._activities)
        asked = {
            "activityId": number,
            "activityType": {"name": kind},
            **self._queue,
            "workflowTaskCompletedEventId": str(len(self.events)),
        }
        scheduled = self._add("activityTaskScheduled", asked)
        started = self._add("activityTaskStarted", {"scheduledEventId": scheduled})
        self._add(
            "activityTaskCompleted",
            {"scheduledEventId": scheduled, "startedEventId": started, "result": payloads(result)},
        )
        self._task()

    def completed(self) -> dict[str, Any]:
        """Record the completion of the workflow, and return its history."""
        self._add(
            "workflowExecutionCompleted",
            {"result": payloads(None), "workflowTaskCompletedEventId": str(len(self.events))},
        )
        return {"events": self.events}

    def _task(self) -> None:
        scheduled = self._add("workflowTaskScheduled", self._queue)
        started = self._add("workflowTaskStarted", {"scheduledEventId": scheduled})
        self._add("workflowTaskCompleted", {"scheduledEventId": scheduled, "startedEventId": started})

    def _add(self, kind: str, attributes: dict[str, Any]) -> str:
        number = str(len(self.events) + 1)
        words = "".join(f"_{letter}" if letter.isupper() else letter for letter in kind).upper()
        event = {
            "eventId": number,
            "eventTime": "2026-01-01T00:00:00Z",
            "eventType": f"EVENT_TYPE_{words}",
            f"{kind}EventAttributes": attributes,
        }
        self.events.append(event)
        return number
