"""The laws as `test` checks them: nothing is found in what the engine does, and bugs that are planted are found."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from reducer.engine import trace
from reducer.proof.laws import Broken, alone, broken_laws
from reducer.rule import Ruleset
from reducer.values import dump
from tests.laws.strategies import cases


def broken(ruleset: Ruleset, content: Any) -> list[Broken]:
    (rule,) = ruleset.rules
    rules = alone(rule, ruleset)
    before = dump(content)
    return list(broken_laws(rules, content, before, trace(rules, "t", content)))


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large])
@given(cases)
def test_the_engine_breaks_none(case: Any) -> None:
    _, ruleset, content = case
    found = broken(ruleset, content)
    if trace(ruleset, "t", content).fault:
        assert {one.law for one in found} <= {5, 9}
    else:
        assert found == []
