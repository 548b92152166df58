"""The laws over contents that hold structure in texts."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, example, given, settings

from reducer.engine import attempt, reduce_content
from reducer.engine.plan import Opened
from reducer.entities import expand
from reducer.values import chars
from tests.helpers import compiled
from tests.laws import checks
from tests.laws.nested_strategies import deep, deeply, has_lists, nested_cases
from tests.laws.strategies import laws


def holds_opened(node: Any) -> bool:
    """Return whether a plan has texts that were opened."""
    return any(type(inner) is Opened or holds_opened(inner) for inner in getattr(node, "inside", {}).values())


def unwraps(rule: dict[str, Any]) -> bool:
    return any("unwrap" in step for step in rule["steps"])


_GATED: dict[str, Any] = {
    "version": 1,
    "tool": "t",
    "steps": [{"path": "@", "unwrap": True}],
    "preserve": ["domain"],
    "when": {"where": "items"},
}


@laws
@given(nested_cases)
@example((_GATED, compiled(_GATED), {"body": 'Found 1:\n{"raw": "seen \\\\ud800mail-diacie[.]top"}', "status": 200}))
def test_the_laws_hold_within_texts(case: Any) -> None:
    # One property for all laws: making a case takes ten times as long as checking it.
    rule, ruleset, content = case
    result = reduce_content(ruleset, "t", content)
    checks.same_type(content, result)
    _texts_stay(rule, checks.decoded(content), checks.decoded(result))
    if has_lists(content) is False and not unwraps(rule):
        assert not has_lists(result)
    checks.root_keys(content, result, rule.get("keys") == "all")
    before, after = deeply(content), deeply(result)
    checks.within(*((before, after) if unwraps(rule) else (content, result)))
    checks.never_larger(content, result)
    assert checks.as_bytes(reduce_content(ruleset, "t", result)) == checks.as_bytes(result)
    assert checks.as_bytes(reduce_content(ruleset, "t", checks.round_tripped(result))) == checks.as_bytes(result)
    types = frozenset(expand(rule.get("preserve", ())))
    for step in rule["steps"]:
        types &= frozenset(expand(step.get("preserve", types)))
    checks.preserved(before, after, types)
    checks.no_halves(before, after)


def _texts_stay(rule: dict[str, Any], before: Any, after: Any) -> None:
    """Check that what stood in a text stands in one, and that no tuple became a list."""
    if not unwraps(rule) and isinstance(before, dict) and "body" in before:
        assert type(after["body"]) is type(before["body"])
        assert type(deep(after["body"])) is type(deep(before["body"])) or after["body"] == ""
        if has_lists(before["body"]) is False:
            assert not has_lists(after["body"])


def test_law_12_the_generated_cases_reduce_something() -> None:
    counts = {"all": 0, "changed": 0, "faults": 0, "within": 0}

    @settings(laws, max_examples=80, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(nested_cases)
    def run(case: Any) -> None:
        _, ruleset, content = case
        outcome = attempt(ruleset, "t", content)
        counts["all"] += 1
        counts["changed"] += outcome.content is not content
        counts["faults"] += bool(outcome.fault)
        counts["within"] += outcome.plan is not None and holds_opened(outcome.plan.top)

    run()
    assert counts["changed"] >= 0.4 * counts["all"], counts
    assert counts["within"] >= 0.3 * counts["all"], counts
    assert counts["faults"] <= 0.1 * counts["all"], counts


def test_an_unwrapped_content_says_the_same() -> None:
    ruleset = compiled({"version": 1, "tool": "t", "steps": [{"unwrap": True}]})

    @settings(laws, max_examples=50)
    @given(nested_cases)
    def run(case: Any) -> None:
        content = case[2]
        result = reduce_content(ruleset, "t", content)
        assert chars(result) <= chars(content)
        assert json.dumps(deeply(result)) == json.dumps(deeply(content))

    run()
