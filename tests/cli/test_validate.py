"""`validate`: findings as lines and as JSON, and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Result, history, process
from tests.histories.messages import HISTORY, answer, call, prompt, request, response

Cli = Callable[..., Result]
ORPHANS = [
    request(prompt()),
    response(call("a")),
    request(answer("a"), *(answer(f"b{number}") for number in range(30))),
]


def test_a_sound_history(folder: Path, cli: Cli) -> None:
    (folder / "sound.json").write_text(json.dumps(HISTORY))
    assert cli("validate", "sound.json") == Result(0, "1 history: no problems\n", "")
    assert cli("validate", "sound.json", "h.json", "--strict") == Result(0, "2 histories: no problems\n", "")


def test_findings_are_lines_with_a_cap_for_each_code(folder: Path, cli: Cli) -> None:
    (folder / "orphans.json").write_text(json.dumps(ORPHANS, indent=1))
    result = cli("validate", "orphans.json", "--max-findings", "2")
    lines = result.out.splitlines()
    assert result.code == 1
    assert (
        lines[0]
        == 'orphans.json:42:21: error V032 at [2].parts[1].tool_call_id: no call of the previous response has the id "b0"'
    )
    assert lines[2:] == [
        "orphans.json: and 28 more V032: A tool return or retry answers no call of the previous response.",
        "30 errors in 1 history",
    ]
    assert len(cli("validate", "orphans.json").out.splitlines()) == 22
    assert len(cli("validate", "orphans.json", "--max-findings", "0").out.splitlines()) == 31


def test_json_has_all_findings(folder: Path, cli: Cli) -> None:
    (folder / "orphans.json").write_text(json.dumps(ORPHANS))
    result = cli("validate", "orphans.json", "h.json", "--format", "json")
    report = json.loads(result.out)
    assert result.code == 1
    assert (report["errors"], report["warnings"]) == (30, 0)
    assert [(file["file"], len(file["findings"])) for file in report["files"]] == [("orphans.json", 30), ("h.json", 0)]
    assert report["files"][0]["findings"][0] == {
        "code": "V032", "severity": "error", "path": "[2].parts[1].tool_call_id", "line": 1, "column": 558,
        "message": 'no call of the previous response has the id "b0"', "refused_by": "OpenAI, Anthropic, Google",
    }  # fmt: skip


def test_warnings_count_when_strict(folder: Path, cli: Cli) -> None:
    (folder / "open.json").write_text(json.dumps([request(prompt()), response(call("a"))]))
    assert cli("validate", "open.json").code == 0
    assert cli("validate", "open.json", "--strict").code == 1
    assert cli("validate", "open.json").out.endswith("1 warning in 1 history\n")


def test_folders_pass_over_other_json(folder: Path, cli: Cli) -> None:
    (folder / "many").mkdir()
    (folder / "many" / "a.json").write_text(json.dumps(HISTORY))
    (folder / "many" / "manifest.json").write_text('{"made": 1}')
    result = cli("validate", "many")
    assert (result.code, result.out) == (0, "1 history: no problems\n")
    assert result.err.startswith("reducer: skipped many/manifest.json: no history: found an object")
    assert cli("validate", "many/manifest.json").code == 1


def test_standard_input_and_hostile_texts() -> None:
    assert process("validate", "-", input=history(("t", {"a": 1}))).code == 0
    result = process("validate", "-", input=b'[{"kind": "\x1b[31m\xe2\x80\xae"}]')
    assert result.code == 1
    result = process(
        "validate", "-", input=json.dumps([{"kind": "\x1b[31m", "parts": [{"part_kind": "\ud800\u202e"}]}]).encode()
    )
    assert result.code == 1
    assert "\x1b" not in result.out


def test_against_an_original(folder: Path, cli: Cli) -> None:
    assert cli("h.json", "--rules", "lookup.yaml", "-o", "reduced.json").code == 0
    assert cli("validate", "reduced.json", "--against", "h.json") == Result(0, "1 history: no problems\n", "")
    result = cli("validate", "h.json", "--against", "reduced.json")
    assert result.code == 1
    assert (
        ": error V109 at [2].parts[0].content.records[5]: the original has no such item here: an object\n" in result.out
    )
    for name in ("before", "after"):
        (folder / name / "in").mkdir(parents=True)
    (folder / "before" / "in" / "h.json").write_bytes((folder / "h.json").read_bytes())
    (folder / "after" / "in" / "h.json").write_bytes((folder / "reduced.json").read_bytes())
    assert cli("validate", "after", "--against", "before").code == 0
    assert cli("validate", "before", "--against", "after").code == 1
    (folder / "after" / "new.json").write_text(json.dumps(HISTORY))
    assert cli("validate", "after", "--against", "before") == Result(
        2, "1 history: no problems\n", "reducer: error: before/new.json: No such file or directory\n"
    )
    assert cli("validate", "after", "--against", "h.json").err == (
        "reducer: error: --against h.json: for 2 histories, name a folder\n"
    )


def test_what_cannot_be_run(folder: Path, cli: Cli) -> None:
    assert cli("validate", "gone.json") == Result(2, "", "reducer: error: gone.json: No such file or directory\n")
    assert cli("validate") == Result(
        2, "", "reducer: error: name a HISTORY to check, or - for standard input (--help shows how)\n"
    )
    assert cli("validate", "h.json", "--max-findings", "-1").code == 2
    assert cli("validate", "gone.json", "h.json").out == "1 history: no problems\n"
    assert cli("validate", "gone.json", "h.json").code == 2


def test_the_codes(folder: Path, cli: Cli) -> None:
    result = cli("validate", "--codes")
    assert result.code == 0
    assert "V034  error    Two tool calls of one response have the same id. Refused by Anthropic.\n" in result.out
