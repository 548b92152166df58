"""`learn`: its output, its files, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.drafting.recordings import write
from tests.cli.conftest import Cli, process


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "histories")


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_drafts_are_written_and_pass_check(recorded: Path, cli: Cli) -> None:
    Path("drafts").mkdir()
    Path("drafts/other.yaml").write_text("version: 1\ntool: other\nmax_chars: 900\n")
    assert cli("learn", "histories").code == 0
    assert names(Path("drafts")) == ["other.yaml"]
    for number in range(16):
        (recorded / f"no{number}.json").write_text('{"no": "history"}' if number % 2 else "{")
    result = cli("learn", "histories", "-o", "drafts")
    assert result.code == 0
    assert result.out.startswith(
        "Read 16 histories, skipped 16 other files or lines.\nLearned from 8, measured on the other 8 (held-out tasks)"
    )
    assert "skipped 13 more" in result.err
    [row] = [line.split() for line in result.out.splitlines() if line.startswith(" list_hosts ")]
    assert (row[1], row[4], row[7]) == ("8", "100.0%", "8")
    assert {"list_hosts.yaml", "samples/list_hosts.json"} <= set(names(Path("drafts")))
    assert cli("check", "--strict", "drafts").code == 0


@pytest.mark.parametrize(
    ("file", "text", "error"),
    [
        ("list_hosts.yaml", "mine", "files are never overwritten, so nothing was written; existing: drafts/list_hosts"),
        ("hosts.yaml", "version: 1\ntool: list_hosts\nmax_chars: 900\n", "\nnothing was written"),
    ],
)
def test_existing_files_are_never_replaced(recorded: Path, cli: Cli, file: str, text: str, error: str) -> None:
    Path("drafts").mkdir()
    Path("drafts", file).write_text(text)
    result = cli("learn", "histories", "-o", "drafts")
    assert result.code == 2
    assert error.replace("\n", "\\n") in result.err
    assert names(Path("drafts")) == [file]
    assert Path("drafts", file).read_text() == text


def test_too_little_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "few", 1)
    result = cli("learn", "few", "-o", "drafts")
    assert result.code == 1
    reasons = result.out.partition("\nTools without a rule of their own\n")[2]
    assert "list_hosts, list_tables: thin evidence: " in reasons
    assert "nothing to draft" in result.err
    assert not Path("drafts").exists()


def test_the_same_histories_give_the_same_bytes(recorded: Path) -> None:
    seen = set()
    for seed in ("1", "2"):
        done = process("learn", "histories", "-o", f"drafts{seed}", env={"PYTHONHASHSEED": seed})
        assert done.code == 0
        folder = Path(f"drafts{seed}")
        seen.add((done.out, *((name, (folder / name).read_bytes()) for name in names(folder))))
    assert len(seen) == 1


def test_without_a_holdout_nothing_is_measured(recorded: Path, cli: Cli) -> None:
    result = cli("learn", "histories", "--holdout", "0")
    assert result.code == 0
    assert "none are left to measure on" in result.out
