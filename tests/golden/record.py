"""Record the results over the golden corpus, or compare them with the recorded ones.

python -m tests.golden.record           record all results again
python -m tests.golden.record --diff    print the names of the results that changed
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.golden.corpus import Case, corpus

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
DATA = CHECKOUT.parent / "shared" / "data"
DIGESTS = HERE / "digests"

Results = dict[str, dict[str, str]]
"""The digest of each changed result by group and name. An input without a digest is unchanged."""


def recorded() -> Results:
    """Read the recorded digests."""
    lines = {file.stem: file.read_text(encoding="utf-8").splitlines() for file in sorted(DIGESTS.glob("*.txt"))}
    return {
        group: {name: result for name, _, result in (line.partition(": ") for line in found)}
        for group, found in lines.items()
    }


def computed(cases: Iterable[Case]) -> Results:
    """Reduce every input and return the digests."""
    results: Results = {}
    for case in cases:
        result = case.reduce()
        if result is not None:
            results.setdefault(case.group, {})[case.name] = digest(result)
    return results


def digest(result: str) -> str:
    """Return 12 hexadecimal digits of the SHA-256 of a result, and its length in characters."""
    return f"{hashlib.sha256(result.encode('utf-8', 'surrogatepass')).hexdigest()[:12]} {len(result)}"


def changed(before: Results, after: Results) -> list[str]:
    """Return `group: name: before -> after` for every result that differs, sorted."""
    return [
        f"{group}: {name}: {old} -> {new}"
        for group in sorted(before.keys() | after.keys())
        for name in sorted(before.get(group, {}).keys() | after.get(group, {}).keys())
        if (old := before.get(group, {}).get(name, "unchanged")) != (new := after.get(group, {}).get(name, "unchanged"))
    ]


def record(results: Results) -> None:
    """Write one file of digests per group."""
    DIGESTS.mkdir(exist_ok=True)
    for group, digests in results.items():
        text = "".join(f"{name}: {result}\n" for name, result in sorted(digests.items()))
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
