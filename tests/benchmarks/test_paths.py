"""Paths and conditions; conditions beside the `jmespath` library."""

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
        "tags": ["a", "b", "c"][: number % 4],
        "source": {"ip": f"10.0.0.{number % 250}", "geo": {"country": "DE", "city": None}},
        "hits": [{"at": f"2026-02-{n + 1:02}", "rule": f"rule {n}"} for n in range(number % 3)],
    }
    for number in range(500)
]
PATHS = [
    "items[*]",
    "items[*].source.geo.country",
    "items[].tags[]",
    "items[?risk == 'high'].id",
    "items[*].id | [-20:]",
]
CONDITIONS = ["risk == 'high'", "score > `50`", "source.geo.country == 'DE' || score < `10`", "length(tags) > `1`"]


@pytest.mark.parametrize("text", PATHS)
def test_path(benchmark: Any, text: str) -> None:
    benchmark(compile_path(text).find, {"items": ITEMS})


@pytest.mark.parametrize("text", CONDITIONS)
@pytest.mark.parametrize("contender", ["reducer", "the library"])
def test_condition(benchmark: Any, text: str, contender: str) -> None:
    benchmark.group = f"condition: {text}"
    holds = compile_expression(text).holds if contender == "reducer" else jmespath.compile(text).search
    benchmark(lambda: [holds(item) for item in ITEMS])
