"""Print accuracy and speed of the scanner: `python -m tests.benchmarks.entities.compare DATA`.

DATA is the folder of real data (`entities/labelled.jsonl`, `tool_outputs`, `histories`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from reducer.entities import TYPES as ALL
from reducer.entities import Entity, scanner
from tests.benchmarks.entities.accuracy import score

PLAIN = frozenset(ALL) - {"threat_actor", "malware"}
NOTHING = "lorem ipsum dolor sit amet, consectetur adipiscing elit\n" * 1786  # 100 kB


def texts(data: Path) -> dict[str, list[str]]:
    """Give real texts by kind: reports, JSON as text, texts of tool returns, the strings within JSON."""
    reports = [json.loads(line)["text"] for line in (data / "entities" / "labelled.jsonl").open(encoding="utf-8")]
    outputs = [
        path.read_text(encoding="utf-8")
        for path in sorted((data / "tool_outputs").glob("*.json"))
        if path.name != "manifest.json"
    ]
    outputs = [text for text in outputs if len(text) < 200_000]
    histories = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((data / "histories").glob("*/*.json"))]
    leaves = [leaf for text in outputs for leaf in strings(json.loads(text))]
    return {
        "reports": reports,
        "JSON as text": outputs,
        "tool returns": [t for h in histories for t in strings(h) if len(t) > 100],
        "JSON strings": leaves,
    }


def strings(value: object) -> Iterator[str]:
    """Give the strings of a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def speed(find: Callable[[str], Sequence[Entity]], some: list[str]) -> float:
    """Give MB (million characters) a second of processor time, the best of five runs."""
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for text in some:
            find(text)
        best = min(best, time.process_time() - start)
    return sum(map(len, some)) / best / 1e6


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    plain, full = scanner(PLAIN), scanner(frozenset(ALL))
    found = score(data / "entities" / "labelled.jsonl", lambda text: [(e.type, e.canonical) for e in plain(text)])
    print("labelled.jsonl  precision  recall      F1  false missed")
    for kind, counts in found.items():
        shares = f"{counts.precision:9.2f} {counts.recall:7.2f} {counts.f1:7.2f}"
        print(f"  {kind:13} {shares} {counts.false:6} {counts.missed:6}")
    print("\nMB/s, one core           all but names   all types")
    for kind, some in {**texts(data), "100 kB of nothing": [NOTHING]}.items():
        print(f"  {kind:22} {speed(plain, some):10.1f} {speed(full, some):11.1f}")


if __name__ == "__main__":
    sys.exit(main())
