"""Conditions, compared with the `jmespath` library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jmespath
import pytest

from reducer.paths import compile_expression
from tests.benchmarks.inputs import records

ITEMS = records(500)
CONDITIONS = ["risk == 'high'", "score > `50`", "verification.votes == `3` || score < `10`", "length(tags) > `1`"]


@pytest.mark.parametrize("text", CONDITIONS)
def test_condition(compare: Callable[..., None], text: str) -> None:
    holds, search = compile_expression(text).holds, jmespath.compile(text).search
    contenders: dict[str, Callable[[Any], Any]] = {
        "the library": lambda items: [search(item) for item in items],
        "reducer": lambda items: [holds(item) for item in items],
    }
    compare(f"condition {text}", contenders, lambda: ITEMS)
