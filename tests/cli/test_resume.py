"""Runs that are interrupted: nothing half is left under the name of the output, and `--resume` goes on to the very same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reducer.cli import partial
from reducer.cli.rules import read_by
from reducer.lines import packed
from tests.cli.conftest import RECORDS, ROOT, RULE, Result, history

Cli = Callable[..., Result]
LINE = history(("lookup", {"records": RECORDS}), ("other", "x")) + b"\n"
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
posix = pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")


@pytest.fixture
def large(folder: Path) -> Path:
    """Write `a.jsonl.gz`: a first piece that takes no time, then some that take a second, a bad line among them."""
    lines = [b"[]" + b" " * 9_997 + b"\n"] * 210 + [LINE] * 800
    (folder / "a.jsonl.gz").write_bytes(packed(b"".join([*lines, b"wrong\n", LINE]), "gz"))
    return folder


@pytest.fixture
def small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write `a.jsonl.gz` of a few pieces, as pieces are small."""
    monkeypatch.setattr("reducer.lines.pieces._AIM", 20_000)
    (folder / "a.jsonl.gz").write_bytes(packed(LINE * 20 + b"wrong\n" + LINE * 20, "gz"))
    return folder


def interrupted(folder: Path, how: int, *more: str) -> tuple[int, str]:
    """Start a run and end it by a signal in the middle, after its first checkpoint."""
    command = [sys.executable, "-m", "reducer", "a.jsonl.gz", "--rules", "lookup.yaml", "-o", "out.jsonl.gz", *more]
    done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_ENVIRONMENT, start_new_session=True)
    while not (folder / ".out.jsonl.gz.journal").exists():
        assert done.poll() is None
        time.sleep(0.005)
    done.send_signal(how)
    _, err = done.communicate(timeout=60)
    assert not (folder / "out.jsonl.gz").exists()
    # No worker outlives it.
    for _ in range(200):
        try:
            os.killpg(done.pid, 0)
        except (ProcessLookupError, PermissionError):
            break
        time.sleep(0.05)
    else:
        raise AssertionError("a process of it still runs")
    return done.returncode, err.decode()


@posix
@pytest.mark.parametrize(("how", "more"), [(signal.SIGINT, ()), (signal.SIGKILL, ("--jobs", "2")), (signal.SIGINT, ("--jobs", "2"))])
def test_an_interrupted_run_goes_on_to_the_same_bytes(large: Path, cli: Cli, how: int, more: tuple[str, ...]) -> None:
    whole = cli("a.jsonl.gz", "--rules", "lookup.yaml", "-o", "whole.jsonl.gz", "--format", "json")
    code, err = interrupted(large, how, *more)
    state = json.loads((large / ".out.jsonl.gz.journal").read_bytes())
    if how == signal.SIGINT:
        assert (code, err.splitlines()[-1]) == (130, f"reducer: a.jsonl.gz: interrupted; --resume goes on after line {state['lines']['lines']:,}")
    assert 210 <= state["lines"]["lines"] < 1012
    again = cli("a.jsonl.gz", "--rules", "lookup.yaml", "-o", "out.jsonl.gz", "--format", "json", "--resume")
    assert (again.code, again.out) == (whole.code, whole.out)
    assert (large / "out.jsonl.gz").read_bytes() == (large / "whole.jsonl.gz").read_bytes()
    assert not [path.name for path in large.iterdir() if path.name.startswith(".")]


