"""`serve` starts and ends the workbench, and says why it cannot."""

from __future__ import annotations

import re
import signal
import socket
import stat
import subprocess
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from reducer.cli.serve import _folder, _open
from reducer.files import rule_files
from tests.cli.conftest import ENVIRONMENT, RULE, Cli, start

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


@pytest.fixture
def rules(folder: Path) -> Path:
    """Add the folder `rules` with a rule to the current folder."""
    (folder / "rules").mkdir()
    (folder / "rules" / "lookup.yaml").write_text(RULE)
    return folder


def test_serve_prints_an_address_and_ends_with_an_interrupt(rules: Path) -> None:
    (rules / "empty.json").write_text(" ")
    with start("serve", "h.json", "empty.json", "--port", "0", "--no-open", **PIPES) as process:
        assert process.stdout is not None
        printed = process.stdout.readline()
        found = re.fullmatch(r"rules: (http://127\.0\.0\.1:\d+/)#([\w-]{32})\n", printed)
        assert found, printed
        with urlopen(Request(f"{found[1]}api/rules", headers={"X-Reducer-Token": found[2]}), timeout=30) as answer:
            assert b'"rule": "lookup.yaml"' in answer.read()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    skipped = "reducer: skipped empty.json: empty; expected a history or a sample"
    assert sorted(err.splitlines()) == ["reducer: press Ctrl-C to stop", skipped]


def test_a_port_in_use_is_reported(folder: Path, cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = cli("serve", "--rules", ".", "--port", str(port), "--no-open")
    message = "Address already in use; end the other workbench, or choose another port such as 0"
    assert (result.code, f"error: --port {port}: {message}" in result.err) == (2, True)


def test_a_missing_browser_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    _open("file:///redirect.html")
    assert capsys.readouterr().err == "reducer: no browser found; open the address above\n"


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM])
def test_the_command_line_of_the_browser_contains_no_token(rules: Path, ended_by: signal.Signals) -> None:
    (rules / "browser").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\" > shown.txt\n")
    (rules / "browser").chmod(0o700)
    environment = {**ENVIRONMENT, "BROWSER": "./browser %s", "TMPDIR": str(rules)}
    with start("serve", "--port", "0", **PIPES, env=environment) as process:
        assert process.stdout is not None
        address = process.stdout.readline().partition(": ")[2].strip()
        token = address.partition("#")[2]
        shown = rules / "shown.txt"
        while not (shown.exists() and shown.read_text().endswith("\n")):
            assert process.poll() is None
        url = shown.read_text().strip()
        assert (url.startswith("file://"), token in url) == (True, False)
        file = Path(url.removeprefix("file://"))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert address in file.read_text()
        process.send_signal(ended_by)
        process.communicate(timeout=30)
    assert (process.returncode, file.exists(), file.parent.exists()) == (0, False, False)


@pytest.mark.parametrize("name", ["builtin", "builtin:web", "builtin:general"])
def test_built_in_rules_are_opened_to_read(name: str) -> None:
    folder, why_not = _folder(name, can_write=False)
    assert rule_files(name) == [file.absolute() for file in rule_files(folder)]
    copy = "copy those that you need to ./rules with `rules add NAME`, and open it with `serve --write`"
    assert why_not == f"these rules come with reducer; {copy}"
