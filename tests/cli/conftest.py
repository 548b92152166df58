from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from reducer.cli import main

ROOT = Path(__file__).parents[2]
SESSIONS = sorted((ROOT / "tests" / "histories" / "data").glob("session_*.json"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}


@dataclass(frozen=True)
class Result:
    """The exit code and the output of a run."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out, self.err
        return json.loads(self.out)


Cli = Callable[..., Result]


def history(*returns: tuple[str, Any], ids: Sequence[str] = (), text: str = "") -> bytes:
    """Return a stored history with one request for each tool return, and a final `text` of the agent.

    Call ids are c1, c2, … unless given.
    """
    messages: list[dict[str, Any]] = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "What is it?"}]}
    ]
    for number, (tool, content) in enumerate(returns):
        names = {"tool_name": tool, "tool_call_id": ids[number] if ids else f"c{number + 1}"}
        messages.append({"kind": "response", "parts": [{"part_kind": "tool-call", "args": {}, **names}]})
        part = {"part_kind": "tool-return", "content": content, "outcome": "success", **names}
        messages.append({"kind": "request", "parts": [part]})
    if text:
        messages.append({"kind": "response", "parts": [{"part_kind": "text", "content": text}]})
    return json.dumps(messages).encode()


RECORDS = [{"name": f"host{number}", "seen": f"2024-01-{number % 28 + 1:02}", "raw": "x" * 50} for number in range(30)]
LONG = history(("lookup", {"records": RECORDS}))
RULE = """\
version: 1
tool: lookup
steps:
  - path: records
    limit: 5
  - path: records
    keep: [name, seen]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with `h.json`, a history of one return that `lookup.yaml` shortens."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.json").write_bytes(LONG)
    (tmp_path / "lookup.yaml").write_text(RULE)
    return tmp_path


@pytest.fixture
def used(folder: Path) -> Path:
    """Add a message to `h.json` that uses two hosts; `lookup.yaml` removes one of them."""
    text = "Look at host3-a, no: at host3 and host29."
    (folder / "h.json").write_bytes(history(("lookup", {"records": RECORDS}), text=text))
    return folder


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the command line in this process."""

    def run(*arguments: str, stdin: bytes = b"") -> Result:
        capfd.readouterr()
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin)))
        code = main(list(arguments))
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return Result(code, out, err)

    return run


def start(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start the command line as a process that reacts to Ctrl-C even if this process ignores it."""
    command = [sys.executable, "-m", "reducer", *arguments]
    react = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    return subprocess.Popen(command, **{"env": ENVIRONMENT, "preexec_fn": react, **options})


def process(*arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Result:
    """Run the command line as a process, in the current folder."""
    command = [sys.executable, "-m", "reducer", *arguments]
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "utf-8", **(env or {})}
    done = subprocess.run(command, input=stdin, capture_output=True, env=environment, timeout=60)
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err
    return Result(done.returncode, out, err)
