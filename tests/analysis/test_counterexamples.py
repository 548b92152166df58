"""`check` refuses a rule only if it finds a content on which the rule is not idempotent."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from reducer.analysis.counterexamples import counterexample, described
from reducer.cli import main
from reducer.engine import attempt
from reducer.rules import compile_rules
from tests.helpers import rule_file, rules, table
from tests.laws.strategies import cases, laws

Check = Callable[[str], str]
CASES = table(__file__, "counterexamples.yaml")


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Return a function that checks the text of a rule file, and returns the errors."""
    monkeypatch.chdir(tmp_path)

    def check(text: str) -> str:
        Path("rule.yaml").write_text(text, encoding="utf-8")
        assert main(["check", "rule.yaml"]) == 1
        return capsys.readouterr().out

    return check


@pytest.mark.parametrize("steps", CASES["good"], ids=json.dumps)
def test_good_rules_are_accepted(steps: list[dict[str, Any]]) -> None:
    assert counterexample(rules(steps=steps, preserve=["ioc", "threat_actor"]).rules[0]) is None


@pytest.mark.parametrize("case", CASES["bad"], ids=lambda case: json.dumps(case["steps"])[:80])
def test_bad_rules_have_a_small_counterexample(case: dict[str, Any]) -> None:
    ruleset = rules(steps=case["steps"], preserve=[])
    found = counterexample(ruleset.rules[0])
    assert found is not None
    assert len(json.dumps(found.content)) < 300
    assert found.once != found.twice
    assert attempt(ruleset, "t", found.content).unstable is not None
    assert described(found, ruleset.rules[0])[1].startswith(f"{case['advice']}\n")
    better = rules(steps=case["better"], preserve=[])
    assert counterexample(better.rules[0]) is None
    kept = attempt(better, "t", found.content).content
    assert contains(kept, found.once) or kept == found.twice


def contains(value: Any, part: Any) -> bool:
    """Return whether a value has all keys and items of another one, in order."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(key in value and contains(value[key], part[key]) for key in part)
    if isinstance(part, list):
        items = iter(value)
        return all(any(contains(item, wanted) for item in items) for wanted in part)
    return bool(value == part) or (isinstance(part, str) and str(value).startswith(part.partition(" …[")[0]))


def test_the_table_has_enough_rules_and_loading_rejects_none() -> None:
    assert len(CASES["good"]) >= 40
    assert len(CASES["bad"]) >= 15
    for case in CASES["bad"]:
        assert compile_rules([rule_file({"steps": case["steps"]})])[1] == ()


def test_the_error_shows_a_sample_that_is_no_json() -> None:
    ruleset = rules(steps=[{"keep": "[?day]"}, {"drop": "day"}], preserve=[])
    found = counterexample(ruleset.rules[0], [({"day": datetime.date(2024, 5, 1)}, {"day": 1})])
    assert found is not None
    assert type(found.content) is tuple
    assert '\n  input:  [{"day": "2024-05-01"}, {"day": 1}]\n' in described(found, ruleset.rules[0])[1]


def test_the_error_shows_the_input_and_both_results(refused: Check) -> None:
    steps = "  - path: items\n    drop: \"[?risk != 'high']\"\n  - path: items\n    keep: {names: [id], strict: true}\n"
    message = """\
rule.yaml:4:5: error[E070]: `drop items` changes the result again in a second pass
  4 |   - path: items
    |     ^^^^^^^^^^^
  help: add `risk` to `keep` in step 2; step 1 depends on it
  input:  {"items": [{"risk": "high"}]}
  result: {"items": [{}]}
  again:  {"items": []}

1 error in 1 rule file
"""
    assert refused(f"version: 1\ntool: t\nsteps:\n{steps}") == message


def test_samples_are_searched_too(refused: Check) -> None:
    given = {"json": {"rows": [{"note": ""}, {}, {"name": "x", "note": "y"}]}}
    test = {"name": "empty", "given": given, "expect": {"unchanged": False}}
    steps = [{"path": "rows", "dedupe": "[name, note]"}, {"compact": True}]
    assert 'input:  {"rows": [{"note": ""}, {}]}' in refused(rule_file({"steps": steps, "tests": [test]})[1])


@settings(laws, max_examples=settings().max_examples // 5)
@given(cases)
def test_the_search_is_deterministic(case: Any) -> None:
    rule, content = case[1].rules[0], case[2]
    found = counterexample(rule, [content])
    assert found == counterexample(rule, [content])
    assert found is None or json.dumps(found.once) != json.dumps(found.twice)
