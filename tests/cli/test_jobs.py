"""`--jobs`: runs in several processes, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reducer.histories.compressed import compressed
from tests.cli.conftest import RECORDS, ROOT, history, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
LINE = history(("lookup", {"records": RECORDS}), ("other", "x")) + b"\n"


@pytest.fixture
def large(folder: Path) -> Path:
    """Write `a.jsonl.gz`, which takes seconds to reduce."""
    (folder / "a.jsonl.gz").write_bytes(compressed(LINE * 6000, "gz"))
    return folder


def has_processes(group: int) -> bool:
    """Tell whether a process group has processes that have not ended."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    states = (line.split() for line in listed.splitlines())
    return any(int(pgid) == group and not state.startswith("Z") for pgid, state in states)


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_run_leaves_no_output_and_no_process(large: Path, how: int, code: int) -> None:
    command = ("a.jsonl.gz", "--rules", "lookup.yaml", "-o", "out.jsonl.gz", "--jobs", "2")
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
    killer = "import os, signal, reducer.cli.reduction as r; r.reduce_task = lambda *_: os.kill(os.getpid(), 9)"
    (large / "sitecustomize.py").write_text(f"import sys\nif '--multiprocessing-fork' in sys.argv:\n    {killer}\n")
    done = subprocess.run(
        [sys.executable, "-m", "reducer", "a.jsonl.gz", "--rules", "lookup.yaml", "-o", "out.jsonl", "--jobs", "2"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(large), str(ROOT)))},
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("reducer: error: a worker process ended unexpectedly; fewer --jobs need less memory\n")
    assert [path.name for path in large.iterdir() if "out" in path.name] == []
