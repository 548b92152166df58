from __future__ import annotations

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from reducer.entities import TYPES, scanner
from tests.benchmarks.entities.compare import NOTHING, PLAIN, texts
from tests.entities.texts import FAMILIES


@pytest.mark.parametrize("kind", ["reports", "JSON as text", "tool returns", "JSON strings"])
@pytest.mark.parametrize("types", [PLAIN, frozenset(TYPES)], ids=["without names", "all"])
def test_speed(benchmark: BenchmarkFixture, data: Path, kind: str, types: frozenset[str]) -> None:
    some = texts(data)[kind]
    find = scanner(types)
    benchmark.extra_info["characters"] = sum(map(len, some))
    benchmark(lambda: [find(text) for text in some])


def test_nothing_there(benchmark: BenchmarkFixture) -> None:
    benchmark(scanner(PLAIN), NOTHING)


@pytest.mark.parametrize("size", [100_000, 1_000_000])
@pytest.mark.parametrize("family", list(FAMILIES))
def test_growth(benchmark: BenchmarkFixture, family: str, size: int) -> None:
    text = FAMILIES[family](size)
    benchmark.pedantic(scanner(frozenset(TYPES)), (text,), rounds=3, warmup_rounds=1)
