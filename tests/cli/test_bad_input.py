"""Bad input leads to one clear message, the right exit code, and no traceback. bad_input.yaml has more cases."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import LONG, RECORDS, Cli, history
from tests.helpers import nested

CASES = [
    (b" \n", "bad.json: empty: expected a list of messages"),
    (b"hello", "bad.json: not JSON: Expecting value at line 1, column 1"),
    (b"\xff\xfe[", "bad.json: not UTF-8 text: byte 0xff at line 1, byte 1"),
    (b'{"a": 1}', "bad.json: not a history: found an object with the key a"),
    (b"9" * 5000, "bad.json: not a history: found a value that is too large or too deep"),
    (b"[" * 100_000 + b"]" * 100_000, "bad.json: not a history: item 1 at line 1, column 2 is not a message: "),
    (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "bad.json: "),
    (b'["\\ud800"]', "bad.json: not a history: item 1 at line 1, column 2 is not a message: found the text"),
    *((LONG[: int(len(LONG) * share)], "bad.json: cut off: the text ends at line 1, ") for share in (0.05, 0.5, 0.999)),
]


@pytest.mark.parametrize(("content", "message"), CASES)
def test_a_file_that_is_not_a_history(folder: Path, cli: Cli, content: bytes, message: str) -> None:
    (folder / "bad.json").write_bytes(content)
    result = cli("bad.json", "--rules", "lookup.yaml", "-o", "out.json")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"reducer: error: {message}")
    assert result.err.count("\n") == 1
    assert not (folder / "out.json").exists()


def test_odd_values_cause_no_error(folder: Path, cli: Cli) -> None:
    odd = {"records": [*RECORDS, {"name": "\ud800", "seen": "\x1b[31m", "raw": 10**300}], "more": float("nan")}
    deep = [{"records": nested(500)}, {"records": [nested(500)] * 9}]
    returns = [("lookup", content) for content in (odd, *deep)]
    (folder / "odd.json").write_bytes(history(*returns, ("\ud800\x1b[2J", "x")))
    for form in ("table", "diff", "json"):
        result = cli("odd.json", "--rules", "lookup.yaml", "--format", form, "-o", "out.json")
        assert result.code == 0
        assert "\x1b" not in result.out
    left = json.loads((folder / "out.json").read_bytes())[2]["parts"][0]["content"]
    rows = [{"name": f"host{number}", "seen": f"2024-01-{number + 1:02}"} for number in range(5)]
    assert left["records"] == [*rows, "…[26 more items]"]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="permissions do not apply")
def test_a_file_without_permission(folder: Path, cli: Cli) -> None:
    (folder / "h.json").chmod(0)
    assert cli("h.json").err == "reducer: error: h.json: Permission denied\n"


HOSTILE = [
    b"[" * 100_000,
    b"[" * 130 + b"]" * 130,
    b'{"a": NaN, "b": 1e999}',
    b'"\\ud800 192.0.2.1"',
    b"7" * 5000,
    b"null",
    b"\x1b[31m 192.0.2.1",
    b'{"a":1}\n{"a":',
    b'[{"kind": "\x1b[31m\xe2\x80\xae"}]',
    b'[{"kind": "\\u001b[31m", "\\u001b\\ud800": 3}]',
]


@pytest.mark.parametrize("content", HOSTILE)
def test_hostile_files(folder: Path, cli: Cli, content: bytes) -> None:
    for name in ("x.json", "x.yaml"):
        (folder / name).write_bytes(content)
    queries = [f"query {path} x.json" for path in ("a", "@", "length(@)")]
    for command in (*queries, "init x.json -o new", "entities x.json", "validate x.json", "check x.yaml"):
        result = cli(*command.split())
        is_refused = result.err.startswith("reducer: error: x.json")
        assert result.code in (0, 1) or (result.code == 2 and is_refused)
        assert "\x1b" not in result.out
    assert result.out.startswith("x.yaml:")
