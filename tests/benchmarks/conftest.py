"""The fixture `compare`, which times contenders in turn, so that a busy machine slows down all of them."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

Call = Callable[[Any], Any]


@pytest.fixture
def compare(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Return a function that times contenders and prints their best times, with ratios to the first contender."""

    def run(name: str, contenders: dict[str, Call], make: Callable[[], Any], rounds: int = 10) -> None:
        """Call each contender with what `make` returns."""
        best = dict.fromkeys(contenders, float("inf"))
        for _ in range(rounds):
            for contender, call in contenders.items():
                argument = make()
                start = perf_counter()
                call(argument)
                best[contender] = min(best[contender], perf_counter() - start)
        baseline = next(iter(best.values()))
        shown = (f"{name} {1000 * seconds:.2f} ms ({seconds / baseline:.2f})" for name, seconds in best.items())
        with capsys.disabled():
            print(f"\n{name}: {', '.join(shown)}", end="")
        benchmark.extra_info.update({contender: seconds / baseline for contender, seconds in best.items()})
        benchmark.pedantic(list(contenders.values())[-1], setup=lambda: ((make(),), {}), rounds=3)

    return run
