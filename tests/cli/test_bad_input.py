"""What bad input gets: one clear message, the right exit code, no traceback, nothing written."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import RECORDS, RULE, Result, history, process

Cli = Callable[..., Result]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "bad.json: empty: expected a list of messages"),
        (b" \n", "bad.json: empty: expected a list of messages"),
        (b"hello", "bad.json: not JSON: Expecting value at line 1, column 1"),
        (b"[{'kind': 'request'}]", "bad.json: not JSON: Expecting property name enclosed in double quotes at line 1, column 3"),
        (b"\xff\xfe[", "bad.json: not UTF-8 text: byte 0xff at line 1, byte 1"),
        (b"[1]", "bad.json: not a history: item 1 at line 1, column 2 is not a message: found a number"),
        (b'{"a": 1}', "bad.json: not a history: found an object with the keys a"),
        (b"3", "bad.json: not a history: found a number"),
        (b"NaN", "bad.json: not a history: found a number"),
        (b"9" * 5000, "bad.json: not a history: found a number"),
        (b"[" * 100_000 + b"]" * 100_000, "bad.json: not a history: item 1 at line 1, column 2 is not a message: found a list"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "bad.json: "),
        (b'["\\ud800"]', "bad.json: not a history: item 1 at line 1, column 2 is not a message: found a text"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_history(folder: Path, cli: Cli, content: bytes, message: str) -> None:
    (folder / "bad.json").write_bytes(content)
    result = cli("bad.json", "--rules", "lookup.yaml", "-o", "out.json")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"reducer: error: {message}")
    assert result.err.count("\n") == 1
    assert not (folder / "out.json").exists()


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.9, 0.999])
def test_a_truncated_file(folder: Path, cli: Cli, share: float) -> None:
    whole = (folder / "h.json").read_bytes()
    (folder / "cut.json").write_bytes(whole[: int(len(whole) * share)])
    result = cli("cut.json", "--rules", "lookup.yaml")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("reducer: error: cut.json: cut off: the text ends at line 1, column ")


def test_a_history_without_tool_returns_is_one(folder: Path, cli: Cli) -> None:
    (folder / "empty.json").write_bytes(b"[]")
    result = cli("empty.json", "--rules", "lookup.yaml")
    assert result.code == 0
    assert "No tool returns." in result.out
    result = cli("empty.json", "--rules", "lookup.yaml", "--call", "c1")
    assert (result.code, result.err) == (2, "reducer: error: no tool returns\n")


def test_odd_values_stay_and_are_no_reason_to_stop(folder: Path, cli: Cli) -> None:
    deep: object = 1
    for _ in range(500):
        deep = [deep]
    odd = {"records": [*RECORDS, {"name": "\ud800", "seen": "\x1b[31m", "raw": 10**300}], "more": float("nan")}
    (folder / "odd.json").write_bytes(
        history(
            ("lookup", odd), ("lookup", {"records": deep}), ("lookup", {"records": [deep] * 9}), ("\ud800\x1b[2J", "x")
        )
    )
    for format in ("table", "diff", "json"):
        result = cli("odd.json", "--rules", "lookup.yaml", "--format", format, "-o", "out.json")
        assert result.code == 0
        assert "\x1b" not in result.out
    assert "10" + "0" * 299 not in (folder / "out.json").read_text()
    left = json.loads((folder / "out.json").read_bytes())[2]["parts"][0]["content"]
    assert left["records"] == [{"name": f"host{number}", "seen": f"2024-01-{number + 1:02}"} for number in range(5)]


def test_files_that_are_not_there_or_cannot_be_read(folder: Path, cli: Cli) -> None:
    assert cli("nothing.json").err == "reducer: error: nothing.json: No such file or directory\n"
    assert cli("chek").err == "reducer: error: chek: No such file or directory; did you mean the verb `check`?\n"
    assert cli("h.json", "--rules", "nothing").err == "reducer: error: nothing: No such file or directory\n"
    assert cli("").err == "reducer: error: an empty name is not a file\n"
    assert cli("a\0b").err.startswith("reducer: error: a\\x00b: ")
    (folder / "none").mkdir()
    assert (
        cli("none").err
        == "reducer: error: none: no .json, .jsonl or .ndjson files (plain, .gz or .zst) in this folder\n"
    )
    assert (
        cli("h.json", "--rules", "none").err == "reducer: error: none: no rule files (.yaml or .yml) in this folder\n"
    )
    assert {cli(*given).code for given in (["nothing.json"], ["none"], ["h.json", "--rules", "none"], ["a\0b"])} == {2}


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="for whom permissions do not count")
def test_a_file_without_permission(folder: Path, cli: Cli) -> None:
    (folder / "h.json").chmod(0)
    assert cli("h.json").err == "reducer: error: h.json: Permission denied\n"


def test_good_inputs_go_on_beside_bad_ones(folder: Path, cli: Cli) -> None:
    (folder / "bad.json").write_text("{")
    result = cli("bad.json", "h.json", "nothing.json", "--rules", "lookup.yaml")
    assert result.code == 2
    assert result.err.splitlines() == [
        "reducer: error: nothing.json: No such file or directory",
        "reducer: error: bad.json: cut off: the text ends at line 1, column 2, in the middle of a history",
    ]
    assert "lookup.yaml" in result.out


def test_a_folder_may_hold_other_json(folder: Path, cli: Cli) -> None:
    (folder / "runs").mkdir()
    (folder / "runs" / "manifest.json").write_text('[{"source": "x"}]')
    result = cli("runs", "--rules", "lookup.yaml")
    assert result.code == 2
    assert result.err.startswith("reducer: error: runs: contains no history: runs/manifest.json: not a history: ")
    (folder / "runs" / "a.json").write_bytes((folder / "h.json").read_bytes())
    result = cli("runs", "--rules", "lookup.yaml")
    assert result.code == 0
    assert result.err.startswith("reducer: skipped runs/manifest.json: not a history: ")
    # Named by hand, or broken, it is a fault.
    assert cli("runs/manifest.json", "--rules", "lookup.yaml").code == 2
    (folder / "runs" / "b.json").write_text("[{")
    assert cli("runs", "--rules", "lookup.yaml").code == 2


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (RULE.replace("version: 1", "version: 2"), "this reducer reads version 1 of the rule language, not 2"),
        (RULE.replace("    limit: 5\n", "    limit: 5\n    limit: 6\n"), "limit"),
        (RULE.replace("    limit", "\tlimit"), "tab"),
        (RULE.replace("records\n    limit", "&a records\n    limit"), "`&`"),
        (RULE.replace("path: records\n    limit", "path: length(records)\n    limit"), ""),
        (RULE.replace("limit: 5", "limt: 5"), "did you mean `limit`?"),
        ("", ""),
    ],
)  # fmt: skip
def test_rules_that_do_not_load(folder: Path, cli: Cli, rule: str, message: str) -> None:
    (folder / "bad.yaml").write_text(rule)
    result = cli("h.json", "--rules", "bad.yaml", "-o", "out.json")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("bad.yaml:")
    assert message in result.err
    assert "reducer: error: bad.yaml: " in result.err
    assert "in the rules; nothing was run" in result.err
    assert not (folder / "out.json").exists()


def test_a_call_or_tool_that_is_not_there(folder: Path, cli: Cli) -> None:
    (folder / "two.json").write_bytes(
        history(("lookup", "a"), ("search", "b"), ("lookup", "c"), ids=("call_1", "call_2", "call_1"))
    )
    assert (
        cli("two.json", "--call", "cal_1").err
        == "reducer: error: --call cal_1: no tool return has this call id; did you mean `call_1`?\n"
    )
    assert (
        cli("two.json", "--call", "x").err
        == "reducer: error: --call x: no tool return has this call id; available: `call_1`, `call_2`\n"
    )
    assert cli("two.json", "--call", "call_1#3").err == (
        "reducer: error: --call call_1#3: `call_1` has fewer returns; `--call call_1` selects all of them\n"
    )
    assert (
        cli("two.json", "--tool", "lokup").err == "reducer: error: --tool lokup: no such tool; did you mean `lookup`?\n"
    )
    assert (
        cli("two.json", "--tool", "q*").err
        == "reducer: error: --tool q*: no such tool; available: `lookup`, `search`\n"
    )
    assert cli("two.json", "--tool", "q*").code == cli("two.json", "--call", "x").code == 2
    assert cli("two.json", "--tool", "search", "--call", "call_1").err.startswith(
        "reducer: error: --call call_1: no tool return has this call id; "
    )


def test_bad_usage(folder: Path, cli: Cli) -> None:
    result = cli("--format", "xml")
    assert result.code == 2
    assert "reducer: error: argument --format: invalid choice: 'xml'" in result.err
    assert cli("--ruels", "x").code == 2


def test_a_process_says_the_same(folder: Path) -> None:
    result = process("-", "--rules", "lookup.yaml", input=b"[" * 100_000)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("reducer: error: standard input: ")
    assert result.err.count("\n") == 1
