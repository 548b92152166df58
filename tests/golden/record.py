"""Record the results over the golden corpus, or compare them with the recorded ones.

python -m tests.golden.record           record all results again
python -m tests.golden.record --diff    print the names of the results that changed
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from tests.golden.corpus import Case, corpus

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
DATA = CHECKOUT.parent / "shared" / "data"
DIGESTS = HERE / "digests"

Results = dict[tuple[str, str], str]
"""The digest of each changed result by group and name. An input without a digest is unchanged."""


def recorded() -> Results:
    """Read the recorded digests."""
    results: Results = {}
    for file in DIGESTS.glob("*.txt"):
        for line in file.read_text(encoding="utf-8").splitlines():
            name, _, result = line.partition(": ")
            results[file.stem, name] = result
    return results


def computed(cases: Iterable[Case]) -> Results:
    """Reduce every input and return the digests."""
    results: Results = {}
    for case in cases:
        result = case.reduce()
        if result is not None:
            results[case.group, case.name] = digest(result)
    return results


def digest(result: str) -> str:
    """Return 12 hexadecimal digits of the SHA-256 of a result, and its length in characters."""
    return f"{hashlib.sha256(result.encode('utf-8', 'surrogatepass')).hexdigest()[:12]} {len(result)}"


def changed(before: Results, after: Results) -> list[str]:
    """Return `group: name: before -> after` for every result that differs, sorted."""
    lines = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key, "unchanged"), after.get(key, "unchanged")
        if old != new:
            lines.append(f"{': '.join(key)}: {old} -> {new}")
    return lines


def record(results: Results) -> None:
    """Write one file of digests per group."""
    for group, keys in groupby(sorted(results), itemgetter(0)):
        text = "".join(f"{name}: {results[group, name]}\n" for _, name in keys)
        (DIGESTS / f"{group}.txt").write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Record or compare, and return the exit code: 1 if a result changed."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.record", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--diff", action="store_true", help="only compare with the recorded digests")
    options = parser.parse_args(arguments)
    results = computed(corpus(DATA))
    lines = changed(recorded(), results)
    print("\n".join([*lines, f"{len(lines)} results changed"]))
    if not options.diff:
        record(results)
    return 1 if lines and options.diff else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
