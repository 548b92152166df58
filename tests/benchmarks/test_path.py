"""Time of paths and conditions against `jmespath.search` on the same expression, compiled, in the same run.

`python -m pytest tests/benchmarks/test_path.py --benchmark-only -s` prints one line for each: microseconds, and how often
`find`, `update` (nothing changes) and `update` (every place changes) fit into the time of the library.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import jmespath
import pytest

from reducer.path import compile_expression, compile_path

ITEMS = [
    {
        "id": f"r-{number}",
        "risk": ("low", "medium", "high")[number % 3],
        "score": number % 100,
        "last_seen": f"2026-01-{number % 28 + 1:02}",
        "tags": ["a", "b", "c"][: number % 4],
        "source": {"ip": f"10.0.0.{number % 250}", "geo": {"country": "DE", "city": None}},
        "hits": [{"at": f"2026-02-{n + 1:02}", "rule": f"rule {n}"} for n in range(number % 3)],
    }
    for number in range(500)
]
REPORT = {
    "name": "report",
    "whois": {"registrar": {"name": "R", "raw": "x" * 1000}},
    "resolutions": ITEMS,
    "by_source": {f"feed {number}": {"items": ITEMS[number * 10 : number * 10 + 10]} for number in range(20)},
}

PATHS = [
    "resolutions",
    "whois.registrar.raw",
    "resolutions[0].source.ip",
    "resolutions[-1]",
    "resolutions[*]",
    "resolutions[*].id",
    "resolutions[*].source.geo.country",
    "resolutions[:100].source.ip",
    "resolutions[*].hits[*].rule",
    "resolutions[].tags[]",
    "by_source.*.items[].source.ip",
    "resolutions[?risk == 'high'].id",
    "resolutions[?score > `50` && source.ip].hits[]",
    "resolutions[?contains(tags, 'c')].id",
    "resolutions[*].hits[*].rule | [0]",
    "resolutions[*].id | [-20:]",
]
CONDITIONS = [
    "risk == 'high'",
    "risk != 'high'",
    "score > `50`",
    "source.geo.country == 'DE' || score < `10`",
    "!source.geo.city",
    "length(tags) > `1`",
    "tags[?@ == 'c']",
    "sort_by(hits, &at)[0].rule",
]


def best(*calls: Callable[[], Any], rounds: int = 15) -> list[float]:
    """Give the least time of each call in microseconds; the calls take turns, so that a busy moment meets them all."""
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for position, call in enumerate(calls):
            number, start = 0, perf_counter()
            while (passed := perf_counter() - start) < 0.002:
                for _ in range(10):
                    call()
                number += 10
            least[position] = min(least[position], passed / number * 1e6)
    return least


@pytest.mark.parametrize("text", PATHS)
def test_path_against_the_library(benchmark: Any, text: str) -> None:
    library, places = jmespath.compile(text), compile_path(text)
    keep, change = (lambda place: place), (lambda place: "other")
    search, find, same, new = best(
        lambda: library.search(REPORT),
        lambda: places.find(REPORT),
        lambda: places.update(REPORT, keep),
        lambda: places.update(REPORT, change),
    )
    ratios = f"find {search / find:5.1f}x   same {search / same:5.1f}x   changed {search / new:5.1f}x"
    print(f"\n{text:50} search {search:8.1f} µs   {ratios}")
    benchmark(places.update, REPORT, keep)


@pytest.mark.parametrize("text", CONDITIONS)
def test_condition_against_the_library(benchmark: Any, text: str) -> None:
    library, condition = jmespath.compile(text), compile_expression(text)
    holds = condition.holds
    library_all, ours_all = (lambda: [library.search(item) for item in ITEMS]), (lambda: [holds(item) for item in ITEMS])
    search, ours = best(library_all, ours_all)
    search, ours = search / len(ITEMS), ours / len(ITEMS)
    print(f"\n{text:50} search {search:8.2f} µs an item   holds {ours:6.2f} µs   {search / ours:5.1f}x")
    benchmark(lambda: [holds(item) for item in ITEMS])
