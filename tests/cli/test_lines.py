"""JSON lines: each line is reduced alone, for any compression and number of processes, in bounded memory."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer
from reducer.inputs.compression import compressed
from reducer.inputs.sources import find_sources
from reducer.workbench.recordings import load
from tests.cli.conftest import ENVIRONMENT, LONG, RECORDS, Cli, Result, history, process, start

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SHORT = history(("lookup", {"records": RECORDS[:2]}))
MESSAGE = json.dumps(json.loads(LONG)[2]).encode()
LINES = LONG + b"\n" + SHORT + b"\r\n\n" + MESSAGE + b"\n \t\n" + LONG
RULES = ("--rules", "lookup.yaml")


def reduced(text: bytes) -> bytes:
    rules = Reducer.load("lookup.yaml")
    return b"\n".join(rules.reduce_json(line) if line.strip() else line for line in text.split(b"\n"))


@pytest.fixture
def lines(folder: Path) -> bytes:
    """Write `a.jsonl`, and return its reduction."""
    (folder / "a.jsonl").write_bytes(LINES)
    expected = reduced(LINES)
    assert len(expected) < len(LINES) / 2
    return expected


@pytest.mark.parametrize(
    ("kind", "output", "decompress"),
    [("", "out.jsonl.gz", gzip.decompress), ("a.zst", "out", bytes), ("a.gz", "out.jsonl.zst", zstd.decompress)],
)
def test_files_and_streams_are_compressed(cli: Cli, lines: bytes, kind: str, output: str, decompress: Any) -> None:
    # The input has two members or frames and is recognised by its bytes; the name of the output selects its format.
    content = compressed(LINES[:50], kind) + compressed(LINES[50:], kind)
    Path("b").write_bytes(content)
    result = cli("b", *RULES, "-o", output)
    written = Path(output).read_bytes()
    assert (result.code, result.err) == (0, f"reducer: wrote {output}, {len(written):,} bytes\n")
    assert decompress(written) == lines
    result = cli("-", *RULES, "-o", "-", stdin=content)
    assert (result.code, result.out.encode()) == (0, lines)
    assert "Read     standard input, 6 lines\n" in result.err


def test_several_processes_produce_the_same_output(used: Path, cli: Cli) -> None:
    # Several chunks with bad lines.
    text = ((used / "h.json").read_bytes() + b"\n" + LINES + b"\nwrong\n") * 9 + b"x" * 3_000_000 + b"\n" + LINES
    (used / "b.jsonl").write_bytes(text)
    arguments = ("b.jsonl", *RULES, "--fail-under", "references=0", "--format", "json", "-o")
    first, second = cli(*arguments, "one.jsonl.gz"), cli(*arguments, "two.jsonl.gz", "--jobs", "2")
    assert (first.code, first.out) == (1, second.out)
    assert first.err.replace("one.", "two.") == second.err
    written = (used / "one.jsonl.gz").read_bytes()
    assert written == (used / "two.jsonl.gz").read_bytes()
    assert gzip.decompress(written).count(b"wrong\n") == 9
    (found,) = first.json["lines"]
    assert (found["lines"], found["bad"]) == (9 * 8 + 1 + 6, 10)
    assert first.json["measures"]["references"]["novel"] == 9 * 2


def test_a_bad_line_is_reported_and_kept(folder: Path, cli: Cli) -> None:
    wrong = [b"wrong", b'{"kind": "request", "parts": [', b"\xff", b"3", b'[{"x": 1}]', b"nothing", b"nothing either"]
    text = LONG + b"\n" + b"\r\n".join(wrong) + b"\n" + LONG + b"\n"
    (folder / "b.jsonl").write_bytes(text)
    result = cli("b.jsonl", *RULES, "-o", "out.jsonl")
    assert result.code == 1
    assert (folder / "out.jsonl").read_bytes() == text.replace(LONG, reduced(LONG))
    assert result.err.splitlines()[:3] == [
        "reducer: b.jsonl:2: not JSON: Expecting value at column 1",
        "reducer: b.jsonl:3: cut off: the text ends at column 32, in the middle of a history",
        "reducer: b.jsonl:4: not UTF-8 text: byte 0xff at byte 1",
    ]
    assert "  Lines that cannot be read, kept unchanged\n    b.jsonl: 7 of 9 lines: 2, 3, 4, 5, 6, …\n" in result.out


def test_a_truncated_compressed_file_leaves_no_output(folder: Path, cli: Cli) -> None:
    archive = compressed(LINES + b"\n", "a.gz") + compressed(LINES * 9, "a.gz")
    (folder / "b.jsonl.gz").write_bytes(archive[:-10])
    (folder / "out.jsonl").write_text("old")
    before = sorted(folder.iterdir())
    result = cli("b.jsonl.gz", *RULES, "-o", "out.jsonl")
    message = "reducer: error: b.jsonl.gz: cut short: the compressed file ends early\n"
    assert result == Result(2, "", message)
    assert ((folder / "out.jsonl").read_text(), sorted(folder.iterdir())) == ("old", before)


def test_a_call_or_a_tool_is_selected_in_json_lines(folder: Path, cli: Cli) -> None:
    other = history(("other", "x"), ("lookup", {"records": RECORDS}), ids=("c7", "c8"))
    (folder / "b.jsonl").write_bytes(LONG + b"\n" + other)
    assert cli("b.jsonl", *RULES, "--call", "c8", "-o", "out.jsonl").code == 0
    assert (folder / "out.jsonl").read_bytes() == LONG + b"\n" + reduced(other)
    result = cli("b.jsonl", *RULES, "--tool", "othre", "--jobs", "2", "-o", "none.jsonl")
    assert (result.code, result.err) == (2, "reducer: error: --tool othre: no such tool; did you mean `other`?\n")
    assert not [path.name for path in folder.iterdir() if "none" in path.name]


def test_the_diff_of_json_lines_shows_line_numbers(folder: Path, cli: Cli, lines: bytes) -> None:
    result = cli("a.jsonl", *RULES, "--format", "diff", "-o", "out.jsonl", "--jobs", "2")
    names = [line for line in result.out.splitlines() if line.startswith("a.jsonl:")]
    assert names == [f"a.jsonl:{number}" for number in (1, 2, 4, 6)]
    assert result.out.count("  step 1, limit records: ") == 4
    assert ((folder / "out.jsonl").read_bytes(), "Total: " in result.out) == (lines, True)


def test_the_error_names_a_missing_package(folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, zstd.__name__, None)
    (folder / "a.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd....")
    message = "zstd files need the package backports.zstd: pip install 'reducer[zstd]'\n"
    assert cli("a.jsonl.zst").err == f"reducer: error: a.jsonl.zst: {message}"
    assert cli("h.json", "-o", "out.jsonl.zst").err == f"reducer: error: out.jsonl.zst: {message}"


# --- what JSON lines are

META = b'{"meta": 0}\n'


@pytest.mark.parametrize("name", ["mixed.jsonl", "mixed"])
def test_all_verbs_find_the_only_history_in_json_lines(folder: Path, cli: Cli, name: str) -> None:
    (folder / name).write_bytes(META * 12 + LONG + b"\n" + META)
    for more in ((), ("--tool", "lookup"), ("--tool", "lookup", "-o", "out.jsonl"), ("--call", "c1")):
        result = cli(name, *RULES, "--format", "json", *more)
        (lines,) = result.json["lines"]
        assert (result.code, lines["lines"], lines["bad"]) == (1, 14, 13)
        assert (result.json["totals"]["calls"], result.json["totals"]["reduced"]) == (1, 1)
    for verb, answer in (["query", "length(records)"], "  30\n"), (["try", "lookup.yaml"], "c1 (lookup.yaml)"):
        result = cli(*verb, name)
        assert (result.code, result.out.count(answer)) == (0, 1)
        *skipped, others = result.err.splitlines()
        assert [message.partition(": found")[0] for message in skipped] == [
            f"reducer: skipped {name}:{number}: not a history" for number in (1, 2, 3)
        ]
        assert others == "reducer: skipped 10 more"
    assert f"skipped {name}:1: not a history" in cli("explain", name, "--tool", "lookup", *RULES).err
    assert "Read     1 history\n" in cli("compare", name, *RULES).out
    assert cli("init", name, "-o", "drafts").code == 0
    assert [file.name for file in (folder / "drafts").glob("*.yaml")] == ["lookup.yaml"]
    found = load(find_sources([name]))
    assert ([one.tool for one in found.returns], len(found.skipped)) == (["lookup"], 13)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows"])
def test_json_lines_without_a_history_are_one_sample(folder: Path, cli: Cli, name: str) -> None:
    (folder / name).write_bytes(META * 12)
    assert "\n  12\n" in cli("query", "length(@)", name).out
    assert cli("explain", name, "--tool", "lookup", *RULES).code == 0
    (entry,) = cli(name, "--tool", "lookup", *RULES, "--format", "json").json["returns"]
    assert entry["tool"] == "lookup"
    result = cli(name, *RULES)  # without a tool, these can only be histories
    assert (result.code, "12 of 12 lines" in result.out) == (1, True)


def test_one_history_with_the_name_of_json_lines_is_reported(folder: Path, cli: Cli) -> None:
    (folder / "h.jsonl").write_bytes(json.dumps(json.loads(LONG), indent=1).encode())
    result = cli("query", "records", "h.jsonl")
    assert result == Result(2, "", "reducer: error: h.jsonl: one history, not JSON lines; its name must end in .json\n")


# The kernel counts the memory of the parent for a child at first, so the child reads its own status.
_STATUS = "print(open('/proc/self/status').read(), file=sys.stderr)"
MEASURED = [sys.executable, "-c", f"import sys; from reducer.cli import main; main(sys.argv[1:]); {_STATUS}"]


def peak_megabytes(status: str) -> int:
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) // 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted differently")
def test_json_lines_are_not_read_into_memory(folder: Path) -> None:
    line = history(("other", {"name": "y" * 1_000_000}), ("lookup", {"name": "x"})) + b"\n"
    (folder / "b.jsonl").write_bytes(line * 200)
    arguments = [*MEASURED, "query", "name", "b.jsonl", "--tool", "lookup"]
    done = subprocess.run(arguments, capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
    assert done.stdout.count("lookup") >= 200
    assert peak_megabytes(done.stderr) < 150


# --- long streams, and the end of worker processes


def stream(megabytes: int) -> Iterator[bytes]:
    """Yield lines of 100 kB, one of 15 MB, and one of 20 MB that is no history."""
    usual = history(("lookup", {"records": RECORDS}), ("notes", "A long article on nothing. " * 4000)) + b"\n"
    records = [
        {"raw": "A longer text on nothing. " * 12, "name": f"host{number}.example.com"} for number in range(40_000)
    ]
    yield history(("lookup", {"records": records})) + b"\n"
    yield from (b"x" * 1_000_000 for _ in range(20))
    yield b"\n"
    for _ in range(megabytes * 1_000_000 // len(usual)):
        yield usual


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted differently")
def test_a_long_stream_needs_little_memory(folder: Path) -> None:
    command = [*MEASURED, "-", *RULES, "-o", "/dev/null", "--format", "json"]
    with (folder / "report.json").open("wb") as report, (folder / "status").open("wb") as errors:
        done = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=report, stderr=errors, env=ENVIRONMENT)
    assert done.stdin is not None
    for piece in stream(60):
        done.stdin.write(piece)
    done.stdin.close()
    assert done.wait(timeout=120) == 0
    found = json.loads((folder / "report.json").read_bytes())
    assert found["lines"][0]["bad"] == 1
    assert found["totals"]["reduced"] == found["lines"][0]["lines"] - 1 > 500
    assert peak_megabytes((folder / "status").read_text()) < 250


@pytest.fixture
def large(folder: Path) -> Path:
    """Write `a.jsonl.gz`, which takes seconds to reduce."""
    line = history(("lookup", {"records": RECORDS}), ("other", "x")) + b"\n"
    (folder / "a.jsonl.gz").write_bytes(compressed(line * 3000, "a.gz"))
    return folder


def has_processes(group: int) -> bool:
    """Tell whether a process group has running processes."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    states = (line.split() for line in listed.splitlines())
    return any(int(pgid) == group and not state.startswith("Z") for pgid, state in states)


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_run_leaves_no_output_and_no_process(large: Path, how: int, code: int) -> None:
    command = ("a.jsonl.gz", *RULES, "-o", "out.jsonl.gz", "--jobs", "2")
    done = start(*command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    while not any(path.name.startswith(".out.jsonl.gz.") and path.stat().st_size for path in large.iterdir()):
        assert done.poll() is None
        time.sleep(0.01)
    done.send_signal(how)
    out, _ = done.communicate(timeout=60)
    assert (done.returncode, out) == (code, b"")
    assert not (large / "out.jsonl.gz").exists()
    if how == signal.SIGINT:
        assert [path.name for path in large.iterdir() if "out" in path.name] == []
    deadline = time.monotonic() + 30
    while has_processes(done.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_worker_that_dies_is_reported(large: Path) -> None:
    killer = "import os, signal, reducer.cli.dry_run as r; r.reduce_chunk = lambda *_, **__: os.kill(os.getpid(), 9)"
    (large / "sitecustomize.py").write_text(f"import sys\nif '--multiprocessing-fork' in sys.argv:\n    {killer}\n")
    paths = os.pathsep.join((str(large), ENVIRONMENT["PYTHONPATH"]))
    result = process("a.jsonl.gz", *RULES, "-o", "out.jsonl", "--jobs", "2", env={"PYTHONPATH": paths})
    message = "reducer: error: a worker process ended unexpectedly; fewer --jobs need less memory\n"
    assert result == Result(2, "", message)
    assert [path.name for path in large.iterdir() if "out" in path.name] == []
