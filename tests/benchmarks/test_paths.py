"""Time of paths and conditions: `python -m pytest tests/benchmarks/test_paths.py --benchmark-only`."""

from __future__ import annotations

from typing import Any

import jmespath
import pytest

from reducer.paths import compile_expression, compile_path

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


@pytest.mark.parametrize("text", PATHS)
def test_path(benchmark: Any, text: str) -> None:
    benchmark(compile_path(text).find, REPORT)


@pytest.mark.parametrize("text", CONDITIONS)
def test_condition(benchmark: Any, text: str) -> None:
    holds = compile_expression(text).holds
    benchmark(lambda: [holds(item) for item in ITEMS])


@pytest.mark.parametrize("text", CONDITIONS)
def test_condition_by_the_library(benchmark: Any, text: str) -> None:
    search = jmespath.compile(text).search
    benchmark(lambda: [search(item) for item in ITEMS])
