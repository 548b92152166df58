"""`schema`: the rule language as a JSON Schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reducer.rules.schema import rule_schema
from tests.cli.conftest import RULE, Cli, Result, history, process


def suggested(result: Result) -> list[str]:
    names: list[str] = result.json["properties"]["tool"].get("examples", [])
    return names


def own(schema: dict[str, Any]) -> list[str]:
    types = rule_schema()["$defs"]["Entity"]["enum"]
    return [name for name in schema["$defs"]["Entity"]["enum"] if name not in types]


def test_it_is_written_and_written_again(folder: Path, cli: Cli) -> None:
    assert process("schema").json == rule_schema()
    (folder / "rules").mkdir()
    (folder / "rules" / "a.yaml").write_text(RULE)
    for _ in range(2):
        assert cli("schema", "-o", "rules/.schema.json") == Result(0, "", "")
    assert (folder / "rules" / ".schema.json").read_text() == cli("schema").out
    # It is no rule file and no history.
    assert cli("check").out == "1 rule file in ./rules: no problems\n"
    assert "files (plain, .gz or .zst) in this folder" in cli("rules").err


def test_the_tools_of_histories_are_suggested(folder: Path, cli: Cli) -> None:
    (folder / "b.json").write_bytes(history(("vt_ip", "x"), ("lookup", "y"), ("${1:x}", "z"), ("\ud800", 1)))
    (folder / "lines.jsonl").write_bytes(history(("siem", "x")) + b"\nno history\n" + history(("vt_ip", "x")) + b"\n")
    assert suggested(cli("schema")) == []
    result = cli("schema", "--history", "h.json", "--history", "b.json", "--history", "lines.jsonl")
    assert suggested(result) == ["${1:x}", "lookup", "siem", "vt_ip"]
    assert suggested(process("schema", "--history", "-", input=history(("piped", "x")))) == ["piped"]


def test_what_rule_files_define_is_known_whatever_else_is_wrong_in_them(folder: Path, cli: Cli) -> None:
    entities = "entities: {ticket: {words: [INC-1]}, ip: {ignore: [1.1.1.1]}}"
    (folder / "own.yaml").write_text(f"version: 1\n{entities}\nconditions: {{severe: risk == 'high'}}\n")
    (folder / "wrong.yaml").write_text("version: 1\nentities: {host: {}}\nstep: 3\n")
    (folder / "worse.yaml").write_text("[" * 100_000)
    (folder / "words.yaml").write_text("entities\n")
    schema = cli("schema", "--rules", ".").json
    assert own(schema) == ["host", "ticket"]
    assert schema["$defs"]["Step"]["properties"]["always_keep"]["examples"] == ["severe"]
    assert own(cli("schema", "--rules", "lookup.yaml").json) == []
