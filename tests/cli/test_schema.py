"""`schema`: the rule language as a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reducer.rules.schema import rule_schema
from tests.cli.conftest import RULE, Result, history, process

Cli = Callable[..., Result]


def suggested(schema: dict[str, Any]) -> list[str]:
    names: list[str] = schema["properties"]["tool"].get("examples", [])
    return names


def own(schema: dict[str, Any]) -> list[str]:
    types = rule_schema()["$defs"]["Entity"]["enum"]
    return [name for name in schema["$defs"]["Entity"]["enum"] if name not in types]


def test_it_is_printed(folder: Path) -> None:
    result = process("schema")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == rule_schema()


def test_it_is_written_and_written_again(folder: Path, cli: Cli) -> None:
    (folder / "rules").mkdir()
    (folder / "rules" / "a.yaml").write_text(RULE)
    for _ in range(2):
        assert cli("schema", "-o", "rules/.schema.json") == Result(0, "", "")
    assert json.loads((folder / "rules" / ".schema.json").read_bytes()) == rule_schema()
    # It is no rule file and no history.
    assert cli("check").out == "1 rule file in ./rules: no problems\n"
    assert "files (plain, .gz or .zst) in this folder" in cli("rules").err


def test_the_tools_of_histories_are_suggested(folder: Path, cli: Cli) -> None:
    (folder / "b.json").write_bytes(history(("vt_ip", "x"), ("lookup", "y"), ("${1:x}", "z"), ("\ud800", 1)))
    (folder / "lines.jsonl").write_bytes(history(("siem", "x")) + b"\nno history\n" + history(("vt_ip", "x")) + b"\n")
    assert suggested(json.loads(cli("schema").out)) == []
    schema = json.loads(cli("schema", "--history", "h.json", "--history", "b.json", "--history", "lines.jsonl").out)
    assert suggested(schema) == ["${1:x}", "lookup", "siem", "vt_ip"]
    assert suggested(json.loads(process("schema", "--history", "-", input=history(("piped", "x"))).out)) == ["piped"]


def test_what_rule_files_describe_is_known_whatever_else_is_wrong_in_them(folder: Path, cli: Cli) -> None:
    (folder / "own.yaml").write_text(
        "version: 1\nentities: {ticket: {words: [INC-1]}, ip: {ignore: [1.1.1.1]}}\nconditions: {severe: risk == 'high'}\n"
    )
    (folder / "wrong.yaml").write_text("version: 1\nentities: {host: {}}\nstep: 3\n")
    (folder / "worse.yaml").write_text("[" * 100_000)
    (folder / "words.yaml").write_text("entities\n")
    schema = json.loads(cli("schema", "--rules", ".").out)
    assert own(schema) == ["host", "ticket"]
    assert schema["$defs"]["Step"]["properties"]["always_keep"]["examples"] == ["severe"]
    assert own(json.loads(cli("schema", "--rules", "lookup.yaml").out)) == []


def test_what_cannot_be_read_or_written(folder: Path, cli: Cli) -> None:
    before = sorted(folder.iterdir())
    for arguments, message in {
        ("--rules", "none"): "none: No such file or directory",
        ("--history", "none.json"): "none.json: No such file or directory",
        ("--history", "lookup.yaml"): "lookup.yaml: ",
        ("--rules", ".", "-o", "lookup.yaml"): "lookup.yaml: is also an input; inputs are never overwritten",
        ("--history", "h.json", "-o", "h.json"): "h.json: is also an input; inputs are never overwritten",
        ("-o", "."): ".: is a folder; name a file",
        ("-o", "none/schema.json"): "none/schema.json: there is no folder ",
    }.items():
        result = cli("schema", *arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"reducer: error: {message}")
    assert sorted(folder.iterdir()) == before
    assert (folder / "lookup.yaml").read_text() == RULE
