"""Tests of verbs and their arguments that do not fit in commands.yaml."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from reducer.cli.arguments import share
from reducer.rules.diagnostics import catalogue
from reducer.rules.schema import rule_schema
from tests.cli.conftest import RULE, Cli, history


def test_fix_keeps_permissions_and_leaves_no_temporary_file(folder: Path, cli: Cli) -> None:
    file = folder / "lookup.yaml"
    file.write_text(RULE.replace("limit", "limt"))
    file.chmod(0o640)
    before = sorted(folder.iterdir())
    assert cli("check", "lookup.yaml", "--fix").code == 0
    assert (file.read_text(), file.stat().st_mode & 0o777) == (RULE, 0o640)
    assert sorted(folder.iterdir()) == before


def test_entities_in_utf_16_and_in_invalid_utf_8(folder: Path, cli: Cli) -> None:
    (folder / "note.txt").write_bytes("\nAPT28".encode("utf-16"))
    assert cli("entities", "note.txt", "--format", "json").json[0]["place"] == "2:1"
    found = cli("entities", "-", "--format", "json", stdin=b"\xff 192.0.2.1\n").json[0]
    assert (found["file"], found["place"]) == ("standard input", "1:3")


def test_explain_every_code(cli: Cli) -> None:
    for code, entry in catalogue().items():
        assert cli("explain", code).out.startswith(f"{code} {entry.name}: {entry.cause}\n")


# --- compare


def test_rule_sets_and_baselines_are_scored(used: Path, cli: Cli) -> None:
    (used / "mild.yaml").write_text("version: 1\ntool: lookup\nsteps: [{path: records, drop: raw}]\n")
    line = (used / "h.json").read_text()
    (used / "many.jsonl").write_text(f"{line}\n\nnonsense\n{line}\n")
    rules = ("--rules", "lookup.yaml", "--rules", "mild.yaml")
    result = cli("compare", "many.jsonl", "h.json", *rules, "--baseline", "truncate:400")
    assert (result.code, result.out.startswith("Read     3 histories\n")) == (0, True)
    assert result.err.startswith("reducer: skipped many.jsonl:3: not JSON")
    rows = [line.rsplit(maxsplit=6) for line in result.out.splitlines() if "%" in line]
    found = {row[0].strip(): row[1:] for row in rows}
    kept = {"as recorded": "100%", "lookup.yaml": "50.0%", "mild.yaml": "100%", "truncate:400": "50.0%"}
    assert {name: row[2] for name, row in found.items()} == kept
    assert found["truncate:400"][0] == "1,200"
    assert found["as recorded"][4] == "100.0%" != found["mild.yaml"][4]


def test_rules_are_scored_with_and_without_repeats(used: Path, cli: Cli) -> None:
    (used / "mild.yaml").write_text("version: 1\ntool: other\nsteps: [{limit: 1}]\n")
    note = "seen by the sensor in the north " * 9
    (used / "two.json").write_bytes(history(("lookup", note), ("lookup", note), ids=("a", "b")))
    result = cli("compare", "two.json", "--rules", "mild.yaml", "--repeats", "--baseline", "truncate:400")
    rows = [line.split() for line in result.out.splitlines() if "mild" in line]
    assert [row[:-5] for row in rows] == [["mild.yaml", "576"], ["mild.yaml", "--repeats", "336"]]
    assert [row[-4] for row in rows] == ["-", "-"]


def test_each_folder_is_scored_and_the_step_that_loses_most_is_named(used: Path, cli: Cli) -> None:
    data = (used / "h.json").read_bytes()
    for folder in ("a", "b"):
        (used / folder).mkdir()
        (used / folder / "h.json").write_bytes(data)
    result = cli("compare", "a", "b", "--rules", "lookup.yaml", "--baseline", "truncate:400")
    found = [line for line in result.out.splitlines() if "histor" in line]
    assert [line.split() for line in found] == [
        ["Read", "2", "histories"],
        ["a", "1", "history"],
        ["b", "1", "history"],
    ]
    *_, last = (line for line in result.out.splitlines() if line.strip())
    assert last.split()[:3] == ["lookup.yaml", "lookup", "2"]
    assert "lookup.yaml:" in last.split(maxsplit=3)[3]


# --- schema


def test_the_schema_is_written_and_written_again(folder: Path, cli: Cli) -> None:
    assert cli("schema").json == rule_schema()
    (folder / "rules").mkdir()
    (folder / "rules" / "a.yaml").write_text(RULE)
    for _ in range(2):
        assert cli("schema", "-o", "rules/.schema.json").code == 0
    assert (folder / "rules" / ".schema.json").read_text() == cli("schema").out
    # The schema is neither a rule file nor a history.
    assert cli("check").out == "1 rule file in ./rules: no problems\n"
    assert "files (plain, .gz or .zst) in this folder" in cli("./rules").err


def test_the_schema_includes_definitions_from_invalid_rule_files(folder: Path, cli: Cli) -> None:
    entities = "entities: {ticket: {words: [INC-1]}, ip: {ignore: [1.1.1.1]}}"
    (folder / "own.yaml").write_text(f"version: 1\n{entities}\nconditions: {{severe: risk == 'high'}}\n")
    (folder / "wrong.yaml").write_text("version: 1\nentities: {host: {}}\nstep: 3\n")
    (folder / "worse.yaml").write_text("[" * 100_000)
    (folder / "words.yaml").write_text("entities\n")

    schema = cli("schema", "--rules", ".").out
    assert [name for name in ("host", "ticket", "severe") if f'"{name}"' not in schema] == []
    assert '"ticket"' not in cli("schema", "--rules", "lookup.yaml").out


def test_a_share_is_written_with_or_without_a_percent_sign() -> None:
    for text, value in {"95%": 0.95, "95": 0.95, "0.95": 0.95, "1": 1, "100": 1, "1%": 0.01, "0": 0}.items():
        assert share(text) == pytest.approx(value)
    for text in ("101", "160%", "-1", "-5%", "nan", "inf", "x", ""):
        with pytest.raises(ArgumentTypeError, match=r"expected a share such as 95% or 0\.95"):
            share(text)


def test_entities_explain_prints_the_evidence(cli: Cli) -> None:
    """Also for what is no host; the sum of the points decides."""
    shown = cli("entities", "-", "--explain", stdin=b'f("evil.shop", x)\nFirefox 115.2.3.4\n').out
    assert shown.splitlines() == [
        "evil.shop: a host (+3)",
        "     +7  other top-level domain",
        "     +4  the whole of a quoted string",
        "     -8  a call or an operator on its line",
        "115.2.3.4: no host (-1)",
        "     +1  four numbers",
        "     -2  a product before it",
    ]
