"""The laws as `test` checks them: nothing is found in what the engine does, and bugs that are planted are found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from reducer.analysis.laws import Broken, alone, broken_laws
from reducer.engine import attempt
from reducer.rules import Ruleset, compile_rules
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


RULE = "version: 1\ntool: t\nsteps:\n  - {path: text, truncate: 90}\nkeys: all\n"
CONTENT = {"text": "words of a text " * 20 + "CVE-2024-1111", "n": 1, "in": {"a": [1, 2], "c": 1}}


@pytest.mark.parametrize(
    ("change", "law", "message"),
    [
        ({"n": "1"}, 2, "`n`: found "),
        ({"in": {"a": [1, 2]}}, 3, "`in.c` was removed, although `keys: all` keeps it"),
        ({"in": {"b": [1, 2]}}, 4, "`in.b`: the original has no key"),
        ({"in": {"a": [2, 1]}}, 4, "`in.a[1]`: "),
        ({"in": {}, "text": CONTENT["text"]}, 10, "a copy of the content has another result"),
        ({"text": "words of a text …[317 more characters]"}, 8, "the cve CVE-2024-1111 was removed"),
    ],
)
def test_planted_bugs_are_found(change: dict[str, Any], law: int, message: str) -> None:
    ruleset, problems = compile_rules([("t.yaml", RULE)])
    assert ruleset is not None, problems
    rules = alone(ruleset.rules[0], ruleset)
    outcome = attempt(rules, "t", CONTENT)
    wrong = replace(outcome, content={**outcome.content, **change})
    found = list(broken_laws(rules, CONTENT, dump(CONTENT), wrong))
    assert any(one.law == law and one.message.startswith(message) for one in found), found
