"""Print accuracy and speed of the scanner beside ioc-finder and iocextract: `python -m
tests.benchmarks.entities.compare DATA [--no-peers]`.

DATA is the folder of real data (`entities/labelled.jsonl`, `tool_outputs`, `histories`). The peers are installed into
an environment of their own, which is thrown away.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from reducer.entities import TYPES as ALL
from reducer.entities import Entity, scanner
from tests.benchmarks.entities.accuracy import TYPES, Counts, score

PEERS = ("ioc-finder", "iocextract")
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


def peers(some: list[str]) -> list[dict]:
    """Run the peers over texts, in an environment of their own."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS, "requests", "setuptools<81"], check=True)
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(some), encoding="utf-8")
        done = subprocess.run(
            [python, str(Path(__file__).with_name("peers.py")), str(path)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]


def row(name: str, counts: dict[str, Counts], megabytes: float, stuck: int) -> str:
    """Give one extractor's line of the table: F1 by type, false and missed values, MB/s."""
    cells = [f"{counts[kind].f1:6.1f}" if kind in counts else "     -" for kind in (*TYPES, "all")]
    total = counts["all"]
    domains = counts["domain"].false if "domain" in counts else "-"
    return f"{name:22}{' '.join(cells)} {total.false:6} {total.missed:6} {domains:>8} {megabytes:7.2f} {stuck:6}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    labelled = options.data / "entities" / "labelled.jsonl"
    kinds = texts(options.data)
    size = sum(map(len, kinds["reports"])) / 1e6

    plain, full = scanner(PLAIN), scanner(frozenset(ALL))
    print(
        f"{'F1 on labelled.jsonl':22}{' '.join(f'{kind:>6}' for kind in (*TYPES, 'all'))}  false missed fls.dom.    MB/s  stuck"
    )
    found = score(labelled, lambda text: [(e.type, e.canonical) for e in plain(text)])
    print(row("reducer", found, speed(plain, kinds["reports"]), 0))
    for kind in (*TYPES, "all"):
        print(
            f"  {kind:8} precision {found[kind].precision:6.2f}  recall {found[kind].recall:6.2f}  F1 {found[kind].f1:6.2f}"
        )
    if not options.no_peers:
        for peer in peers(kinds["reports"]):
            answers = iter(peer["found"])
            counts = score(
                labelled, lambda _text, answers=answers: [tuple(pair) for pair in next(answers)], peer["types"]
            )
            print(row(peer["name"], counts, size / peer["seconds"], peer["stuck"]))

    print("\nMB/s, one core           all but names   all types")
    for kind, some in kinds.items():
        print(f"  {kind:22} {speed(plain, some):10.1f} {speed(full, some):11.1f}")
    mixed = kinds["reports"] + kinds["JSON as text"] + kinds["tool returns"]
    print(f"  {'the first three':22} {speed(plain, mixed):10.1f} {speed(full, mixed):11.1f}")
    print(
        f"  100 kB of nothing: {len(NOTHING) / speed(plain, [NOTHING]) / 1e3:.2f} ms, with names {len(NOTHING) / speed(full, [NOTHING]) / 1e3:.2f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
