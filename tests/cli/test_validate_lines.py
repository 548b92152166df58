"""`validate` on JSON lines and archives, and on what the dry run writes of any stored history."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reducer.cli import validate
from tests.cli.conftest import Result
from tests.histories.messages import HISTORY, answer, call, prompt, request, response

Cli = Callable[..., Result]
SAMPLES = sorted((Path(__file__).parents[1] / "histories" / "data").glob("session_*.json"))
RULES = {
    "limits": "steps: [{limit: 2}, {truncate: 40}]",
    "both ends": "steps: [{truncate: {head: 40, tail: 30}}]",
    "unwrapped": "steps: [{unwrap: true}, {path: '[*].text', limit: 2}, {truncate: 50}]",
    "entities": "steps: [{extract: [ioc]}]",
}
ORPHAN = json.dumps([request(prompt()), response(call("a")), request(answer("a"), answer("b"))]).encode()
SOUND = json.dumps(HISTORY).encode()


def test_lines_are_checked_one_by_one(folder: Path, cli: Cli) -> None:
    (folder / "many.jsonl").write_bytes(b"\n".join((SOUND, b"", ORPHAN, b"none", *[ORPHAN] * 4, SOUND)))
    result = cli("validate", "many.jsonl", "--max-findings", "2")
    place = ORPHAN.rindex(b'"b"') + 1
    orphan = f'{place}: error V032 at [2].parts[1].tool_call_id: no call of the previous response has the id "b"'
    assert result.code == 1
    assert result.out.splitlines() == [
        f"many.jsonl:3:{orphan}",
        "many.jsonl:4:2: error V002 at @: PydanticAI cannot parse the JSON: expected a value",
        f"many.jsonl:5:{orphan}",
        "many.jsonl: and 3 more V032: A tool return or retry answers no call of the previous response.",
        "6 errors in 8 histories",
    ]
    (folder / "many.jsonl.gz").write_bytes(gzip.compress((folder / "many.jsonl").read_bytes()))
    assert cli("validate", "many.jsonl.gz", "--max-findings", "2").out == result.out.replace(
        "many.jsonl", "many.jsonl.gz"
    )
    report = json.loads(cli("validate", "many.jsonl.gz", "--format", "json").out)
    assert [finding["line"] for finding in report["files"][0]["findings"]] == [3, 4, 5, 6, 7, 8]
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(SOUND)[:-9])
    assert cli("validate", "cut.jsonl.gz").err.startswith(
        "reducer: error: cut.jsonl.gz: cut short: the gzip archive ends in its middle"
    )


def test_lines_against_their_originals(folder: Path, cli: Cli) -> None:
    whole = (folder / "h.json").read_bytes()
    (folder / "many.jsonl").write_bytes(b"\r\n".join((whole, SOUND, b"", b"none", whole)))
    assert cli("many.jsonl", "--rules", "lookup.yaml", "-o", "reduced.jsonl").code == 1
    reduced = (folder / "reduced.jsonl").read_bytes()
    assert len(reduced) < 2 * len(whole)
    (folder / "many.jsonl.gz").write_bytes(gzip.compress((folder / "many.jsonl").read_bytes()))
    assert [
        line.split()[2] for line in cli("validate", "reduced.jsonl", "--against", "many.jsonl.gz").out.splitlines()
    ] == ["V002", "in"]

    def found(lines: bytes) -> list[str]:
        (folder / "changed.jsonl").write_bytes(lines)
        printed = cli("validate", "changed.jsonl", "--against", "many.jsonl").out.splitlines()[:-1]
        return [
            line.partition(": ")[0].rsplit(":", 2)[1] + " " + line.split()[2] for line in printed if "V002" not in line
        ]

    assert found(reduced) == []
    assert found(reduced.replace(b'"c1"', b'"c2"', 2)) == ["1 V101"]
    assert found(reduced.replace(b"host3", b"host9")) == ["1 V109", "5 V109"]
    assert found(reduced.replace(b"\r\n\r\n", b"\r\n")) == ["3 V101", "4 V101", "4 V101"]
    assert found(reduced + b"\n" + SOUND) == ["6 V101"]
    assert found(reduced[: reduced.rindex(b"\n")]) == ["4 V101"]
    assert found(reduced.replace(SOUND, b"")) == ["2 V101"]


def test_lines_that_are_too_long_are_reported_and_compared(
    folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validate, "is_heavy", lambda line: len(line) > 5_000)
    heavy = json.dumps([request(prompt("x" * 6_000))]).encode()
    (folder / "many.jsonl").write_bytes(heavy + b"\n" + SOUND + b"\n")
    result = cli("validate", "many.jsonl", "--against", "many.jsonl")
    assert result.code == 0
    assert result.out.splitlines()[0] == (
        "many.jsonl:1:1: warning V007 at @: a line of more than 16,777,216 bytes, or one that takes too much memory; "
        "it was not checked"
    )
    (folder / "other.jsonl").write_bytes(heavy.replace(b"xx", b"xy", 1) + b"\n" + SOUND + b"\n")
    assert [line.split()[2] for line in cli("validate", "other.jsonl", "--against", "many.jsonl").out.splitlines()] == [
        "V007",
        "V101",
        "1",
    ]


def test_a_line_of_17_megabytes(folder: Path, cli: Cli) -> None:
    long = b'["' + b"x" * 17_000_000 + b'"]\n'
    (folder / "long.jsonl").write_bytes(SOUND + b"\n" + long + SOUND)
    (folder / "other.jsonl").write_bytes(SOUND + b"\n" + long[:-9] + b"\n" + SOUND)
    assert [line.split()[2] for line in cli("validate", "long.jsonl", "--against", "long.jsonl").out.splitlines()] == [
        "V007",
        "in",
    ]
    codes = [line.split()[2] for line in cli("validate", "other.jsonl", "--against", "long.jsonl").out.splitlines()]
    assert codes == ["V007", "V101", "1"]


def test_a_folder_of_lines_that_are_no_histories_is_passed_over(folder: Path, cli: Cli) -> None:
    (folder / "many").mkdir()
    (folder / "many" / "a.jsonl").write_bytes(SOUND)
    (folder / "many" / "log.jsonl").write_text('{"level": "info"}\n' * 3)
    result = cli("validate", "many")
    assert (result.code, result.out) == (0, "1 history: no problems\n")
    assert result.err.startswith("reducer: skipped many/log.jsonl: no history: found an object")


def accepted(folder: Path, cli: Cli, rule: str | None, sources: list[Path]) -> int:
    """Reduce copies of histories, prove that they are reductions of them, and count those that changed."""
    for source in sources:
        place = folder / "before" / source.parent.name / source.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source.read_bytes())
    if rule is not None:
        (folder / "all.yaml").write_text(f"version: 1\ntool: '*'\n{rule}\n")
    assert cli("before", *(() if rule is None else ("--rules", "all.yaml")), "-o", "after/").code == 0
    report = json.loads(cli("validate", "after", "--against", "before", "--format", "json").out)
    wrong = [
        (file["file"], finding) for file in report["files"] for finding in file["findings"] if finding["code"] > "V1"
    ]
    assert wrong == []
    assert len(report["files"]) == len(sources)
    return sum(
        file.read_bytes() != (folder / "before" / file.relative_to(folder / "after")).read_bytes()
        for file in (folder / "after").rglob("*.json")
    )


@pytest.mark.parametrize("rule", RULES)
def test_what_the_dry_run_writes_of_session_histories_is_a_reduction(folder: Path, cli: Cli, rule: str) -> None:
    assert accepted(folder, cli, RULES[rule], SAMPLES) >= 2


@pytest.mark.parametrize("rule", [None, *RULES])
def test_what_the_dry_run_writes_of_real_histories_is_a_reduction(
    folder: Path, cli: Cli, data: Path, rule: str | None
) -> None:
    files = sorted((data / "histories").glob("*/*.json"))[:: 2 if rule is None else 5]
    assert accepted(folder, cli, None if rule is None else RULES[rule], files) >= (3 if rule is None else 10)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_planted_changes_of_session_histories_are_found(folder: Path, cli: Cli, sample: Path) -> None:
    (folder / "all.yaml").write_text(
        "version: 1\ntool: '*'\nsteps: [{path: nodes, limit: 1}, {truncate: 30}]\nmax_chars: 300\n"
    )
    assert cli(str(sample), "--rules", "all.yaml", "--no-references", "-o", "reduced.json").code == 0
    reduced = (folder / "reduced.json").read_text()
    assert reduced != sample.read_text()

    def codes(text: str) -> set[str]:
        (folder / "changed.json").write_text(text)
        report = json.loads(cli("validate", "changed.json", "--against", str(sample), "--format", "json").out)
        return {finding["code"] for finding in report["files"][0]["findings"] if finding["code"] > "V1"}

    def changed(change: Callable[[dict[str, Any]], Any]) -> str:
        value = json.loads(reduced)
        results = list(objects(value))
        assert results
        change(results[0])
        return json.dumps(value, indent=1, ensure_ascii=False)

    assert codes(reduced) == set()
    assert "V101" in codes(changed(lambda result: result.update(name="other")))
    assert "V101" in codes(changed(lambda result: result.update(is_error=None)))
    assert codes(changed(lambda result: result.update(content=5))) & {"V101", "V104"}
    assert codes(reduced.replace('"role"', '"role" ', 1)) == {"V101"}
    assert codes(reduced.replace('"selection_mode": "auto"', '"selection_mode": "none"')) <= {"V101"}


def objects(value: Any) -> Any:
    if isinstance(value, dict):
        if "results" in value:
            yield from value["results"] or ()
        for item in value.values():
            yield from objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from objects(item)
