"""The dry run measures what rules cost, and fails where it is told to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]


def test_the_table_says_what_rules_cost(used: Path, cli: Cli) -> None:
    out = cli("h.json", "--rules", "lookup.yaml").out
    assert "References 50.0% kept: 1 of 2 values that the agent used later" in out
    assert (
        "host29: from lookup c1 at records[29].name, used in message 3, removed by lookup.yaml:4 limit records" in out
    )
    assert "with prompt cache: " in out


def test_the_page_has_the_same_numbers(used: Path, cli: Cli) -> None:
    out = cli("h.json", "--rules", "lookup.yaml", "--format", "html").out
    assert "50.0% kept: 1 of 2 values that the agent used later" in out
    assert "<li>host29: from lookup c1 at records[29].name, used in message 3, removed by lookup.yaml:4 " in out
    saved = json.loads(cli("h.json", "--rules", "lookup.yaml", "--format", "json").out)["totals"]["characters"]["saved"]
    assert f"<td>{saved:.1%}</td>" in out
    assert "<h2>Nothing needs attention.</h2>" in out


def test_the_page_escapes_what_it_shows(folder: Path, cli: Cli) -> None:
    text = (folder / "h.json").read_text()
    (folder / "h.json").write_text(text.replace("lookup", "<script>"))
    out = cli("h.json", "--rules", "lookup.yaml", "--format", "html").out
    assert "&lt;script&gt;" in out
    assert "<script" not in out


def test_json_has_the_same_numbers(used: Path, cli: Cli) -> None:
    found = json.loads(cli("h.json", "--rules", "lookup.yaml", "--format", "json").out)["measures"]
    assert found["references"]["share"] == 0.5
    assert [lost["value"] for lost in found["references"]["lost"]] == ["host29"]
    assert found["cost"]["recorded"]["requests"] == found["cost"]["reduced"]["requests"] == 2
    assert found["cost"]["reduced"]["changes"] == 0


@pytest.mark.parametrize(
    ("floor", "code", "told"),
    [
        ("references=50%", 0, ""),
        ("references=51%,saved=10%", 1, "reducer: references: 50.0% is below the required 51%\n"),
        ("saved=99.5%", 1, "reducer: saved: "),
        ("entities=100%", 0, ""),
    ],
)
def test_fail_under(used: Path, cli: Cli, floor: str, code: int, told: str) -> None:
    result = cli("h.json", "--rules", "lookup.yaml", "--fail-under", floor)
    assert result.code == code
    assert result.err.startswith(told)
    assert bool(result.err) == bool(told)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--fail-under", "reference=5%"), "--fail-under: unknown measure reference; did you mean references?"),
        (("--fail-under", "cost=5%"), "--fail-under: unknown measure cost; available: references, entities, saved"),
        (("--fail-under", "saved=0.6"), "--fail-under saved=0.6: expected a share such as saved=98%"),
        (("--fail-under", "saved=160%"), "--fail-under saved=160%: expected a share such as saved=98%"),
        (
            ("--fail-under", "references=5%", "--no-measures"),
            "--fail-under: references is not measured in this run; add --measures",
        ),
        (
            ("--cache-prices", "1,2"),
            "--cache-prices 1,2: expected three numbers such as 0.1,1.25,1 (read, write, uncached)",
        ),
        (
            ("--cache-prices", "1,-2,3"),
            "--cache-prices 1,-2,3: expected three numbers such as 0.1,1.25,1 (read, write, uncached)",
        ),
    ],
)
def test_wrong_arguments(used: Path, cli: Cli, arguments: tuple[str, ...], error: str) -> None:
    result = cli("h.json", "--rules", "lookup.yaml", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"reducer: error: {error}\n")


def test_cache_prices_change_the_cost(used: Path, cli: Cli) -> None:
    def cached(*more: str) -> int:
        found = json.loads(cli("h.json", "--rules", "lookup.yaml", "--format", "json", *more).out)
        number: int = found["measures"]["cost"]["recorded"]["cached"]
        return number

    assert cached("--cache-prices", "0,2.5,1") > cached() > 0


def test_nothing_is_measured_when_a_history_is_written_unless_asked(used: Path, cli: Cli) -> None:
    assert "What the rules cost" not in cli("h.json", "--rules", "lookup.yaml", "-o", "new.json").out
    assert "What the rules cost" in cli("h.json", "--rules", "lookup.yaml", "-o", "new.json", "--measures").out
    assert "What the rules cost" not in cli("h.json", "--rules", "lookup.yaml", "--no-measures").out


def test_json_lines_are_measured_too_by_several_processes_as_by_one(used: Path, cli: Cli) -> None:
    line = json.dumps(json.loads((used / "h.json").read_bytes()))
    (used / "many.jsonl").write_text(f"{line}\n" * 5)
    one = cli("many.jsonl", "--rules", "lookup.yaml", "--format", "json")
    two = cli("many.jsonl", "--rules", "lookup.yaml", "--format", "json", "--jobs", "2")
    assert json.loads(one.out)["measures"]["references"]["novel"] == 10
    assert one.out == two.out


def test_what_always_keep_saved_is_counted(used: Path, cli: Cli) -> None:
    (used / "spare.yaml").write_text(
        "version: 1\ntool: lookup\nsteps:\n  - path: records\n    limit: 5\n    always_keep: name == 'host29'\n"
    )
    assert (
        "    spare.yaml:4 limit records: 1 item for `name == 'host29'`\n" in cli("h.json", "--rules", "spare.yaml").out
    )
    found = json.loads(cli("h.json", "--rules", "spare.yaml", "--format", "json").out)
    assert [step["always_kept"] for entry in found["returns"] for step in entry["steps"]] == [1]
    assert "Spared" not in cli("h.json", "--rules", "lookup.yaml").out
