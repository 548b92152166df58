"""`learn`: its output, its files, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.drafting.recordings import write
from tests.cli.conftest import Cli, process


@pytest.fixture
def recorded(folder: Path) -> Path:
    (folder / "drafts").mkdir()
    return write(folder / "histories")


def files(folder: str) -> dict[str, bytes]:
    """Return the contents of the files in a folder by their names."""
    found = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_drafts_are_written_and_pass_check(recorded: Path, cli: Cli) -> None:
    Path("drafts/other.yaml").write_text("version: 1\ntool: other\nmax_chars: 900\n")
    assert cli("learn", "histories").code == 0
    assert [*files("drafts")] == ["other.yaml"]
    for number in range(16):
        (recorded / f"no{number}.json").write_text('{"no": "history"}' if number % 2 else "{")
    result = cli("learn", "histories", "-o", "drafts")
    assert result.code == 0
    assert result.out.startswith(
        "Read 16 histories, skipped 16 other files or lines.\nLearned from 8, measured on the other 8 (held-out tasks)"
    )
    assert "skipped 13 more" in result.err
    [row] = [line.split() for line in result.out.splitlines() if line.startswith(" list_hosts ")]
    assert (row[1], row[3], row[6]) == ("8", "100.0%", "8")
    assert {"list_hosts.yaml", "samples/list_hosts.json"} <= set(files("drafts"))
    assert cli("check", "--strict", "drafts").code == 0


@pytest.mark.parametrize(
    ("file", "text", "error"),
    [
        ("list_hosts.yaml", "mine", "nothing was written because these files exist: drafts/list_hosts"),
        ("hosts.yaml", "version: 1\ntool: list_hosts\nmax_chars: 900\n", "1 error in the rules; nothing was written"),
    ],
)
def test_existing_files_are_never_replaced(recorded: Path, cli: Cli, file: str, text: str, error: str) -> None:
    Path("drafts", file).write_text(text)
    result = cli("learn", "histories", "-o", "drafts")
    assert result.code == 2
    assert error in result.err
    assert files("drafts") == {file: text.encode()}


def test_too_little_evidence(folder: Path, cli: Cli) -> None:
    write(folder / "few", 1)
    result = cli("learn", "few", "-o", "drafts")
    assert result.code == 1
    reasons = result.out.partition("\nTools without a rule of their own\n")[2]
    assert "list_hosts, list_tables: little evidence: " in reasons
    assert "nothing to draft" in result.err
    assert not Path("drafts").exists()


def test_the_same_histories_give_the_same_bytes(recorded: Path) -> None:
    runs = [process("learn", "histories", "-o", seed, env={"PYTHONHASHSEED": seed}) for seed in "12"]
    assert [run.code for run in runs] == [0, 0]
    assert runs[0].out == runs[1].out
    assert files("1") == files("2")


def test_without_a_holdout_nothing_is_measured(recorded: Path, cli: Cli) -> None:
    result = cli("learn", "histories", "--holdout", "0")
    assert result.code == 0
    assert "no histories are held out" in result.out
