"""Recorded histories for tests, with known uses of each answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Step = tuple[str, Any, str]
"""A tool, its return, and the text that the agent writes afterwards."""


def recording(asked: str, *steps: Step) -> bytes:
    """Write a stored history."""
    messages: list[dict[str, Any]] = [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": asked}]}]
    for number, (tool, content, said) in enumerate(steps):
        id = f"c{number}"
        call = {"part_kind": "tool-call", "tool_name": tool, "args": {}, "tool_call_id": id}
        messages.append({"kind": "response", "parts": [call]})
        answer = {"part_kind": "tool-return", "tool_name": tool, "content": content, "tool_call_id": id}
        messages.append({"kind": "request", "parts": [answer]})
        if said:
            messages.append({"kind": "response", "parts": [{"part_kind": "text", "content": said}]})
            messages.append({"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Go on."}]})
    return json.dumps(messages).encode()


def hosts(task: int, used: Sequence[int] = (0, 1)) -> Step:
    """An inventory of forty hosts; the agent names some of them and never uses the long fingerprints."""
    content = [
        {
            "host": f"srv-{task}-{number}.corp",
            "owner": f"team{task}x{number}",
            "fingerprint": f"{task:02x}{number:02x}" * 20,
            "note": "seen again " * 8,
        }
        for number in range(40)
    ]
    said = " and ".join(f"srv-{task}-{number}.corp of team{task}x{number}" for number in used)
    return "list_hosts", content, f"Look at {said}"


def schema(task: int) -> Step:
    """A listing of 20 tables; the agent uses all of them."""
    content = {"tables": [{"name": f"table_{task}_{number}"} for number in range(20)]}
    return "list_tables", content, "I read " + ", ".join(f"table_{task}_{number}" for number in range(20))


def write(folder: Path, count: int = 16, used: Sequence[int] = (0, 1)) -> Path:
    """Write recordings to a new folder."""
    folder.mkdir(parents=True)
    for task in range(count):
        (folder / f"{task}.json").write_bytes(
            recording(f"What is wrong in site {task}?", schema(task), hosts(task, used), ("ping", "ok", "Fine."))
        )
    return folder
