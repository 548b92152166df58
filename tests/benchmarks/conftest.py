"""The fixture for ratios: contenders are timed in turn, so that a busy machine slows down all of them."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

Contender = tuple[Callable[[Any], Any], Callable[[], Any]]
"""What is timed, and what makes its argument."""


@pytest.fixture
def compare(benchmark: BenchmarkFixture) -> Callable[..., dict[str, float]]:
    """Return a function that times contenders and prints (with `-s`) their best times and ratios to the first."""

    def run(name: str, contenders: dict[str, Contender], rounds: int = 10) -> dict[str, float]:
        best = dict.fromkeys(contenders, float("inf"))
        for _ in range(rounds):
            for contender, (call, make) in contenders.items():
                given = make()
                start = perf_counter()
                call(given)
                best[contender] = min(best[contender], perf_counter() - start)
        baseline = next(iter(best.values()))
        ratios = {contender: seconds / baseline for contender, seconds in best.items()}
        shown = (f"{contender} {1000 * best[contender]:.2f} ms ({ratio:.2f})" for contender, ratio in ratios.items())
        print(f"\n{name}: {', '.join(shown)}", end="")
        benchmark.extra_info.update(ratios)
        call, make = list(contenders.values())[-1]
        benchmark.pedantic(call, setup=lambda: ((make(),), {}), rounds=3)
        return ratios

    return run
