"""Memory stays bounded however long a stream is, and however long its lines."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import RECORDS, ROOT, history

_LONGEST = [
    {
        "id": number,
        "name": f"host{number}.example.com",
        "seen": "2024-01-01",
        "raw": "Ein längerer Text über nichts. " * 9,
    }
    for number in range(40_000)
]


def stream(megabytes: int) -> Iterator[bytes]:
    """Make lines of 100 kB, one of 15 MB that is reduced, and one of 40 MB that is too long to be."""
    usual = history(("lookup", {"records": RECORDS}), ("notes", "A long article on nothing. " * 4000)) + b"\n"
    largest = json.dumps(json.loads(history(("lookup", {"records": _LONGEST}))), ensure_ascii=False).encode() + b"\n"
    assert 13_000_000 < len(largest) < 16 * 1024 * 1024
    yield largest
    yield from (b"x" * 1_000_000 for _ in range(40))
    yield b"\n"
    for _ in range(megabytes * 1_000_000 // len(usual)):
        yield usual


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory otherwise")
def test_a_long_stream_takes_little_memory(folder: Path) -> None:
    # What the kernel counts for a child begins with what its parent had: the child looks itself.
    code = "import sys; from reducer.cli import main; main(sys.argv[1:]); print(open('/proc/self/status').read(), file=sys.stderr)"
    command = [sys.executable, "-c", code, "-", "--rules", "lookup.yaml", "-o", "/dev/null", "--format", "json"]
    with (folder / "report.json").open("wb") as report, (folder / "status").open("wb") as status:
        done = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=report, stderr=status, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
    assert done.stdin is not None
    for piece in stream(60):
        done.stdin.write(piece)
    done.stdin.close()
    assert done.wait(timeout=120) == 0
    told = json.loads((folder / "report.json").read_bytes())
    assert told["lines"][0]["long"] == 1
    assert told["totals"]["reduced"] == told["lines"][0]["lines"] - 1 > 500
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", (folder / "status").read_text(), re.MULTILINE)
    assert peak is not None
    assert int(peak[1]) < 250 * 1024
