"""Rules on contents, compared with plain Python, and with scanning alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest

from reducer.engine import reduce_content
from reducer.rules import Ruleset
from tests.benchmarks.inputs import article, records, ruleset
from tests.helpers import texts

PRESERVED = ["ioc", "cve", "threat_actor"]
KEPT = frozenset({"hostname", "address", "last_seen", "risk", "score", "verification", "tags"})
LIMITS = {
    "by position": "  - {path: rows, limit: 20}\n",
    "by one field": "  - {path: rows, limit: 20, sort_by: FIELD}\n",
    "by expressions": "  - {path: rows, limit: 20, sort_by: verification.votes,\n"
    "     always_keep: risk == 'critical' && length(tags) > `9`}\n",
}


def reducing(rules: Ruleset) -> Callable[[list[Any]], list[Any]]:
    return lambda contents: [reduce_content(rules, "t", content) for content in contents]


def plainly(contents: list[dict[str, Any]], field: str) -> list[dict[str, Any]]:
    """Do the same by hand: keep the top 20 of 200 items by one field, and 7 of 13 keys."""
    results = []
    for content in contents:
        items = content["rows"]
        top = sorted(sorted(range(len(items)), key=lambda n: items[n][field], reverse=True)[:20])
        rows = [{key: value for key, value in items[n].items() if key in KEPT} for n in top]
        results.append({**content, "rows": rows})
    return results


@pytest.mark.parametrize("field", ["last_seen", "confidence"], ids=["date", "float"])
@pytest.mark.parametrize("count", [50, 500], ids=["5 MB", "50 MB"])
def test_structural_rules(compare: Callable[..., Any], count: int, field: str) -> None:
    contents = [{"rows": records(200, seed), "total": 200} for seed in range(count)]
    calls: dict[str, Callable[[Any], Any]] = {"plain Python": partial(plainly, field=field)}
    keep = f"  - {{path: rows, keep: {json.dumps(sorted(KEPT))}}}\n"
    for name, limit in LIMITS.items():
        calls[name] = reducing(ruleset(limit.replace("FIELD", field) + keep, "mark: false"))
    assert [len(call(contents[:1])[0]["rows"]) for call in calls.values()] == [20] * len(calls)
    compare("structural rules", calls | {"json.dumps": json.dumps}, lambda: contents, rounds=3)


def dense(count: int, seed: int) -> list[dict[str, Any]]:
    """Return tiny rows that contain only an address each, so that all rows are restored."""
    return [{"ip": f"{n % 223 + 1}.{n >> 8 & 255}.{n >> 3 & 255}.{n & 255}"} for n in range(count)]


def new(count: int, seed: int) -> list[dict[str, Any]]:
    """Return rows whose texts are in no other row."""
    rng = Random(seed)
    return [{**record, "notes": article(rng, 40)} for record in records(count, seed)]


@pytest.mark.parametrize(("rows", "count", "size"), [(records, 20, 800), (new, 20, 400), (dense, 1, 20_000)])
def test_preserve(compare: Callable[..., Any], rows: Callable[..., Any], count: int, size: int) -> None:
    contents = [{"rows": rows(size, seed)} for seed in range(count)]
    steps = "  - {path: rows, limit: 20}\n  - {path: rows, drop: [note]}\n"
    rules = ruleset(steps, f"preserve: {PRESERVED}")
    scan = rules.rules[0].vocabulary.scanner(rules.rules[0].types)
    calls: dict[str, Callable[[Any], Any]] = {
        "scanning each text": lambda contents: [scan(text) for content in contents for text in texts(content)],
        "reducing": reducing(rules),
        "reducing without preserve": reducing(ruleset(steps, "preserve: []")),
    }
    compare(rows.__name__, calls, lambda: contents)


def test_texts(compare: Callable[..., Any]) -> None:
    rng = Random(2)
    contents = [[article(rng, 1200, 12) for _ in range(10)] for _ in range(28)]
    preserving, other = (ruleset("  - {truncate: 400}\n", more) for more in ("", "preserve: []"))
    scan = preserving.rules[0].vocabulary.scanner(preserving.rules[0].types)
    calls: dict[str, Callable[[Any], Any]] = {
        "scanning alone": lambda contents: [scan(text) for content in contents for text in content],
        "truncate": reducing(preserving),
        "truncate without preserve": reducing(other),
    }
    results = [call(contents[:1])[0] for call in calls.values()]
    assert ["mentions" in str(result) for result in results[1:]] == [True, False]
    compare("2 MB of articles", calls, lambda: contents)
