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
from reducer.archive import writer as writing
from reducer.archive.between import between
from reducer.archive.entries import Entry, Place
from reducer.archive.file import open_file
from reducer.archive.restore import restore
from reducer.stored import reduce_json, returns
from reducer.values import stored_json
from tests.cli.conftest import Result, history, process

LONG = "A long text, with more in it than the model needs to see, and café. " * 4


def shorter(tool: str, content: Any) -> Any:
    if isinstance(content, str):
        return content if len(content) <= 60 else f"{content[:20]} …[{len(content) - 20} more characters]"
    return content[:2] if len(content) > 2 else content


@pytest.fixture
def original(folder: Path) -> bytes:
    """Write `reduced.json`, and `returns.db` with the originals in it; give the history that they came from."""
    whole = history(("lookup", [1, 2, 3]), ("note", LONG), ("lookup", [1, 2]), ("lookup", [1, 2, 4]), ids=("a", "b", "a", "a"))
    text = whole.decode()
    with Archive("returns.db") as archive:
        for found in returns(whole):
            new = shorter(found.tool, found.content)
            if new is not found.content:
                place = Place(found.tool, found.call_id, found.nth, 0)
                archive.file([Entry(place, "rule", stored_json(new), text[found.start : found.end].encode())])
    Path("reduced.json").write_bytes(reduce_json(whole, shorter))
    return whole


def test_restore_gives_back_the_same_bytes(original: bytes, cli: Callable[..., Result]) -> None:
    result = cli("restore", "reduced.json", "--archive", "returns.db", "-o", "again.json")
    assert Path("again.json").read_bytes() == original
    # The return that was never reduced looks like those that were: it is named, and stays.
    assert result == Result(
        1, "", "reducer: message 7, lookup a#2: stays as it is: the archive has what may be its original, from another place\n"
        f"reducer: wrote again.json, {len(original):,} bytes: 3 returns put back, 1 not\n"
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
        1, "reducer: message 5, note b#1: stays as it is: it holds marks, and the archive has no original of it\nreducer: 0 returns put back, 1 not\n"
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
        (("reduced.json", "--archive", "none.db"), "none.db: there is no such file"),
        (("reduced.json", "--archive", "lookup.yaml"), "lookup.yaml: is no SQLite file"),
        (("lookup.yaml", "--archive", "returns.db"), "lookup.yaml: not JSON: Expecting value at line 1, column 1"),
        ((".", "--archive", "returns.db"), "--output -: 2 histories cannot all go to standard output"),
        (("reduced.json", "--archive", "returns.db", "-o", "returns.db"), "returns.db: is read here; nothing that is read is ever written"),
    ],
)
def test_restore_says_what_it_cannot_do(original: bytes, cli: Callable[..., Result], arguments: tuple[str, ...], why: str) -> None:
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


def test_prune_drops_what_is_old(original: bytes, cli: Callable[..., Result]) -> None:
    assert cli("archive", "prune", "returns.db", "--older-than", "1d").out.startswith("dropped 0 returns and 0 originals; ")
    told = json.loads(cli("archive", "prune", "returns.db", "--older-than", "0d", "--format", "json").out)
    assert (told["returns"], told["originals"]) == (3, 3)
    assert cli("archive", "prune", "returns.db", "--max-bytes", "1GB").out.startswith("dropped 0 returns and 0 originals; ")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("prune", "returns.db"), "archive prune: say what may go: --older-than 30d, --max-bytes 1GB, or both"),
        (("prune", "returns.db", "--older-than", "soon"), "'soon' is no age: write 30d, 12h, 90m or 2w, or give a timedelta or a number of days"),
        (("prune", "returns.db", "--max-bytes", "0"), "'0' is no number of bytes: write 1000000, 500MB or 2GiB"),
        (("prune", "none.db", "--max-bytes", "1GB"), "none.db: there is no such file"),
        (("stats", "none.db"), "none.db: there is no such file"),
        (("stats", "reduced.json"), "reduced.json: is no SQLite file"),
        (("stats", "returns.db", "--older-than", "1d"), "--older-than and --max-bytes are for `archive prune`"),
    ],
)
def test_archive_says_what_it_cannot_do(original: bytes, cli: Callable[..., Result], arguments: tuple[str, ...], why: str) -> None:
    assert cli("archive", *arguments) == Result(2, "", f"reducer: error: {why}\n")
    assert not Path("none.db").exists()


