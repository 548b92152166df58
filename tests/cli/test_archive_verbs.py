"""`restore` and `archive` on the command line: what they print, write and refuse."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer
from reducer.archive import Archive
from reducer.archive import archive as archive_module
from reducer.archive.database import open_to_read, open_to_write
from reducer.archive.entries import Entry, ReturnId
from reducer.archive.histories import entries_between, restore
from reducer.histories.stored import reduce_json, returns
from reducer.values import stored_json
from tests.cli.conftest import Result, history, process

LONG = "A long text, with more in it than the model needs to see, and café. " * 4


def shorter(tool: str, content: Any) -> Any:
    if isinstance(content, str):
        return content if len(content) <= 60 else f"{content[:20]} …[{len(content) - 20} more characters]"
    return content[:2] if len(content) > 2 else content


@pytest.fixture
def original(folder: Path) -> bytes:
    """Write `reduced.json`, and `returns.db` with the originals in it; return the history that they came from."""
    whole = history(
        ("lookup", [1, 2, 3]), ("note", LONG), ("lookup", [1, 2]), ("lookup", [1, 2, 4]), ids=("a", "b", "a", "a")
    )
    with Archive("returns.db") as archive:
        for found in returns(whole):
            new = shorter(found.tool, found.content)
            if new is not found.content:
                id = ReturnId(found.tool, found.call_id, found.nth)
                place = found.places[0]
                archive.add([Entry(id, "rule", stored_json(new), whole[place.start : place.end])])
    Path("reduced.json").write_bytes(reduce_json(whole, shorter))
    return whole


def test_restore_gives_back_the_same_bytes(original: bytes, cli: Callable[..., Result]) -> None:
    result = cli("restore", "reduced.json", "--archive", "returns.db", "-o", "again.json")
    assert Path("again.json").read_bytes() == original
    # The return that was never reduced looks like those that were: it is named, and stays.
    assert result == Result(
        1, "", "reducer: message 7, lookup a#2: not restored: the archive has an original that belongs to another return\n"
        f"reducer: wrote again.json, {len(original):,} bytes: restored 3 returns, 1 not restored\n"
    )  # fmt: skip


def test_restore_reads_standard_input_and_writes_standard_output(original: bytes) -> None:
    result = process("restore", "-", "--archive", "returns.db", input=Path("reduced.json").read_bytes())
    assert result.out.encode() == original


def test_what_the_archive_does_not_have_stays_and_is_named(original: bytes, cli: Callable[..., Result]) -> None:
    Path("returns.db").unlink()
    Archive("returns.db").close()
    result = cli("restore", "reduced.json", "--archive", "returns.db")
    assert result.out.encode() == Path("reduced.json").read_bytes()
    assert (result.code, result.err) == (
        1, "reducer: message 5, note b#1: not restored: it contains markers, and the archive does not have its original\nreducer: restored 0 returns, 1 not restored\n"
    )  # fmt: skip


def test_a_history_that_was_never_reduced_is_given_back(original: bytes, cli: Callable[..., Result]) -> None:
    Path("plain.json").write_bytes(history(("other", [1, 2, 3]), ("other", "text")))
    result = cli("restore", "plain.json", "--archive", "returns.db", "-o", "again.json")
    assert result.code == 0
    assert Path("again.json").read_bytes() == Path("plain.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("none.json", "--archive", "returns.db"), "none.json: No such file or directory"),
        (("reduced.json", "--archive", "none.db"), "none.db: does not exist"),
        (("reduced.json", "--archive", "lookup.yaml"), "lookup.yaml: file is not a database"),
        (("lookup.yaml", "--archive", "returns.db"), "lookup.yaml: not JSON: Expecting value at line 1, column 1"),
        ((".", "--archive", "returns.db"), "--output -: cannot write 2 histories to standard output"),
        (
            ("reduced.json", "--archive", "returns.db", "-o", "returns.db"),
            "returns.db: is also an input; inputs are never overwritten",
        ),
    ],
)
def test_restore_says_what_it_cannot_do(
    original: bytes, cli: Callable[..., Result], arguments: tuple[str, ...], why: str
) -> None:
    assert cli("restore", *arguments) == Result(2, "", f"reducer: error: {why}\n")
    assert not Path("none.db").exists()


def test_stats_count(original: bytes, cli: Callable[..., Result]) -> None:
    told = json.loads(cli("archive", "stats", "returns.db", "--format", "json").out)
    size = len(json.dumps(LONG))
    assert {key: told[key] for key in ("returns", "originals", "tools")} == {
        "returns": 3,
        "originals": 3,
        "tools": [
            {"tool": "note", "returns": 1, "bytes": {"original": size, "reduced": len(stored_json(shorter("", LONG)))}},
            {"tool": "lookup", "returns": 2, "bytes": {"original": 18, "reduced": 10}},
        ],
    }
    assert told["bytes"]["originals"] == size + 18
    assert told["oldest"] <= told["newest"]
    shown = cli("archive", "stats", "returns.db")
    assert shown.code == 0
    assert shown.out.splitlines()[:3] == [
        "Tool    Returns  Bytes, original  reduced",
        f"note          1              {size}       {len(stored_json(shorter('', LONG)))}",
        "lookup        2               18       10",
    ]
    assert "returns.db: 3 returns, 3 originals" in shown.out


def test_stats_of_nothing(folder: Path, cli: Callable[..., Result]) -> None:
    Archive("returns.db").close()
    told = json.loads(cli("archive", "stats", "returns.db", "--format", "json").out)
    assert (told["returns"], told["oldest"], told["tools"]) == (0, None, [])
    assert "returns.db: 0 returns, 0 originals" in cli("archive", "stats", "returns.db").out


def test_prune_deletes_old_originals(original: bytes, cli: Callable[..., Result]) -> None:
    assert cli("archive", "prune", "returns.db", "--older-than", "1d").out.startswith(
        "deleted 0 returns and 0 originals; "
    )
    told = json.loads(cli("archive", "prune", "returns.db", "--older-than", "0d", "--format", "json").out)
    assert (told["returns"], told["originals"]) == (3, 3)
    assert cli("archive", "prune", "returns.db", "--max-bytes", "1GB").out.startswith(
        "deleted 0 returns and 0 originals; "
    )


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("prune", "returns.db"), "archive prune: add --older-than 30d, --max-bytes 1GB, or both"),
        (
            ("prune", "returns.db", "--older-than", "soon"),
            "'soon' is not an age; write 30d, 12h, 90m or 2w, or give a timedelta or a number of days",
        ),
        (("prune", "returns.db", "--max-bytes", "0"), "'0' is not a size; write 1000000, 500MB or 2GiB"),
        (("prune", "none.db", "--max-bytes", "1GB"), "none.db: does not exist"),
        (("stats", "none.db"), "none.db: does not exist"),
        (("stats", "reduced.json"), "reduced.json: file is not a database"),
        (("stats", "returns.db", "--older-than", "1d"), "--older-than and --max-bytes are for `archive prune`"),
    ],
)
def test_archive_says_what_it_cannot_do(
    original: bytes, cli: Callable[..., Result], arguments: tuple[str, ...], why: str
) -> None:
    assert cli("archive", *arguments) == Result(2, "", f"reducer: error: {why}\n")
    assert not Path("none.db").exists()


RECORDS = ", ".join(f'{{"name" : "h{number}", "seen": 1e2, "raw": "x"}}' for number in range(30))
SPELLED = f"""[{{"kind":"request", "parts":[ {{"part_kind":"tool-return","tool_name":"lookup","tool_call_id":"c1","outcome":"success",
  "content": {{"records": [{RECORDS}], "n": 1.50, "t": "caf\\u00e9 \\/"}} , "timestamp": "2026-01-02T03:04:05.678901Z"}}]}}]
