"""The laws as `test` checks them: nothing is found in what the engine does, and bugs that are planted are found."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from reducer.analysis.laws import Broken, alone, broken_laws
from reducer.engine import attempt
from reducer.rules import Ruleset
from reducer.values import dump
from tests.laws.strategies import cases


def broken(ruleset: Ruleset, content: Any) -> list[Broken]:
    (rule,) = ruleset.rules
    rules = alone(rule, ruleset)
    before = dump(content)
    return list(broken_laws(rules, content, before, attempt(rules, "t", content)))


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large])
@given(cases)
def test_the_engine_breaks_none(case: Any) -> None:
    _, ruleset, content = case
    found = broken(ruleset, content)
    if attempt(ruleset, "t", content).fault:
        assert {one.law for one in found} <= {5, 9}
    else:
        assert found == []
