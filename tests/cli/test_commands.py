"""Verbs for rules as examples: commands with what they print, and commands that cannot run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Result

GROUPS = yaml.safe_load((Path(__file__).parent / "commands.yaml").read_text())
RUNS = [(group["files"], run) for group in GROUPS for run in group.get("runs", ())]
REFUSED = [(group["files"], *refused) for group in GROUPS for refused in group.get("refused", {}).items()]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode("latin-1"))


@pytest.mark.parametrize(("files", "run"), RUNS, ids=[run["run"] for _, run in RUNS])
def test_commands(folder: Path, cli: Callable[..., Result], files: dict[str, str], run: dict[str, Any]) -> None:
    write(folder, files)
    result = cli(*run["run"].split())
    assert (result.code, result.out.rstrip("\n"), result.err) == (run.get("code", 0), run["out"].rstrip("\n"), "")


@pytest.mark.parametrize(("files", "command", "error"), REFUSED, ids=[command for _, command, _ in REFUSED])
def test_refused(folder: Path, cli: Callable[..., Result], files: dict[str, str], command: str, error: str) -> None:
    write(folder, files)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    result = cli(*command.split())
    assert (result.code, result.out) == (2, "")
    assert error in result.err
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