"""


def test_the_dry_run_archives_what_it_reduces(folder: Path, cli: Callable[..., Result]) -> None:
    Path("spelled.json").write_text(SPELLED)
    result = cli("spelled.json", "--rules", "lookup.yaml", "-o", "reduced.json", "--archive", "returns.db")
    assert result.code == 0
    assert len(Path("reduced.json").read_bytes()) < len(SPELLED) / 2
    assert cli("restore", "reduced.json", "--archive", "returns.db", "-o", "again.json").code == 0
    assert Path("again.json").read_text() == SPELLED
    told = json.loads(cli("archive", "stats", "returns.db", "--format", "json").out)
    assert (told["returns"], told["tools"][0]["tool"]) == (1, "lookup")


@pytest.mark.parametrize("more", [(), ("--jobs", "2"), ("--format", "json")])
def test_json_lines_come_back_too(folder: Path, cli: Callable[..., Result], more: tuple[str, ...]) -> None:
    lines = [
        history(
            (
                "lookup",
                {"records": [{"name": f"h{line}-{number}", "seen": "", "raw": "x" * 20} for number in range(20)]},
            )
        )
        for line in range(12)
    ]
    whole = b"\n".join([*lines[:6], b"", b"no history", *lines[6:]]) + b"\r\n"
    Path("many.jsonl").write_bytes(whole)
    reduced = cli("many.jsonl", "h.json", "--rules", "lookup.yaml", "-o", "out/", "--archive", "returns.db", *more)
    assert reduced.code == 1  # a bad line
    result = cli("restore", "out/many.jsonl", "--archive", "returns.db", "-o", "again.jsonl")
    assert result == Result(
        0, "", f"reducer: wrote again.jsonl, {len(whole):,} bytes: restored 12 returns, 0 not restored\n"
    )
    assert Path("again.jsonl").read_bytes() == whole
    assert cli("restore", "out/h.json", "--archive", "returns.db").out.encode() == Path("h.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--archive", "returns.db"), "--archive stores the originals of what --output writes; add --output"),
        (("--archive", "lookup.yaml", "-o", "out.json"), "lookup.yaml: file is not a database"),
        (("--archive", "out.json", "-o", "./out.json"), "out.json: is both --archive and --output"),
        (("--archive", "none/returns.db", "-o", "out.json"), "none/returns.db: the folder "),
    ],
)
def test_what_cannot_be_archived_is_not_written(
    folder: Path, cli: Callable[..., Result], arguments: tuple[str, ...], why: str
) -> None:
    result = cli("h.json", "--rules", "lookup.yaml", *arguments)
    assert result.code == 2
    assert result.err.startswith(f"reducer: error: {why}")
    assert not Path("out.json").exists()


@pytest.mark.parametrize("more", [(), ("--format", "json")])
def test_an_archive_that_fails_leaves_no_output(
    folder: Path, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    def small(path: Path, timeout: float) -> Any:
        connection = open_to_write(path, timeout)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr(archive_module, "open_to_write", small)
    records = [{"name": os.urandom(20_000).hex(), "seen": "", "raw": ""} for _ in range(7)]
    Path("large.json").write_bytes(history(("lookup", {"records": records})))
    result = cli("large.json", "--rules", "lookup.yaml", "-o", "out.json", "--archive", "returns.db", *more)
    assert result.code == 2
    assert "returns.db: could not store 1 original; the reduced histories are not written" in result.err
    assert not Path("out.json").exists()


def test_real_histories_come_back(data: Path, tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text("version: 1\ntool: '*'\nsteps:\n  - truncate: 200\nmax_chars: 2000\n")
    reducer = Reducer.load(tmp_path / "all.yaml")
    archived = 0
    with Archive(tmp_path / "returns.db") as archive:
        for file in sorted((data / "histories").glob("*/*.json"))[::3]:
            whole = file.read_bytes()
            reduced = reducer.reduce_json(whole, references=False)
            entries = list(entries_between(whole, reduced, lambda tool: ""))
            archive.add(entries)
            archive.flush()
            with open_to_read(archive.path) as connection:
                result = restore(reduced, connection)
            assert result.history == whole
            assert result.restored >= len(entries)
            archived += len(entries)
        assert archive.failures == 0
    assert archived > 100
