"""How long reducing takes beside the work that a run does anyway; run with `pytest tests/benchmarks --benchmark-only`.

Every figure is a ratio in its group: compare rows, not milliseconds.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from reducer.engine import prepare, reduce_content
from reducer.entities import scanner
from reducer.rules import Ruleset, compile_rules

KEPT = "hostname, address, last_seen, risk, score, verification"
STEPS = {
    "by position": "  - {path: resolutions, limit: 20}\n",
    "by one field": "  - {path: resolutions, limit: 20, sort_by: last_seen}\n",
    "by expressions": "  - {path: resolutions, limit: 20, sort_by: verification.votes,\n"
    "     always_keep: risk == 'critical' && length(tags) > `9`}\n",
}


def ruleset(steps: str, more: str = "") -> Ruleset:
    compiled, problems = compile_rules([("bench.yaml", f"version: 1\ntool: t\n{more}steps:\n{steps}")])
    assert compiled is not None, problems
    prepare(compiled)
    return compiled


def structural(steps: str) -> Ruleset:
    return ruleset(f"{steps}  - {{path: resolutions, keep: [{KEPT}, tags]}}\n")


def record(rng: random.Random, number: int) -> dict[str, Any]:
    return {
        "hostname": f"host{number}.example.com",
        "address": f"192.0.2.{number % 256}",
        "first_seen": "2023-01-01T00:00:00Z",
        "last_seen": f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T00:00:00Z",
        "risk": rng.choice(("low", "medium", "high")),
        "score": rng.randint(0, 100),
        "raw": "x" * 200,
        "verification": {"votes": rng.randint(0, 9), "by": ["a", "b"], "note": "checked against the second source"},
        "tags": ["a", "b", "c"],
        "notes": "Seen again last night beside the others, by the same sensor.",
        "source": f"feed-{number % 7}",
        "ttl": 3600,
    }


def returns(megabytes: float) -> list[dict[str, Any]]:
    rng = random.Random(1)
    one = len(json.dumps({"resolutions": [record(rng, n) for n in range(200)], "total": 200}))
    return [
        {"resolutions": [record(rng, n) for n in range(200)], "total": 200}
        for _ in range(max(1, int(megabytes * 1e6 / one)))
    ]


@pytest.fixture(scope="module", params=[5, 50], ids=["5 MB", "50 MB"])
def contents(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return returns(request.param)


def plainly(contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same by hand: top 20 of 200 by one field, 7 of 12 keys."""
    kept = {*KEPT.split(", "), "tags"}
    results = []
    for content in contents:
        items = content["resolutions"]
        top = sorted(sorted(range(len(items)), key=lambda n: items[n]["last_seen"], reverse=True)[:20])
        results.append(
            {**content, "resolutions": [{key: value for key, value in items[n].items() if key in kept} for n in top]}
        )
    return results


@pytest.mark.benchmark(group="structural rules")
def test_plain_python(benchmark: BenchmarkFixture, contents: list[dict[str, Any]]) -> None:
    assert len(benchmark(plainly, contents)[0]["resolutions"]) == 20


@pytest.mark.benchmark(group="structural rules")
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_structural_rules(benchmark: BenchmarkFixture, contents: list[dict[str, Any]], steps: str) -> None:
    rules = structural(steps)
    results = benchmark(lambda: [reduce_content(rules, "t", content) for content in contents])
    assert len(results[0]["resolutions"]) == 20


@pytest.mark.benchmark(group="structural rules")
def test_json_dumps_of_the_original(benchmark: BenchmarkFixture, contents: list[dict[str, Any]]) -> None:
    benchmark(json.dumps, contents)


WORDS = (
    "the operators came back through the mail gateway and left a loader that asks for new orders every ninety seconds;",
    "the host was seen before by the same sensor and again last night beside two others.",
)


def articles(megabytes: float) -> list[list[str]]:
    rng = random.Random(2)

    known = " ".join(WORDS).split()

    def article() -> str:
        words = [rng.choice(known) for _ in range(1200)]
        for _ in range(12):
            words[rng.randrange(len(words))] = rng.choice(
                (f"198.51.100.{rng.randrange(256)}", f"host{rng.randrange(999)}[.]example", "APT28", "CVE-2024-3400")
            )
        return " ".join(words)

    return [[article() for _ in range(10)] for _ in range(max(1, int(megabytes * 1e6 / 72_000)))]


@pytest.mark.benchmark(group="rules that preserve entities, 2 MB of articles")
@pytest.mark.parametrize("preserve", ["", "preserve: []\n"], ids=["by default", "nothing"])
def test_truncate(benchmark: BenchmarkFixture, preserve: str) -> None:
    rules, contents = ruleset("  - {truncate: 400}\n", preserve), articles(2)
    results = benchmark(lambda: [reduce_content(rules, "t", content) for content in contents])
    assert ("mentions" in results[0][0]) is not bool(preserve)


@pytest.mark.benchmark(group="rules that preserve entities, 2 MB of articles")
def test_the_scanner_alone(benchmark: BenchmarkFixture) -> None:
    scan, contents = scanner(ruleset("  - {truncate: 400}\n").rules[0].types), articles(2)
    benchmark(lambda: [scan(text) for content in contents for text in content])