RECORDS = ", ".join(f'{{"name" : "h{number}", "seen": 1e2, "raw": "x"}}' for number in range(30))
SPELLED = f"""[{{"kind":"request", "parts":[ {{"part_kind":"tool-return","tool_name":"lookup","tool_call_id":"c1","outcome":"success",
  "content": {{"records": [{RECORDS}], "n": 1.50, "t": "caf\\u00e9 \\/"}} , "timestamp": "2026-01-02T03:04:05.678901Z"}}]}}]
"""


def test_the_dry_run_files_what_it_writes_reduced(folder: Path, cli: Callable[..., Result]) -> None:
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
    lines = [history(("lookup", {"records": [{"name": f"h{line}-{number}", "seen": "", "raw": "x" * 20} for number in range(20)]})) for line in range(12)]
    whole = b"\n".join([*lines[:6], b"", b"no history", *lines[6:]]) + b"\r\n"
    Path("many.jsonl").write_bytes(whole)
    reduced = cli("many.jsonl", "h.json", "--rules", "lookup.yaml", "-o", "out/", "--archive", "returns.db", *more)
    assert reduced.code == 1  # a bad line
    result = cli("restore", "out/many.jsonl", "--archive", "returns.db", "-o", "again.jsonl")
    assert result == Result(0, "", f"reducer: wrote again.jsonl, {len(whole):,} bytes: 12 returns put back, 0 not\n")
    assert Path("again.jsonl").read_bytes() == whole
    assert cli("restore", "out/h.json", "--archive", "returns.db").out.encode() == Path("h.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--archive", "returns.db"), "--archive takes the originals of what --output writes: give --output too"),
        (("--archive", "lookup.yaml", "-o", "out.json"), "lookup.yaml: is no SQLite file"),
        (("--archive", "out.json", "-o", "./out.json"), "out.json: is the archive and the output"),
        (("--archive", "none/returns.db", "-o", "out.json"), "none/returns.db: there is no folder "),
    ],
)
def test_what_cannot_be_filed_is_not_written(folder: Path, cli: Callable[..., Result], arguments: tuple[str, ...], why: str) -> None:
    result = cli("h.json", "--rules", "lookup.yaml", *arguments)
    assert result.code == 2
    assert result.err.startswith(f"reducer: error: {why}")
    assert not Path("out.json").exists()


@pytest.mark.parametrize("more", [(), ("--format", "json")])
def test_an_archive_that_fails_leaves_no_output(folder: Path, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]) -> None:
    def small(path: Path, timeout: float) -> Any:
        connection = open_file(path, timeout)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr(writing, "open_file", small)
    records = [{"name": os.urandom(20_000).hex(), "seen": "", "raw": ""} for _ in range(7)]
    Path("large.json").write_bytes(history(("lookup", {"records": records})))
    result = cli("large.json", "--rules", "lookup.yaml", "-o", "out.json", "--archive", "returns.db", *more)
    assert result.code == 2
    assert "returns.db: 1 original could not be filed; what they were reduced to is not written" in result.err
    assert not Path("out.json").exists()


def test_real_histories_come_back(data: Path, tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text("version: 1\ntool: '*'\nsteps:\n  - truncate: 200\nmax_chars: 2000\n")
    reducer = Reducer.load(tmp_path / "all.yaml")
    filed = 0
    with Archive(tmp_path / "returns.db") as archive:
        for file in sorted((data / "histories").glob("*/*.json"))[::3]:
            whole = file.read_bytes()
            reduced = reducer.reduce_json(whole, references=False)
            entries = list(between(whole, reduced, lambda tool: ""))
            archive.file(entries)
            archive.flush()
            with archive.reading() as connection:
                result = restore(reduced, connection)
            assert result.history == whole
            assert result.put_back >= len(entries)
            filed += len(entries)
        assert archive.failures == 0
    assert filed > 100
