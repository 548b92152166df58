"""`validate`: findings as text and as JSON, exit codes, and reductions written by the dry run."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import LONG, SESSIONS, Cli, Result
from tests.histories.messages import HISTORY, answer, call, prompt, request, response

ORPHAN = json.dumps([request(prompt()), response(call("a")), request(answer("a"), answer("b"))]).encode()
SOUND = json.dumps(HISTORY).encode()
RULES = [
    "steps: [{path: nodes, limit: 1}, {truncate: 30}]\nmax_chars: 300",
    "steps: [{truncate: {head: 40, tail: 30}}]",
    "steps: [{unwrap: true}, {path: '[*].text', limit: 2}, {truncate: 50}]",
    "steps: [{extract: [ioc]}]",
]


def test_text_limits_findings_per_code_and_json_lists_all(folder: Path, cli: Cli) -> None:
    answers = [answer("a"), *(answer(f"b{number}") for number in range(30))]
    orphans = json.dumps([request(prompt()), response(call("a")), request(*answers)], indent=1).encode()
    (folder / "orphans.json").write_bytes(orphans)
    lines = cli("validate", "-", stdin=orphans).out.splitlines()
    assert len(lines) == 22
    message = 'no call of the previous response has the id "b0"'
    assert lines[0] == f"standard input:42:21: error V032 at [2].parts[1].tool_call_id: {message}"
    assert lines[-2:] == [
        "standard input: and 10 more V032: A tool return or retry answers no call of the previous response.",
        "30 errors in 1 history",
    ]
    result = cli("validate", "orphans.json", "h.json", "--format", "json")
    report = result.json
    assert (result.code, report["errors"], report["warnings"]) == (1, 30, 0)
    assert [(file["file"], len(file["findings"])) for file in report["files"]] == [("orphans.json", 30), ("h.json", 0)]
    assert report["files"][0]["findings"][0] == {
        "code": "V032", "severity": "error", "path": "[2].parts[1].tool_call_id", "line": 42, "column": 21,
        "message": message, "refused_by": "OpenAI, Anthropic, Google",
    }  # fmt: skip


def test_against_an_original(folder: Path, cli: Cli) -> None:
    for name in ("before", "after"):
        (folder / name / "in").mkdir(parents=True)
    (folder / "before" / "in" / "h.json").write_bytes(LONG)
    assert cli("h.json", "--rules", "lookup.yaml", "-o", "after/in/h.json").code == 0
    assert cli("validate", "after", "--against", "before") == Result(0, "1 history: no problems\n", "")
    result = cli("validate", "h.json", "--against", "after/in/h.json")
    assert result.code == 1
    message = ": error V109 at [2].parts[0].content.records[5]: the original has no such item here: an object"
    assert message in result.out
    (folder / "after" / "new.json").write_bytes(SOUND)
    missing = "reducer: error: before/new.json: No such file or directory\n"
    assert cli("validate", "after", "--against", "before") == Result(2, "1 history: no problems\n", missing)


# --- JSON lines


def test_lines_are_checked_one_by_one(folder: Path, cli: Cli) -> None:
    (folder / "many.jsonl").write_bytes(b"\n".join((SOUND, b"", ORPHAN, b"none", ORPHAN, SOUND)))
    result = cli("validate", "many.jsonl")
    place = ORPHAN.rindex(b'"b"') + 1
    orphan = f'{place}: error V032 at [2].parts[1].tool_call_id: no call of the previous response has the id "b"'
    assert result.code == 1
    assert result.out.splitlines() == [
        f"many.jsonl:3:{orphan}",
        "many.jsonl:4:2: error V002 at @: PydanticAI cannot parse the JSON: expected a value",
        f"many.jsonl:5:{orphan}",
        "3 errors in 5 histories",
    ]
    (folder / "many.jsonl.gz").write_bytes(gzip.compress((folder / "many.jsonl").read_bytes()))
    assert cli("validate", "many.jsonl.gz").out == result.out.replace("many.jsonl", "many.jsonl.gz")
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(SOUND)[:-9])
    message = "reducer: error: cut.jsonl.gz: cut short: the compressed file ends early"
    assert cli("validate", "cut.jsonl.gz").err.startswith(message)


def test_lines_against_their_originals(folder: Path, cli: Cli) -> None:
    (folder / "many.jsonl").write_bytes(b"\r\n".join((LONG, SOUND, b"", b"none", LONG)))
    assert cli("many.jsonl", "--rules", "lookup.yaml", "-o", "reduced.jsonl").code == 1
    reduced = (folder / "reduced.jsonl").read_bytes()
    (folder / "many.jsonl.gz").write_bytes(gzip.compress((folder / "many.jsonl").read_bytes()))

    def found(lines: bytes) -> list[str]:
        (folder / "changed.jsonl").write_bytes(lines)
        printed = cli("validate", "changed.jsonl", "--against", "many.jsonl.gz").out.splitlines()[:-1]
        places = ((line.split(":")[1], line.split()[2]) for line in printed)
        return [f"{number} {code}" for number, code in places if code != "V002"]

    assert found(reduced) == []
    assert found(reduced.replace(b'"c1"', b'"c2"', 2)) == ["1 V101"]
    assert found(reduced.replace(b"host3", b"host9")) == ["1 V109", "5 V109"]
    assert found(reduced + b"\n" + SOUND) == ["6 V101"]
    assert found(reduced[: reduced.rindex(b"\n")]) == ["4 V101"]
    assert found(reduced.replace(SOUND, b"")) == ["2 V101"]
    assert found(reduced.replace(b"\r\n\r\n", b"\r\n"))[:2] == ["3 V101", "4 V101"]


# --- reductions of session histories


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sample", SESSIONS, ids=lambda sample: sample.stem)
def test_planted_changes_in_a_reduction_are_found(folder: Path, cli: Cli, sample: Path, rule: str) -> None:
    (folder / "all.yaml").write_text(f"version: 1\ntool: '*'\n{rule}\n")
    assert cli(str(sample), "--rules", "all.yaml", "--as-in-agent", "-o", "reduced.json").code == 0
    reduced = (folder / "reduced.json").read_text()

    def found(text: str) -> set[str]:
        (folder / "changed.json").write_text(text)
        report = cli("validate", "changed.json", "--against", str(sample), "--format", "json").json
        return {finding["code"] for finding in report["files"][0]["findings"] if finding["code"] > "V1"}

    assert found(reduced) == set()
    assert found(reduced.replace('"role"', '"role" ', 1)) == {"V101"}
    assert found(re.sub('"content": *(\\[|")', r'"content": 5, "was": \1', reduced, count=1)) & {"V101", "V104"}
