"""What a terminal shows, and how the command line stops."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Result, history, start

pty = pytest.importorskip("pty")
Cli = Callable[..., Result]
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "100"}


def on_terminal(*arguments: str, **env: str) -> str:
    """Run on a terminal of 100 columns and give what it was sent."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in _ENVIRONMENT.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    done = subprocess.Popen(
        [sys.executable, "-m", "reducer", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, **env},
    )
    os.close(theirs)
    sent = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        sent += piece
    done.wait(timeout=60)
    os.close(ours)
    assert done.returncode == 0, sent
    return sent.decode()


def test_colour_on_a_terminal_only(folder: Path, cli: Cli) -> None:
    assert "\x1b[" in on_terminal("h.json", "--rules", "lookup.yaml", "--format", "diff")
    for format in ("table", "diff", "json"):
        assert "\x1b" not in cli("h.json", "--rules", "lookup.yaml", "--format", format).out


def test_no_color(folder: Path) -> None:
    assert "\x1b" not in on_terminal("h.json", "--rules", "lookup.yaml", NO_COLOR="1")


def test_nothing_is_wider_than_the_terminal(folder: Path) -> None:
    name = "a_tool_with_quite_a_long_name_" * 3
    (folder / "h.json").write_bytes(history((name, "x" * 300), ("lookup", {"recrds": []})))
    text = on_terminal("h.json", "--rules", "lookup.yaml", NO_COLOR="1", COLUMNS="80")
    assert max(len(line.rstrip("\r\n")) for line in text.splitlines()) <= 80
    assert "Saved" in text


def test_names_cannot_steer_the_terminal(folder: Path) -> None:
    (folder / "h.json").write_bytes(
        history(("a\x1b]0;title\x07\u202e\n", "x"), ("lookup", {"records": [{"name": "\x1b[2J"}] * 9}))
    )
    for format in ("table", "diff"):
        text = on_terminal("h.json", "--rules", "lookup.yaml", "--format", format, NO_COLOR="1")
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_a_closed_pipe_is_no_fault(folder: Path) -> None:
    (folder / "many.json").write_bytes(history(*((f"tool_{number}", "x") for number in range(3000))))
    command = [sys.executable, "-m", "reducer", "many.json", "--rules", "lookup.yaml", "--format", "json"]
    done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_ENVIRONMENT)
    assert done.stdout is not None
    assert done.stderr is not None
    done.stdout.read(10)
    done.stdout.close()
    assert done.stderr.read() == b""
    assert done.wait(timeout=60) == 0
    done.stderr.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="has no such device")
def test_an_output_that_is_full_or_closed(folder: Path) -> None:
    command = f"'{sys.executable}' -m reducer h.json --rules lookup.yaml"

    def shell(redirect: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", "-c", f"{command} {redirect}"], capture_output=True, text=True, env=_ENVIRONMENT, timeout=60
        )
        return done.returncode, done.stderr

    assert shell(">/dev/full") == (2, "reducer: error: cannot write: No space left on device\n")
    assert shell(">&-") == (0, "")
    assert shell("- <&-") == (2, "reducer: error: standard input is closed\n")


def test_ctrl_c_is_quiet(folder: Path) -> None:
    os.mkfifo("pipe.json")
    done = start("pipe.json", "--rules", "lookup.yaml", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # Once the pipe can be opened for writing it is being read: everything is imported by then.
    writer = os.open("pipe.json", os.O_WRONLY)
    time.sleep(0.05)
    done.send_signal(signal.SIGINT)
    out, err = done.communicate(timeout=60)
    os.close(writer)
    assert (done.returncode, out, err) == (130, b"", b"")


def test_help_teaches(cli: Cli) -> None:
    text = cli("--help").out
    for example in (
        "python -m reducer session.json --format diff",
        "python -m reducer check rules/",
        "-o reduced.json",
        "--call call_7#2",
    ):
        assert example in text
    assert cli("--help").code == cli("check", "--help").code == 0
