"""`compare`: rule sets and baselines side by side."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli, process

ARGUMENTS = ("--rules", "lookup.yaml", "--baseline", "head:3")


def test_rule_sets_and_baselines_are_scored(used: Path, cli: Cli) -> None:
    (used / "mild.yaml").write_text("version: 1\ntool: lookup\nsteps:\n  - path: records\n    drop: raw\n")
    rules = ("--rules", "lookup.yaml", "--rules", "mild.yaml")
    result = cli("compare", "h.json", *rules, "--baseline", "truncate:400", "--format", "json")
    assert result.code == 0
    found = {row["name"]: row for row in result.json["contenders"]}
    assert {name: (row["references"]["novel"], row["references"]["kept"]) for name, row in found.items()} == {
        "as recorded": (2, 2),
        "lookup.yaml": (2, 1),
        "mild.yaml": (2, 2),
        "truncate:400": (2, 1),
    }
    assert found["truncate:400"]["characters"]["after"] == 400
    assert found["as recorded"]["cost"]["share"] == 1
    assert found["mild.yaml"]["cost"]["share"] < 1


def test_the_table_has_a_row_for_each(used: Path, cli: Cli) -> None:
    out = cli("compare", "h.json", *ARGUMENTS).out
    assert [line.split()[0] for line in out.splitlines() if "%" in line] == ["as", "lookup.yaml", "head:3"]
    assert "Read     1 history" in out


def test_json_lines_and_what_is_no_history(used: Path) -> None:
    line = json.dumps(json.loads((used / "h.json").read_bytes()))
    (used / "many.jsonl").write_text(f"{line}\n\nnonsense\n{line}\n")
    result = process("compare", "many.jsonl", "h.json", *ARGUMENTS, "--format", "json")
    assert (result.code, result.json["histories"], result.json["skipped"]) == (0, 3, 1)
    assert result.err.startswith("reducer: skipped many.jsonl:3: not JSON")
