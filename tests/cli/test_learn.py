"""`learn` on the command line: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.analysis.drafting.recordings import write
from tests.cli.conftest import Result, process

Cli = Callable[..., Result]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "histories")


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_drafts_are_written_and_pass_check(recorded: Path, cli: Cli) -> None:
    result = cli("learn", "histories", "-o", "drafts")
    assert result.code == 0
    assert "Learned from 8, measured on the other 8" in result.out
    assert "list_hosts" in result.out
    assert "list_hosts.yaml" in names(Path("drafts"))
    assert "samples/list_hosts.json" in names(Path("drafts"))
    assert cli("check", "--strict", "drafts").code == 0
    assert list(Path().glob(".*")) == []


def test_without_output_nothing_is_written(recorded: Path, cli: Cli) -> None:
    assert cli("learn", "histories").code == 0
    assert [path.name for path in Path().iterdir()] == ["histories"]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("list_hosts.yaml", "mine", ["list_hosts.yaml", "files are never overwritten"]),
        ("hosts.yaml", "version: 1\ntool: list_hosts\nmax_chars: 900\n", ["list_hosts", "nothing was written"]),
    ],
    ids=["a file of that name", "a rule for the same tool"],
)
def test_what_is_there_is_never_replaced(recorded: Path, cli: Cli, file: str, text: str, said: list[str]) -> None:
    Path("drafts").mkdir()
    Path("drafts", file).write_text(text)
    result = cli("learn", "histories", "-o", "drafts")
    assert result.code == 2
    assert [words for words in said if words not in result.err] == []
    assert names(Path("drafts")) == [file]
    assert Path("drafts", file).read_text() == text


def test_rules_for_other_tools_are_no_hindrance(recorded: Path, cli: Cli) -> None:
    Path("drafts").mkdir()
    Path("drafts/other.yaml").write_text("version: 1\ntool: other\nmax_chars: 900\n")
    assert cli("learn", "histories", "-o", "drafts").code == 0
    assert {"other.yaml", "list_hosts.yaml"} <= set(names(Path("drafts")))


def test_what_is_no_history_is_counted_and_the_rest_is_used(recorded: Path, cli: Cli) -> None:
    for number in range(16):
        (recorded / f"no{number}.json").write_text('{"no": "history"}' if number % 2 else "{")
    result = cli("learn", "histories", "-o", "drafts")
    assert result.code == 0
    assert "Read 16 histories, skipped 16 other files or lines." in result.out
    assert "skipped 13 more" in result.err


def test_json_lines_are_read(recorded: Path, cli: Cli) -> None:
    lines = [json.dumps(json.loads(file.read_bytes())) for file in sorted(recorded.glob("*.json"))]
    Path("all.jsonl").write_text("\n".join([*lines, "no history", ""]))
    result = cli("learn", "all.jsonl", "--format", "json")
    told = json.loads(result.out)
    assert result.code == 0
    assert told["histories"] == {"learned_from": 8, "measured": 8, "skipped": 1}
    assert told["tools"]["list_hosts"]["measured"]["saved"] > 0.8


def test_nothing_to_learn_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "few", 1)
    result = cli("learn", "few", "-o", "drafts")
    assert result.code == 1
    assert "nothing to draft" in result.err
    assert not Path("drafts").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["learn", "missing"], "missing: No such file or directory"),
        (["learn", "empty"], "files (plain, .gz or .zst) in this folder"),
        (["learn", "none.json"], "no history in none.json"),
        (["learn", "histories", "--keep", "0"], "expected a share above 0"),
        (["learn", "histories", "--keep", "x"], "expected a share such as 95% or 0.95, not x"),
        (["learn", "histories", "--keep", "nan"], "expected a share such as 95% or 0.95, not nan"),
        (["learn", "histories", "--holdout", "1"], "expected a share below 100%"),
        (["learn", "histories", "-o", "none.json"], "none.json"),
    ],
)
def test_wrong_input(recorded: Path, cli: Cli, arguments: list[str], said: str) -> None:
    Path("none.json").write_text("{}")
    Path("empty").mkdir()
    result = cli(*arguments)
    assert result.code == 2
    assert said in result.err
    assert result.out == ""


def test_the_same_histories_give_the_same_bytes(recorded: Path) -> None:
    seen = set()
    for seed in ("1", "2"):
        done = process("learn", "histories", "-o", f"drafts{seed}", env={"PYTHONHASHSEED": seed, "COLUMNS": "120"})
        assert done.code == 0
        folder = Path(f"drafts{seed}")
        seen.add((done.out, *((name, (folder / name).read_bytes()) for name in names(folder))))
    assert len(seen) == 1


def test_learning_from_everything_measures_nothing(recorded: Path, cli: Cli) -> None:
    result = cli("learn", "histories", "--holdout", "0")
    assert result.code == 0
    assert "none are left to measure on" in result.out
