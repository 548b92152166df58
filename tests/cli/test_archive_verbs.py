"""`run --archive`, `restore` and `archive`: originals are restored byte for byte."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from reducer.archive import Archive, database
from reducer.archive.database import open_to_read, open_to_write
from reducer.archive.histories import Restored, entries_between, restore
from reducer.histories.stored import reduce_json
from tests.archive.samples import rows, store
from tests.cli.conftest import ENVIRONMENT, LONG, SESSIONS, Cli, Result, history

NOTE = "A long text, with more in it than the model needs to see, and café. " * 4
HARSH = "version: 1\ntool: '*'\nsteps:\n  - {path: nodes, limit: 1}\n  - truncate: 30\nmax_chars: 300\n"
ARCHIVE = ("--archive", "returns.db")


@pytest.fixture
def original(folder: Path, cli: Cli) -> bytes:
    """Write `reduced.json` and its archive `returns.db`, and return the original history."""
    contents = (("lookup", [1, 2, 3]), ("note", NOTE), ("lookup", [1, 2]), ("lookup", [1, 2, 4]))
    whole = json.dumps(json.loads(history(*contents, ids=("a", "b", "a", "a"))), indent=1).replace("2", "2e0").encode()
    Path("original.json").write_bytes(whole)
    Path("short.yaml").write_text("version: 1\ntool: '*'\nsteps: [{limit: 2}, {truncate: 20}]\n")
    assert cli("original.json", "--rules", "short.yaml", "-o", "reduced.json", *ARCHIVE).code == 0
    assert len(Path("reduced.json").read_bytes()) < len(whole) - 200
    return whole


def test_restore_writes_the_original_bytes(original: bytes, cli: Cli) -> None:
    result = cli("restore", "reduced.json", *ARCHIVE, "-o", "again.json")
    assert Path("again.json").read_bytes() == original
    # The return that was never reduced looks like a reduced one, so it is listed and kept.
    why = "not restored: the archive has an original that belongs to another return"
    assert result.err.splitlines() == [
        f"reducer: reduced.json: message 7, lookup a#2: {why}",
        f"reducer: wrote again.json, {len(original):,} bytes: restored 3 returns, 1 not restored",
    ]
    assert (result.code, result.out) == (1, "")
    reduced = Path("reduced.json").read_bytes()
    assert cli("restore", "-", *ARCHIVE, stdin=reduced).out.encode() == original


def test_returns_missing_from_the_archive_stay_reduced_and_are_listed(original: bytes, cli: Cli) -> None:
    Path("returns.db").unlink()
    Archive("returns.db").close()
    found = cli("archive", "stats", "returns.db", "--format", "json").json
    assert (found["returns"], found["oldest"], found["tools"]) == (0, None, [])
    assert "returns.db: 0 returns, 0 originals" in cli("archive", "stats", "returns.db").out
    result = cli("restore", "reduced.json", *ARCHIVE)
    assert (result.code, result.out.encode()) == (1, Path("reduced.json").read_bytes())
    why = "not restored: it contains markers, and the archive does not have its original"
    first, last = result.err.splitlines()
    assert first == f"reducer: reduced.json: message 5, note b#1: {why}"
    assert last == "reducer: restored 0 returns, 1 not restored"


def test_stats_count_and_prune_deletes(original: bytes, cli: Cli) -> None:
    found = cli("archive", "stats", "returns.db", "--format", "json").json
    note, lookup = found["tools"]
    assert (note["tool"], note["returns"], note["bytes"]["original"]) == ("note", 1, len(json.dumps(NOTE)))
    assert found["bytes"]["originals"] == note["bytes"]["original"] + lookup["bytes"]["original"]
    assert found["oldest"] <= found["newest"]
    shown = cli("archive", "stats", "returns.db").out
    rows = [line.split() for line in shown.splitlines()[3:5]]
    assert rows == [[tool["tool"], str(tool["returns"]), *map(str, tool["bytes"].values())] for tool in (note, lookup)]
    assert "returns.db: 3 returns, 3 originals" in shown
    for limit, deleted in (("--max-age=1d", 0), ("--max-age=0d", 3), ("--max-bytes=1GB", 0)):
        result = cli("archive", "prune", "returns.db", limit)
        assert result.code == 0
        assert result.out.startswith(f"deleted {deleted} returns and {deleted} originals; ")


FULL_DISK = """
import os
from random import Random
from reducer.archive import Archive
from reducer.cli import main
from tests.archive.samples import entry, found, rows, store
archive = Archive("returns.db")
made = [entry(Random(number).randbytes(5_000).hex(), [number], nth=number) for number in range(1, 99)]
for one in made:
    store(archive, one)
