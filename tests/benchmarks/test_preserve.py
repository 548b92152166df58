"""`preserve` on structured returns against scanning their texts one by one."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reducer.engine import reduce_content
from tests.benchmarks.real import cut_down
from tests.benchmarks.test_engine import WORDS, reducing, ruleset
from tests.helpers import texts

STEPS = "  - {path: rows, limit: 20}\n  - {path: rows, drop: [note]}\n"
PRESERVE = "[ioc, cve, threat_actor]"


def repeating(rng: random.Random, number: int) -> dict[str, Any]:
    """Return a row of a log whose values are in other rows too."""
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
    """Return a row whose texts are in no other row; every third contains an address."""
    return {
        "id": f"id-{number:x}",
        "time": f"2024-05-01T{number % 24:02}:{number % 60:02}:00.{number:06}Z",
        "level": "low",
        "note": " ".join(rng.choices(WORDS, k=40)),
    } | ({} if number % 3 else {"address": f"{number % 223 + 1}.{number >> 8 & 255}.7.{number & 255}"})


def dense(rng: random.Random, number: int) -> dict[str, Any]:
    """Return a tiny row that contains only an address, so that all rows are restored."""
    return {"ip": f"{number % 223 + 1}.{number >> 8 & 255}.{number >> 3 & 255}.{number & 255}"}


@pytest.mark.parametrize(("make", "count", "rows"), [(repeating, 20, 800), (new, 20, 400), (dense, 1, 20_000)])
def test_rows(
    compare: Callable[..., Any], make: Callable[[random.Random, int], dict[str, Any]], count: int, rows: int
) -> None:
    rng = random.Random(3)
    contents = [{"rows": [make(rng, call * rows + number) for number in range(rows)]} for call in range(count)]
    rules = ruleset(STEPS, f"preserve: {PRESERVE}\n")
    scan = rules.rules[0].vocabulary.scanner(rules.rules[0].types)
    calls: dict[str, Callable[[Any], Any]] = {
        "scanning each text": lambda contents: [scan(text) for content in contents for text in texts(content)],
        "reducing": reducing(rules),
        "reducing without preserve": reducing(ruleset(STEPS, "preserve: []\n")),
    }
    compare(make.__name__, {name: (call, lambda: contents) for name, call in calls.items()})


def test_answers_of_products(compare: Callable[..., Any], data: Path) -> None:
    def reduce(returns: list[Any]) -> None:
        for each in returns:
            reduce_content(each.ruleset, "t", each.content)

    preserved, named = [*cut_down(data, PRESERVE)], [*cut_down(data, "[]")]
    rule = preserved[0].ruleset.rules[0]
    scan = rule.vocabulary.scanner_of_many(rule.types)
    contenders = {
        "scanning": (lambda some: [scan(dict.fromkeys(texts(each.content))) for each in some], lambda: preserved),
        "reducing": (reduce, lambda: preserved),
        "reducing without preserve": (reduce, lambda: named),
    }
    compare("answers of products", contenders)
