"""The fixture `compare`, which takes the CPU time of contenders in turn, so that a busy machine affects all alike."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

Call = Callable[[Any], Any]


@pytest.fixture
def compare(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Return a function that times contenders and prints their best times, with their speeds relative to the first."""

    def run(name: str, contenders: dict[str, Call], make: Callable[[], Any], rounds: int = 10) -> None:
        """Call each contender with what `make` returns."""
        best = dict.fromkeys(contenders, float("inf"))
        for _ in range(rounds):
            for contender, call in contenders.items():
                argument = make()
                start = process_time()
                call(argument)
                best[contender] = min(best[contender], process_time() - start)
        baseline = next(iter(best.values()))
        speeds = {contender: baseline / seconds for contender, seconds in best.items()}
        shown = (f"{one} {1000 * best[one]:.2f} ms ({speed:.2f})" for one, speed in speeds.items())
        with capsys.disabled():
            print(f"\n{name}: {', '.join(shown)}", end="")
        benchmark.extra_info.update(speeds)
        benchmark.pedantic(list(contenders.values())[-1], setup=lambda: ((make(),), {}), rounds=3)

    return run