@pytest.fixture
def begun(small: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Interrupt a run in this process after its third piece, with a checkpoint at each."""
    monkeypatch.setattr(partial, "_EVERY", 0)
    count = 0

    def stop(self: partial.Partial, content: bytes) -> None:
        nonlocal count
        count += 1
        if count == 4:
            written(self, content[: len(content) // 2])
            raise KeyboardInterrupt
        written(self, content)

    written = partial.Partial.write
    with monkeypatch.context() as patch:
        patch.setattr(partial.Partial, "write", stop)
        result = cli("a.jsonl.gz", "--rules", "lookup.yaml", "-o", "out.jsonl.gz")
    assert (result.code, result.out) == (130, "")
    assert sorted(path.name for path in small.iterdir() if "out" in path.name) == [".out.jsonl.gz.journal", ".out.jsonl.gz.partial"]
    return small


def resumed(cli: Cli, *more: str) -> Result:
    return cli("a.jsonl.gz", "--rules", "lookup.yaml", "-o", "out.jsonl.gz", "--resume", *more)


def test_what_was_half_written_is_written_once(begun: Path, cli: Cli) -> None:
    assert cli("a.jsonl.gz", "--rules", "lookup.yaml", "-o", "whole.jsonl.gz").code == 1
    assert resumed(cli).code == 1
    assert (begun / "out.jsonl.gz").read_bytes() == (begun / "whole.jsonl.gz").read_bytes()


def test_it_goes_on_only_with_the_same(begun: Path, cli: Cli) -> None:
    def refused(what: str, *more: str) -> None:
        before = {path: path.stat().st_size for path in begun.iterdir()}
        result = resumed(cli, *more)
        assert (result.code, result.out) == (2, "")
        assert result.err == f"reducer: error: out.jsonl.gz: {what} since the interrupted run; without --resume it is written anew\n"
        assert {path: path.stat().st_size for path in begun.iterdir()} == before

    settings = "the rules, --tool, --call, --no-references or the version of reducer have changed"
    refused(settings, "--tool", "lookup")
    (begun / "lookup.yaml").write_text(RULE.replace("5", "6"))
    refused(settings)
    (begun / "lookup.yaml").write_text(RULE)
    os.utime(begun / "a.jsonl.gz")
    refused("a.jsonl.gz has changed")


def test_words_are_part_of_the_rules(begun: Path, cli: Cli) -> None:
    for words in ("one", "two"):
        (begun / "words.txt").write_text(words)
        (begun / "own.yaml").write_text("version: 1\nentities:\n  thing: {words_file: words.txt}\n")
        files = [begun / "lookup.yaml", begun / "own.yaml"]
        digest = partial.settings_of(read_by(files))
        assert digest == partial.settings_of(read_by(files))
        assert digest != partial.settings_of([*files, begun / "h.json"])
        if words == "one":
            first = digest
    assert digest != first


def test_without_resume_it_begins_anew(begun: Path, cli: Cli) -> None:
    result = cli("a.jsonl.gz", "--rules", "lookup.yaml", "-o", "out.jsonl.gz")
    assert result.code == 1
    assert result.err.startswith("reducer: out.jsonl.gz: an interrupted run is begun anew; --resume would have gone on with it\n")
    assert not [path.name for path in begun.iterdir() if path.name.startswith(".")]


def test_there_may_be_nothing_to_go_on_with(small: Path, cli: Cli) -> None:
    for journal in (None, b"", b"{}", b"\xff", b"[" * 100_000):
        if journal is not None:
            (small / ".out.jsonl.gz.journal").write_bytes(journal)
        result = resumed(cli)
        assert result.code == 1
        assert result.err.startswith("reducer: out.jsonl.gz: there is no interrupted run to go on with; this one starts at the beginning\n")


@posix
def test_two_runs_do_not_write_the_same_output(begun: Path, cli: Cli) -> None:
    import fcntl

    with (begun / ".out.jsonl.gz.partial").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        result = resumed(cli)
    assert (result.code, result.err) == (2, "reducer: error: out.jsonl.gz: another run is writing it\n")
    assert resumed(cli).code == 1


@posix
def test_a_worker_that_dies_is_told_of(large: Path) -> None:
    command = [sys.executable, "-m", "reducer", "a.jsonl.gz", "--rules", "lookup.yaml", "-o", "out.jsonl", "--jobs", "2"]
    killer = "import os, signal, reducer.cli.crew as crew; crew.do = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
    (large / "sitecustomize.py").write_text(f"import sys\nif '--multiprocessing-fork' in sys.argv:\n    {killer}\n")
    environment = {**_ENVIRONMENT, "PYTHONPATH": os.pathsep.join((str(large), str(ROOT)))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("reducer: error: a worker process was killed by signal 9 in the middle of its work; with fewer --jobs less memory is used\n")
    assert not [path.name for path in large.iterdir() if "out" in path.name]


def test_a_folder_goes_on_after_the_files_that_are_finished(folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "logs").mkdir()
    for name in ("a.jsonl", "c.jsonl"):
        (folder / "logs" / name).write_bytes(LINE * 3)
    (folder / "logs" / "b.json").write_bytes(LINE)
    arguments = ("logs", "--rules", "lookup.yaml", "--format", "table", "-o")
    whole = cli(*arguments, "whole/")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("reducer.cli.outputs.Partial", lambda target, *rest: stop() if target.name == "c.jsonl" else partial.Partial(target, *rest))
        assert cli(*arguments, "out/").code == 130
    first = (folder / "out" / "a.jsonl").stat()
    again = cli(*arguments, "out/", "--resume")
    assert again == Result(0, whole.out, "reducer: wrote 1 file in out/, " + f"{(folder / 'out' / 'c.jsonl').stat().st_size:,} bytes\n")
    assert (folder / "out" / "a.jsonl").stat() == first
    for path in (folder / "whole").iterdir():
        assert (folder / "out" / path.name).read_bytes() == path.read_bytes()
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["a.jsonl", "b.json", "c.jsonl"]
