"""How long `preserve` takes on structured returns, beside scanning their texts one by one.

Every figure is a ratio in its group: compare rows, not milliseconds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from reducer.engine import reduce_content
from tests.benchmarks.real import cut_down
from tests.benchmarks.test_engine import WORDS, ruleset
from tests.helpers import texts

KNOWN = " ".join(WORDS).split()
STEPS = "  - {path: rows, limit: 20}\n  - {path: rows, drop: [note]}\n"


def repeating(rng: random.Random, number: int) -> dict[str, Any]:
    """A row of a log: its values were seen before."""
    return {
        "time": f"2024-05-{rng.randint(1, 28):02}T00:00:00Z",
        "host": f"host{rng.randrange(40)}.corp.example.com",
        "source": f"198.51.100.{rng.randrange(60)}",
        "user": f"user{rng.randrange(30)}@example.org",
        "note": f"Session {rng.randrange(50)} closed by the peer after the timer ran out",
        "action": rng.choice(("allow", "deny")),
        "bytes": rng.randrange(10),
    }


def new(rng: random.Random, number: int) -> dict[str, Any]:
    """A row whose texts are all new; every third names an address."""
    note = " ".join(rng.choice(KNOWN) for _ in range(40))
    return {
        "id": f"id-{number:x}",
        "time": f"2024-05-01T{number % 24:02}:{number % 60:02}:00.{number:06}Z",
        "level": "low",
        "note": note,
    } | ({} if number % 3 else {"address": f"{number % 223 + 1}.{number >> 8 & 255}.7.{number & 255}"})


def dense(rng: random.Random, number: int) -> dict[str, Any]:
    """A tiny row that is nothing but an address: all of them are put back."""
    return {"ip": f"{number % 223 + 1}.{number >> 8 & 255}.{number >> 3 & 255}.{number & 255}"}


ROWS: dict[str, tuple[Callable[[random.Random, int], dict[str, Any]], int, int]] = {
    "records that repeat": (repeating, 20, 800),
    "all texts new": (new, 20, 400),
    "20,000 tiny objects": (dense, 1, 20_000),
}


@pytest.fixture(params=ROWS)
def contents(request: pytest.FixtureRequest) -> tuple[str, list[dict[str, Any]]]:
    make, count, rows = ROWS[request.param]
    rng = random.Random(3)
    return request.param, [
        {"rows": [make(rng, call * rows + number) for number in range(rows)]} for call in range(count)
    ]


def _run(benchmark: BenchmarkFixture, name: str, call: Callable[[], Iterable[Any]]) -> None:
    benchmark.group = f"preserve: {name}"
    benchmark(lambda: list(call()))


@pytest.mark.parametrize("preserve", ["[ioc, cve, threat_actor]", "[]"])
def test_reducing(benchmark: BenchmarkFixture, contents: tuple[str, list[Any]], preserve: str) -> None:
    rules = ruleset(STEPS, f"preserve: {preserve}\n")
    _run(benchmark, contents[0], lambda: (reduce_content(rules, "t", content) for content in contents[1]))


def test_scanning_each_text(benchmark: BenchmarkFixture, contents: tuple[str, list[Any]]) -> None:
    rule = ruleset(STEPS, "preserve: [ioc, cve, threat_actor]\n").rules[0]
    scan = rule.vocabulary.scanner(rule.types)
    _run(benchmark, contents[0], lambda: (scan(text) for content in contents[1] for text in texts(content)))


@pytest.mark.parametrize("preserve", ["[ioc, cve, threat_actor]", "[]"])
def test_reducing_answers_of_products(benchmark: BenchmarkFixture, data: Path, preserve: str) -> None:
    some = [*cut_down(data, preserve)]
    _run(benchmark, "answers of products", lambda: (reduce_content(each.ruleset, "t", each.content) for each in some))


def test_scanning_answers_of_products(benchmark: BenchmarkFixture, data: Path) -> None:
    returns = [*cut_down(data)]
    rule = returns[0].ruleset.rules[0]
    scan = rule.vocabulary.scanner_of_many(rule.types)
    _run(benchmark, "answers of products", lambda: (scan(dict.fromkeys(texts(each.content))) for each in returns))
