"""JSON lines on the command line: each line is reduced as if alone, whatever the archive, the number of processes and
the neighbours.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reducer import Reducer
from reducer.histories.compressed import compressed
from reducer.histories.lines import MAX_LINE
from tests.cli.conftest import RECORDS, Result, history, process

Cli = Callable[..., Result]
LONG = history(("lookup", {"records": RECORDS}))
SHORT = history(("lookup", {"records": RECORDS[:2]}))
MESSAGE = json.dumps(json.loads(LONG)[2]).encode()
LINES = LONG + b"\n" + SHORT + b"\r\n\n" + MESSAGE + b"\n \t\n" + LONG


def reduced(text: bytes) -> bytes:
    rules = Reducer.load("lookup.yaml")
    return b"\n".join(rules.reduce_json(line) if line.strip() else line for line in text.split(b"\n"))


@pytest.fixture
def lines(folder: Path) -> bytes:
    """Write `a.jsonl`, and give what it is reduced to."""
    (folder / "a.jsonl").write_bytes(LINES)
    expected = reduced(LINES)
    assert len(expected) < len(LINES) / 2
    return expected


def test_a_dry_run_sums_up_and_writes_nothing(folder: Path, cli: Cli, lines: bytes) -> None:
    before = sorted(path.name for path in folder.iterdir())
    result = cli("a.jsonl", "--rules", "lookup.yaml")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("History  a.jsonl, 6 lines\n")
    assert [line.split()[:3] for line in result.out.splitlines() if line.startswith(" lookup ")] == [
        ["lookup", "lookup.yaml", "4"]
    ]
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.jsonl.zst"])
def test_the_output_is_packed_as_its_name_ends(folder: Path, cli: Cli, lines: bytes, name: str) -> None:
    zstandard = pytest.importorskip("zstandard")
    result = cli("a.jsonl", "--rules", "lookup.yaml", "-o", name)
    written = (folder / name).read_bytes()
    assert (result.code, result.err) == (0, f"reducer: wrote {name}, {len(written):,} bytes\n")
    if name.endswith(".gz"):
        written = gzip.decompress(written)
    elif name.endswith(".zst"):
        written = zstandard.ZstdDecompressor().decompressobj().decompress(written)
    assert written == lines
    assert sorted(path.name for path in folder.iterdir()) == sorted(["a.jsonl", "h.json", "lookup.yaml", name])


@pytest.mark.parametrize("kind", ["gz", "zst", ""])
def test_archives_are_known_by_what_they_hold(folder: Path, cli: Cli, lines: bytes, kind: str) -> None:
    pytest.importorskip("zstandard")
    for name in ("b.jsonl.gz", "b.json.zst", "b"):
        (folder / name).write_bytes(compressed(LINES[:50], kind) + compressed(LINES[50:], kind))  # type: ignore[arg-type]
        assert cli(name, "--rules", "lookup.yaml", "-o", "out.jsonl").code == 0
        assert (folder / "out.jsonl").read_bytes() == lines


def test_a_whole_history_in_an_archive(folder: Path, cli: Cli) -> None:
    (folder / "h.json.gz").write_bytes(compressed(LONG, "gz"))
    assert cli("h.json.gz", "--rules", "lookup.yaml", "-o", "out.json.gz").code == 0
    assert gzip.decompress((folder / "out.json.gz").read_bytes()) == reduced(LONG)
    assert (
        cli("h.json.gz", "--rules", "lookup.yaml").out.replace("h.json.gz", "h.json")
        == cli("h.json", "--rules", "lookup.yaml").out
    )


@pytest.mark.parametrize("kind", ["gz", ""])
def test_standard_input_to_standard_output(folder: Path, lines: bytes, kind: str) -> None:
    result = process("-", "--rules", "lookup.yaml", "-o", "-", input=compressed(LINES, kind))  # type: ignore[arg-type]
    assert (result.code, result.out.encode()) == (0, lines)
    assert "History  standard input, 6 lines\n" in result.err


def test_several_processes_give_the_same(folder: Path, lines: bytes) -> None:
    # Several pieces, with a bad line in each, and one that is too long.
    text = (LINES + b"\nwrong\n") * 9 + b"x" * 3_000_000 + b"\n" + LINES + b"\n" + b'"' * (MAX_LINE + 1) + b"\n" + LINES
    (folder / "b.jsonl").write_bytes(text)
    arguments = ("b.jsonl", "--rules", "lookup.yaml", "--format", "json", "-o")
    first, second = process(*arguments, "one.jsonl.gz"), process(*arguments, "two.jsonl.gz", "--jobs", "2")
    assert (first.code, first.out) == (second.code, second.out)
    assert first.err.replace("one.", "two.") == second.err
    written = (folder / "one.jsonl.gz").read_bytes()
    assert written == (folder / "two.jsonl.gz").read_bytes()
    (told,) = json.loads(first.out)["lines"]
    assert (told["lines"], told["bad"], told["long"]) == (9 * 7 + 1 + 6 + 1 + 6, 10, 1)
    assert gzip.decompress(written).count(b"wrong\n") == 9
    assert first.code == 1


def test_a_bad_line_is_told_and_stays(folder: Path, cli: Cli) -> None:
    wrong = [b"wrong", b'{"kind": "request", "parts": [', b"\xff", b"3", b'[{"x": 1}]', b"nothing", b"nothing either"]
    text = LONG + b"\n" + b"\r\n".join(wrong) + b"\n" + LONG + b"\n"
    (folder / "b.jsonl").write_bytes(text)
    result = cli("b.jsonl", "--rules", "lookup.yaml", "-o", "out.jsonl")
    assert result.code == 1
    assert (folder / "out.jsonl").read_bytes() == text.replace(LONG, reduced(LONG))
    told = result.err.splitlines()
    assert told[:3] == [
        "reducer: b.jsonl:2: not JSON: Expecting value at column 1",
        "reducer: b.jsonl:3: cut off: the text ends at column 32, in the middle of a history",
        "reducer: b.jsonl:4: not UTF-8 text: byte 0xff at byte 1",
    ]
    assert told[5:] == [
        "reducer: b.jsonl: 7 bad lines in total",
        f"reducer: wrote out.jsonl, {(folder / 'out.jsonl').stat().st_size:,} bytes",
    ]
    assert "  Lines without a history, kept unchanged\n    b.jsonl: 7 of 9 lines: 2, 3, 4, 5, 6, …\n" in result.out
    # Lines that are all bad are no reason to stop either.
    (folder / "c.jsonl").write_bytes(b"wrong\n")
    assert cli("c.jsonl", "--rules", "lookup.yaml", "-o", "out.jsonl").code == 1
    assert (folder / "out.jsonl").read_bytes() == b"wrong\n"


def test_a_line_that_is_too_long_is_passed_through(folder: Path, cli: Cli) -> None:
    long = history(("lookup", {"records": RECORDS, "more": "x" * MAX_LINE}))
    text = LONG + b"\n" + long + b"\n" + LONG
    (folder / "b.jsonl").write_bytes(text)
    result = cli("b.jsonl", "--rules", "lookup.yaml", "-o", "out.jsonl")
    assert result.code == 0
    assert (folder / "out.jsonl").read_bytes() == reduced(LONG) + b"\n" + long + b"\n" + reduced(LONG)
    assert "  Lines that are too large, kept unchanged\n    b.jsonl: 1 of 3 lines\n" in result.out
    assert cli("b.jsonl", "--rules", "lookup.yaml", "--strict").code == 1


def test_a_line_that_would_take_too_much_memory_is_passed_through(folder: Path, cli: Cli) -> None:
    heavy = history(("lookup", {"records": RECORDS})).replace(b'"records": [', b'"records": [' + b"{}," * 2_000_000)
    assert len(heavy) < MAX_LINE
    (folder / "b.jsonl").write_bytes(heavy + b"\n" + LONG)
    assert cli("b.jsonl", "--rules", "lookup.yaml", "-o", "out.jsonl").code == 0
    assert (folder / "out.jsonl").read_bytes() == heavy + b"\n" + reduced(LONG)
    assert "    b.jsonl: 1 of 2 lines\n" in cli("b.jsonl", "--rules", "lookup.yaml").out


def test_an_archive_cut_short_leaves_nothing(folder: Path, cli: Cli) -> None:
    archive = compressed(LINES + b"\n", "gz") + compressed(LINES * 9, "gz")
    (folder / "b.jsonl.gz").write_bytes(archive[:-10])
    (folder / "out.jsonl").write_text("old")
    result = cli("b.jsonl.gz", "--rules", "lookup.yaml", "-o", "out.jsonl")
    assert (result.code, result.out) == (2, "")
    place = f"cut short: the gzip archive ends in its middle, at byte {len(archive) - 10:,}"
    assert result.err == f"reducer: error: b.jsonl.gz: {place}\n"
    assert (folder / "out.jsonl").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["b.jsonl.gz", "h.json", "lookup.yaml", "out.jsonl"]
    (folder / "c.jsonl.gz").write_bytes(compressed((b"[" + b" " * 1021 + b"]\n") * 3000, "gz")[:-1])
    assert re.search(r", at byte [\d,]+, after line 2,048\n$", cli("c.jsonl.gz", "--rules", "lookup.yaml").err)
    (folder / "h.json.gz").write_bytes(compressed(LONG, "gz")[:-10])
    result = cli("h.json.gz", "h.json", "--rules", "lookup.yaml")
    assert result.code == 2
    assert result.err.startswith("reducer: error: h.json.gz: cut short: ")
    assert "History  h.json\n" in result.out


def test_nothing_is_something_too(folder: Path, cli: Cli) -> None:
    (folder / "empty.jsonl").write_bytes(b"")
    assert cli("empty.jsonl", "--rules", "lookup.yaml", "-o", "out.jsonl.gz").code == 0
    assert gzip.decompress((folder / "out.jsonl.gz").read_bytes()) == b""
    assert "No tool returns." in cli("empty.jsonl", "--rules", "lookup.yaml").out


def test_a_call_or_a_tool_of_lines(folder: Path, cli: Cli) -> None:
    other = history(("other", "x"), ("lookup", {"records": RECORDS}), ids=("c7", "c8"))
    (folder / "b.jsonl").write_bytes(LONG + b"\n" + other + b"\n")
    assert cli("b.jsonl", "--rules", "lookup.yaml", "--call", "c8", "-o", "out.jsonl").code == 0
    assert (folder / "out.jsonl").read_bytes() == LONG + b"\n" + reduced(other) + b"\n"
    result = cli("b.jsonl", "--rules", "lookup.yaml", "--call", "c9", "-o", "none.jsonl")
    assert (result.code, result.err) == (
        2,
        "reducer: error: --call c9: no tool return has this call id; available: `c1`, `c7`, `c8`\n",
    )
    result = cli("b.jsonl", "--rules", "lookup.yaml", "--tool", "othre", "--jobs", "2", "-o", "none.jsonl")
    assert (result.code, result.err) == (2, "reducer: error: --tool othre: no such tool; did you mean `other`?\n")
    assert not [path.name for path in folder.iterdir() if "none" in path.name]


def test_the_diff_of_lines_names_them(folder: Path, cli: Cli, lines: bytes) -> None:
    result = cli("a.jsonl", "--rules", "lookup.yaml", "--format", "diff", "-o", "out.jsonl")
    assert result.code == 0
    assert [line for line in result.out.splitlines() if line.startswith("a.jsonl:")] == [
        f"a.jsonl:{number}" for number in (1, 2, 4, 6)
    ]
    assert result.out.count("  step 1, limit records: ") == 4
    assert "Total: " in result.out
    assert (folder / "out.jsonl").read_bytes() == lines
    result = cli("a.jsonl", "--rules", "lookup.yaml", "--format", "diff", "--jobs", "2")
    assert (result.code, result.err) == (
        2,
        "reducer: error: --format diff uses one process; leave out --jobs\n",
    )


def test_a_missing_package_is_named(folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (folder / "a.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd....")
    message = "zstd archives need the package zstandard: pip install 'reducer[zstd]'\n"
    assert cli("a.jsonl.zst").err == f"reducer: error: a.jsonl.zst: {message}"
    assert cli("h.json", "-o", "out.jsonl.zst").err == f"reducer: error: out.jsonl.zst: {message}"


@pytest.mark.parametrize("jobs", ["0", "x", "-1", "257"])
def test_a_number_of_processes_is_one(cli: Cli, jobs: str) -> None:
    result = cli("--jobs", jobs)
    assert result.code == 2
    assert "expected a number of processes from 1 to 256, not" in result.err
