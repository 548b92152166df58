"""`compare`: rule sets and baselines side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result, process

Cli = Callable[..., Result]


def _contenders(result: Result) -> dict[str, dict[str, dict[str, float]]]:
    assert result.code == 0, result.err
    return {row["name"]: row for row in json.loads(result.out)["contenders"]}


@pytest.fixture
def two(used: Path) -> Path:
    """Write a second rule set, which takes nothing that was used."""
    (used / "mild.yaml").write_text("version: 1\ntool: lookup\nsteps:\n  - path: records\n    drop: raw\n")
    return used


def test_rule_sets_and_baselines_are_scored(two: Path, cli: Cli) -> None:
    found = _contenders(
        cli(
            "compare",
            "h.json",
            "--rules",
            "lookup.yaml",
            "--rules",
            "mild.yaml",
            "--baseline",
            "truncate:400",
            "--format",
            "json",
        )
    )
    assert list(found) == ["as recorded", "lookup.yaml", "mild.yaml", "truncate:400"]
    assert {name: row["references"] for name, row in found.items()} == {
        "as recorded": {"novel": 2, "kept": 2},
        "lookup.yaml": {"novel": 2, "kept": 1},
        "mild.yaml": {"novel": 2, "kept": 2},
        "truncate:400": {"novel": 2, "kept": 1},
    }
    assert found["truncate:400"]["characters"]["after"] == 400
    assert found["as recorded"]["cost"]["share"] == 1
    assert found["mild.yaml"]["cost"]["share"] < 1


def test_the_table_has_a_row_for_each(used: Path, cli: Cli) -> None:
    out = cli("compare", "h.json", "--rules", "lookup.yaml", "--baseline", "head:3").out
    assert [line.split()[0] for line in out.splitlines() if "%" in line] == ["as", "lookup.yaml", "head:3"]
    assert "Read     1 history" in out


def test_json_lines_and_what_is_no_history(used: Path) -> None:
    line = json.dumps(json.loads((used / "h.json").read_bytes()))
    (used / "many.jsonl").write_text(f"{line}\n\nnonsense\n{line}\n")
    result = process(
        "compare", "many.jsonl", "h.json", "--rules", "lookup.yaml", "--baseline", "head:3", "--format", "json"
    )
    assert result.code == 0
    assert json.loads(result.out)["histories"] == 3
    assert json.loads(result.out)["skipped"] == 1
    assert result.err.startswith("reducer: skipped many.jsonl:3: not JSON")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ("h.json", "--baseline", "trunc:5"),
            "unknown baseline trunc:5: expected one such as truncate:2000, head:5 or keep-last:5",
        ),
        (("lookup.yaml", "--rules", "lookup.yaml"), "no history in lookup.yaml"),
        (
            ("h.json", "--cache-prices", "x"),
            "--cache-prices x: expected three numbers such as 0.1,1.25,1 (read, write, uncached)",
        ),
    ],
)
def test_wrong_arguments(used: Path, cli: Cli, arguments: tuple[str, ...], error: str) -> None:
    result = cli("compare", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"reducer: error: {error}\n")


def test_a_missing_file_is_told_and_the_rest_is_compared(used: Path, cli: Cli) -> None:
    result = cli("compare", "gone.json", "h.json", "--rules", "lookup.yaml")
    assert result.code == 2
    assert "gone.json: No such file" in result.err
    assert "as recorded" in result.out


def test_the_bundled_sample_is_compared_when_nothing_is_given(cli: Cli) -> None:
    result = cli("compare")
    assert result.code == 0
    assert "the rules bundled with reducer" in result.out
    assert result.err == "reducer: this was the sample; give a HISTORY to see your own (--help shows how)\n"
