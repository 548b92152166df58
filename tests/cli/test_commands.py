"""Examples of commands with their output, and commands that cannot run."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from reducer.archive import Archive
from tests.cli.conftest import RULE, Cli, history

GROUPS = [
    group
    for name in ("commands.yaml", "bad_input.yaml")
    for group in yaml.safe_load((Path(__file__).parent / name).read_text())
]
RUNS = [(group["files"], run) for group in GROUPS for run in group.get("runs", ())]
REFUSED = [(group["files"], *refused) for group in GROUPS for refused in group.get("refused", {}).items()]


def write(folder: Path, files: dict[str, Any]) -> None:
    """Write texts, JSON values, and histories with `returns: [[call id, tool, content], …]` and a last `text`."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            data = content.encode("latin-1")
        elif "returns" in content:
            ids, tools, contents = zip(*content["returns"], strict=True)
            data = history(*zip(tools, contents, strict=True), ids=ids, text=content.get("text", ""))
        else:
            data = json.dumps(content).encode()
        (folder / name).write_bytes(data)


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the bytes of all files except the temporary files of SQLite."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("returns.db-"))
    return {path: path.read_bytes() for path in files}


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines() if line.strip()]


@pytest.mark.parametrize(("files", "run"), RUNS, ids=[run["run"] for _, run in RUNS])
def test_commands(folder: Path, cli: Cli, files: dict[str, Any], run: dict[str, Any]) -> None:
    write(folder, files)
    before = contents(folder)
    result = cli(*shlex.split(run["run"]))
    assert (result.code, lines(result.err)) == (run.get("code", 0), lines(run.get("err", "")))
    if "json" in run:
        assert result.json == run["json"]
    elif "has" in run:
        assert [part for part in run["has"] if part not in result.out] == []
    else:
        assert lines(result.out) == lines(run["out"])
    written = {folder / name: text.encode() for name, text in run.get("writes", {}).items()}
    assert contents(folder) == {**before, **written}


@pytest.fixture(scope="module")
def empty_archive(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("archive") / "returns.db"
    Archive(file).close()
    return file.read_bytes()


@pytest.mark.parametrize(("files", "command", "error"), REFUSED, ids=[command for _, command, _ in REFUSED])
def test_refused(folder: Path, cli: Cli, empty_archive: bytes, files: dict[str, Any], command: str, error: str) -> None:
    if not command.startswith(("check", "try")):
        write(folder, {"rules/lookup.yaml": RULE})  # to load the built-in rules takes longer
    write(folder, files)
    Path("returns.db").write_bytes(empty_archive)
    before = contents(folder)
    result = cli(*shlex.split(command))
    assert result.code == 2
    assert result.out == "" or command.startswith("restore")
    if error.startswith("…"):
        assert error[1:] in result.err
    else:
        assert result.err.splitlines()[-1].partition("error: ")[2].startswith(error)
    assert contents(folder) == before
