"""`test`: the tests in rule files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import RULE, Cli, Result

CASES = yaml.safe_load((Path(__file__).parent / "rule_tests.yaml").read_text())

TESTED = """\
version: 1
tool: lookup
steps:
  - path: records
    limit: 2
  - path: rcords
    drop: raw
tests:
  - name: two stay
    given: {json: {records: [{name: a}, {name: b}, {name: 192.0.2.1}], total: 3}}
    expect:
      EXPECT
  - name: a short list is left alone
    given: {json: {records: [{name: a}]}}
    expect: {unchanged: true}
"""


def write_expecting(folder: Path, expect: str) -> None:
    (folder / "lookup.yaml").write_text(TESTED.replace("EXPECT", expect))


@pytest.mark.parametrize("case", CASES["expect"], ids=lambda case: case["expect"])
def test_every_expectation_has_its_message(folder: Path, cli: Cli, case: dict[str, Any]) -> None:
    write_expecting(folder, case["expect"])
    result = cli("test", "lookup.yaml")
    assert result.code == 1
    assert result.out.startswith(f"lookup.yaml:12:{case['column']}: failed: test `two stay`: ")
    assert case["words"] in result.out
    assert result.out.endswith("\n2 tests of 1 rule: 1 failed\n")


@pytest.mark.parametrize("case", CASES["given"], ids=lambda case: case["given"])
def test_samples_in_files(folder: Path, cli: Cli, case: dict[str, str]) -> None:
    files = {"long.txt": b"a text", "nan.json": b'{"a": NaN}', "deep.json": b"[" * 100_000, "bytes.json": b"\xff"}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "samples").mkdir()
    (folder / "samples" / "other.json").write_text("[]")
    test = f"tests:\n  - {{name: a, given: {case['given']}, expect: {{unchanged: false}}}}\n"
    (folder / "lookup.yaml").write_text(RULE + test)
    assert case["words"] in cli("test", "lookup.yaml").out


def test_a_failure_says_that_a_marker_counts_as_an_item(folder: Path, cli: Cli) -> None:
    rule = TESTED.replace("{name: b}", ", ".join(["{name: a long name}"] * 9))
    (folder / "lookup.yaml").write_text(rule.replace("EXPECT", "values: {length(records): 2}"))
    advice = "the last item is the marker, which counts: write 3, or add `mark: false` to the step"
    assert f"expected: 2\n  found:    3\n  help: {advice}\n" in cli("test", "lookup.yaml").out
    (folder / "lookup.yaml").write_text(rule.replace("EXPECT", "values: {length(records): 3}"))
    assert cli("test", "lookup.yaml").code == 0


def test_snapshots_are_written_and_compared(folder: Path, cli: Cli) -> None:
    write_expecting(folder, "snapshot: snapshots/two.json")
    assert cli("test", "lookup.yaml").code == 1
    assert not (folder / "snapshots").exists()
    result = cli("test", "lookup.yaml", "--update")
    assert (result.code, result.err) == (0, "reducer: wrote snapshots/two.json, 98 bytes\n")
    written = (folder / "snapshots" / "two.json").read_text()
    assert json.loads(written) == {"records": [{"name": "a"}, {"name": "b"}], "total": 3}
    assert cli("test", "lookup.yaml", "--update") == Result(0, "2 tests of 1 rule: all passed\n", "")
    (folder / "snapshots" / "two.json").write_text(written.replace("3", "4"))
    result = cli("test", "lookup.yaml")
    assert result.code == 1
    assert "expected: at `total` 4\n  found:    at `total` 3\n  help: `--update` writes" in result.out


def test_samples_beside_the_rules_run_through_the_laws(folder: Path, cli: Cli) -> None:
    (folder / "samples").mkdir()
    contents = {"lookup": '{"records": [{"name": "a", "seen": "x"}]}', "lookup_2": "{", "other": "[]"}
    for name, content in contents.items():
        (folder / "samples" / f"{name}.json").write_text(content)
    (folder / "other.yaml").write_text("version: 1\ntool: other\nmax_chars: 9\n")
    result = cli("test", "lookup.yaml", "other.yaml")
    assert result.code == 1
    place = "samples/lookup_2.json"
    assert result.out.startswith(f"lookup.yaml:2:7: failed: sample `{place}`: {place}:1:2: not JSON: ")
    assert result.out.endswith("\n3 samples of 2 rules: 1 failed\n")
    assert cli("test", ".", "-k", "other.json").out == "1 sample of 2 rules: all passed\n"
    names = [case["name"] for case in cli("test", ".", "--format", "json").json["cases"]]
    assert names == ["samples/lookup.json", "samples/lookup_2.json", "samples/other.json"]


def test_a_file_with_errors_does_not_stop_the_tests_of_the_others(folder: Path, cli: Cli) -> None:
    write_expecting(folder, "max_chars: 900")
    (folder / "wrong.yaml").write_text("version: 1\ntool: wrong\nsteps: [{limt: 3}]\n")
    (folder / "types.yaml").write_text("version: 1\nentities: {ticket: {word: [INC-1]}}\n")
    (folder / "uses.yaml").write_text("version: 1\ntool: uses\nmax_chars: 9\npreserve: [ticket]\n")
    result = cli("test", ".")
    assert result.code == 1
    for place in ("types.yaml:2:21: error[", "wrong.yaml:3:10: error[", "uses.yaml:4:12: error["):
        assert place in result.out
    assert result.out.endswith("\n2 tests of 1 rule: all passed; 3 rule files with errors\n")
    found = cli("test", ".", "--format", "json").json
    assert (found["passed"], found["failed"]) == (2, 0)
    assert [error["file"] for error in found["errors"]] == ["types.yaml", "wrong.yaml", "uses.yaml"]
    (folder / "lookup.yaml").unlink()
    assert cli("test", ".").code == 2


def test_texts_beside_the_rules_are_samples(folder: Path, cli: Cli) -> None:
    (folder / "samples").mkdir()
    for name in ("lookup.txt", "lookup.md", "lookup_2.TXT"):
        (folder / "samples" / name).write_text("a text")
    (folder / "lookup.yaml").write_text("version: 1\ntool: lookup\nmax_chars: 9\n")
    assert [case["name"] for case in cli("test", ".", "--format", "json").json["cases"]] == ["samples/lookup.txt"]
