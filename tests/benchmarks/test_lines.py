"""JSON lines with two processes against one; the target is 1.5 times the speed, on a machine with two idle cores.

`python -m pytest tests/benchmarks/test_lines.py -o addopts= --benchmark-only -s` prints a line for each, measured in
turn.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from reducer.histories.compressed import compressed
from tests.benchmarks.test_stored import synthetic

ROOT = Path(__file__).parents[2]
_RULE = "version: 1\ntool: explore\nsteps:\n  - limit: 20\n    sort_by: last_seen\n  - keep: [hostname, address, last_seen, risk]\npreserve: [cve]\n"


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_two_processes(benchmark: Any, tmp_path: Path, ending: str) -> None:
    line = synthetic(1, "both") + b"\n"
    content = line * 60
    (tmp_path / "explore.yaml").write_text(_RULE)
    (tmp_path / f"a.jsonl{ending}").write_bytes(compressed(content, "gz") if ending else content)

    def run(jobs: int) -> float:
        command = [
            sys.executable,
            "-m",
            "reducer",
            f"a.jsonl{ending}",
            "--rules",
            "explore.yaml",
            "-o",
            f"out.jsonl{ending}",
            "--jobs",
            str(jobs),
        ]
        start = perf_counter()
        subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
            timeout=600,
        )
        return perf_counter() - start

    times: list[list[float]] = [[], []]
    for _ in range(3):
        for index in (0, 1):
            times[index].append(run(index + 1))
    one, two = min(times[0]), min(times[1])
    benchmark.extra_info["times the speed of one"] = ratio = round(one / two, 2)
    print(
        f"\n{len(content) / 1e6:.0f} MB{ending}: {len(content) / 1e6 / one:.0f} MB/s, with two processes {ratio:.2f} times that",
        end="",
    )
    benchmark.pedantic(run, args=(2,), rounds=1)
