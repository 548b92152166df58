"""Reducing against plain Python, `json.dumps` and scanning alone: `pytest tests/benchmarks --benchmark-only -s`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

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


def reducing(rules: Ruleset) -> Callable[[Iterable[Any]], list[Any]]:
    """Return a function that reduces contents with the rule for the tool `t`."""
    return lambda contents: [reduce_content(rules, "t", content) for content in contents]


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


def plainly(contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Do the same by hand: keep the top 20 of 200 items by one field, and 7 of 12 keys."""
    kept = {*KEPT.split(", "), "tags"}
    results = []
    for content in contents:
        items = content["resolutions"]
        top = sorted(sorted(range(len(items)), key=lambda n: items[n]["last_seen"], reverse=True)[:20])
        rows = [{key: value for key, value in items[n].items() if key in kept} for n in top]
        results.append({**content, "resolutions": rows})
    return results


@pytest.mark.parametrize("count", [50, 500], ids=["5 MB", "50 MB"])
def test_structural_rules(compare: Callable[..., Any], count: int) -> None:
    rng = random.Random(1)
    contents = [{"resolutions": [record(rng, n) for n in range(200)], "total": 200} for _ in range(count)]
    keep = f"  - {{path: resolutions, keep: [{KEPT}, tags]}}\n"
    calls: dict[str, Callable[[Any], Any]] = {"plain Python": plainly}
    calls |= {name: reducing(ruleset(steps + keep)) for name, steps in STEPS.items()}
    assert [len(call(contents[:1])[0]["resolutions"]) for call in calls.values()] == [20] * len(calls)
    calls["json.dumps"] = json.dumps
    compare("structural rules", {name: (call, lambda: contents) for name, call in calls.items()}, rounds=3)


TEXT = """
the operators came back through the mail gateway and left a loader that asks for new orders every ninety seconds;
the host was seen before by the same sensor and again last night beside two others.
"""
WORDS = TEXT.split()


def article(rng: random.Random) -> str:
    words = rng.choices(WORDS, k=1200)
    for n in rng.sample(range(1200), 12):
        words[n] = rng.choice((f"198.51.100.{n % 256}", f"host{n}[.]example", "APT28", "CVE-2024-3400"))
    return " ".join(words)


def test_texts(compare: Callable[..., Any]) -> None:
    rng = random.Random(2)
    contents = [[article(rng) for _ in range(10)] for _ in range(28)]
    rules = {name: ruleset("  - {truncate: 400}\n", name) for name in ("", "preserve: []\n")}
    scan = scanner(rules[""].rules[0].types)
    calls: dict[str, Callable[[Any], Any]] = {
        "scanning alone": lambda contents: [scan(text) for content in contents for text in content],
        "truncate": reducing(rules[""]),
        "truncate without preserve": reducing(rules["preserve: []\n"]),
    }
    results = [call(contents[:1])[0] for call in calls.values()]
    assert ["mentions" in str(result) for result in results[1:]] == [True, False]
    compare("2 MB of articles", {name: (call, lambda: contents) for name, call in calls.items()})