left = rows(archive)
assert 0 < left < 98 and archive.failures == 98 - left
assert found(archive, made[left - 1]).data == made[left - 1].original
os.unlink("other")  # somebody frees space
assert main(["archive", "prune", "returns.db", "--max-bytes", "150kB"]) == 0
assert os.path.getsize("returns.db") < 150_000
store(archive, made[-1])  # the agent continues
assert found(archive, made[-1]).data == made[-1].original
assert archive.failures == 98 - left
assert os.listdir() == ["returns.db"]
"""


def test_an_agent_continues_on_a_full_disk_and_writes_again_after_it_has_space(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "script.py").write_text(FULL_DISK)
    command = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
    mount = "mount -t tmpfs -o size=900k tmpfs disk"
    try:
        subprocess.run([*command, mount], check=True, capture_output=True, cwd=tmp_path)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs permission to mount a small disk")
    script = f"head -c 400000 /dev/zero > other && exec {shlex.quote(sys.executable)} ../script.py"
    run = [*command, f"{mount} && cd disk && {script}"]
    done = subprocess.run(run, capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path)
    assert (done.returncode, "Error" in done.stderr) == (0, False), done.stderr


# --- `run --archive`


@pytest.mark.parametrize("more", [("--jobs", "2"), ("--format", "json")])
def test_json_lines_are_restored(folder: Path, cli: Cli, more: tuple[str, ...]) -> None:
    lines = [LONG.replace(b"host", f"host{line}-".encode()) for line in range(12)]
    whole = b"\n".join([*lines[:6], b"", b"no history", *lines[6:]]) + b"\r\n"
    Path("many.jsonl").write_bytes(whole)
    reduced = cli("many.jsonl", "h.json", "--rules", "lookup.yaml", "-o", "out/", *ARCHIVE, *more)
    assert reduced.code == 1  # a bad line
    result = cli("restore", "out/many.jsonl", *ARCHIVE, "-o", "again.jsonl")
    message = f"reducer: wrote again.jsonl, {len(whole):,} bytes: restored 12 returns, 0 not restored\n"
    assert result == Result(0, "", message)
    assert Path("again.jsonl").read_bytes() == whole
    assert cli("restore", "out/h.json", *ARCHIVE).out.encode() == LONG


def test_a_folder_of_compressed_lines_is_restored(folder: Path, cli: Cli) -> None:
    (folder / "all.yaml").write_text(HARSH)
    each = [json.dumps(json.loads(sample.read_bytes())).encode() for sample in SESSIONS]
    lines = b"\n".join(each)
    (folder / "kept" / "deep").mkdir(parents=True)
    (folder / "kept" / "deep" / "lines.jsonl.gz").write_bytes(gzip.compress(lines))
    (folder / "kept" / "h.json").write_bytes(each[0])
    assert cli("kept", "--rules", "all.yaml", "--as-in-agent", "-o", "reduced/", *ARCHIVE).code == 0
    Path("none.json").write_text('{"a": 1}')
    result = cli("restore", "none.json", "reduced/", *ARCHIVE, "-o", "again/")
    assert (result.code, sorted(os.listdir("again"))) == (2, ["deep", "h.json"])
    assert "error: none.json: not a history: found an object with the key a" in result.err
    assert Path("again/h.json").read_bytes() == each[0] != Path("reduced/h.json").read_bytes()
    assert gzip.decompress(Path("again/deep/lines.jsonl.gz").read_bytes()) == lines


def test_an_archive_that_fails_leaves_no_output(folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def small(path: Path, timeout: float) -> Any:
        with open_to_write(path, timeout) as connection:
            connection.execute("PRAGMA max_page_count = 1")
            yield connection

    monkeypatch.setattr(database, "open_to_write", small)
    records = [{"name": os.urandom(20_000).hex(), "seen": "", "raw": ""} for _ in range(7)]
    Path("large.json").write_bytes(history(("lookup", {"records": records})))
    result = cli("large.json", "--rules", "lookup.yaml", "-o", "out.json", *ARCHIVE)
    assert result.code == 2
    assert "returns.db: could not store 1 original; the reduced histories are not written" in result.err
    assert not Path("out.json").exists()


def restored(archive: Archive, whole: bytes) -> tuple[bytes, Restored]:
    """Reduce a history to the start of each content, archive the originals, and restore them."""
    reduced = reduce_json(whole, lambda tool, content: content[: 5 if isinstance(content, str) else 1])
    store(archive, *entries_between(whole, reduced))
    assert archive.failures == 0
    with open_to_read(archive.path) as connection:
        return reduced, restore(reduced, connection)


def session(*results: tuple[Any, Any, Any], ids: bool) -> bytes:
    """Return a session history that stores each return as a content, an older copy of it, and a raw result."""
    parts: list[Any] = []
    older: list[Any] = []
    for number, (content, copy, raw) in enumerate(results):
        details = {"function_name": "look", "raw_result": raw, "status": "success"}
        new, old = {"name": "look", "content": content, "call_id": f"c{number}"}, {"name": "look", "content": copy}
        of_result = {"activity_type": "tool_result"}
        parts.append({"type": "activity", **of_result, "results": [new], "technical_details": details})
        older.append({"type": "tool_result", **of_result, "results": [new | old if ids else old]})
    return json.dumps([{"role": "assistant", "parts": parts, "activity_parts": older}]).encode()


@pytest.mark.parametrize(
    ("results", "entries"),
    [
        ([("a long text", "a long text", ["a", "b"])], 2),  # texts that are the same, and a list
        ([("a long text", "another text", [])], 2),  # different texts
        ([("long text 1", "other text 1", ["a"]), ("long text 2", "other text 2", ["a"])], 4),
        ([("short", "short", [])], 0),
    ],
)
@pytest.mark.parametrize("ids", [True, False])
def test_copies_are_restored(archive: Archive, results: list[Any], entries: int, ids: bool) -> None:
    whole = session(*results, ids=ids)
    _, found = restored(archive, whole)
    assert (found.history, found.unrestored, rows(archive)) == (whole, (), entries)


def test_different_copies_that_are_reduced_to_the_same_are_not_restored_and_listed(archive: Archive) -> None:
    reduced, found = restored(archive, session(("a long text", "a longer text", ["a"]), ids=True))
    assert (found.history, found.restored) == (reduced, 0)
    assert [why for _, why in found.unrestored] == ["the archive has several originals that fit"]
