"""`check` refuses a rule only with a content that shows that it is not idempotent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given

from reducer.analysis.counterexamples import counterexample
from reducer.cli import main
from reducer.engine import attempt
from reducer.rules import compile_rules
from tests.helpers import BY_FILE, rule_file, rules
from tests.laws.strategies import cases, laws

CASES = yaml.safe_load((Path(__file__).parent / "counterexamples.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("steps", CASES["good"], ids=json.dumps)
@pytest.mark.parametrize("preserve", [[], ["ioc", "threat_actor"]], ids=["nothing preserved", "preserve"])
def test_good_rules_are_accepted(steps: list[dict[str, Any]], preserve: list[str]) -> None:
    assert counterexample(rules(steps=steps, preserve=preserve).rules[0]) is None


@pytest.mark.parametrize("case", CASES["bad"], ids=lambda case: json.dumps(case["steps"])[:80])
def test_bad_rules_are_refused_with_a_content_that_shows_it(
    case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = rules(steps=case["steps"], preserve=[])
    found = counterexample(rule.rules[0])
    assert found is not None
    assert len(json.dumps(found.content)) < 300
    assert found.once != found.twice
    assert attempt(rule, "t", found.content).unstable is not None
    file = tmp_path / "rule.yaml"
    file.write_text(rule_file({"steps": case["steps"]})[1], encoding="utf-8")
    assert main(["check", str(file)]) == 1
    printed = capsys.readouterr().out
    assert "error[E070]: a second pass changes the result" in printed
    assert f"help: {case['advice']}" in printed
    assert f"input:  {json.dumps(found.content, ensure_ascii=False)}\n" in printed


def test_the_error_shows_the_input_and_both_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rule.yaml"
    steps = "  - path: items\n    drop: \"[?risk != 'high']\"\n  - path: items\n    keep: [id]\n"
    text = f"version: 1\ntool: t\nsteps:\n{steps}"
    file.write_text(text, encoding="utf-8")
    assert main(["check", str(file)]) == 1
    printed = f"""\
{file}:4:5: error[E070]: a second pass changes the result: `drop items` chooses again
  4 |   - path: items
    |     ^^^^^^^^^^^
  help: add `risk` to `keep` in step 2; step 1 depends on it
  input:  {{"items": [{{"risk": "high"}}]}}
  result: {{"items": [{{}}]}}
  again:  {{"items": []}}

1 error in 1 rule file
"""
    assert capsys.readouterr().out == printed


def test_a_sample_is_a_counterexample_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = {
        "steps": [{"path": "rows", "dedupe": "[name, note]"}, {"compact": True}],
        "tests": [{"name": "empty", "given": {"json": {"rows": [{"note": ""}, {}, {"name": "x", "note": "y"}]}}}],
    }
    rule["tests"][0]["expect"] = {"unchanged": False}
    file = tmp_path / "rule.yaml"
    file.write_text(rule_file(rule)[1], encoding="utf-8")
    assert main(["check", str(file)]) == 1
    assert 'input:  {"rows": [{"note": ""}, {}]}' in capsys.readouterr().out


@pytest.mark.parametrize("name", BY_FILE)
def test_the_shipped_rules_are_accepted(name: str) -> None:
    assert counterexample(BY_FILE[name]) is None


@laws
@given(cases)
def test_a_counterexample_is_one_and_is_found_again(case: Any) -> None:
    rule = compile_rules([rule_file(case[0])])[0]
    assert rule is not None
    found = counterexample(rule.rules[0], [case[2]])
    assert found == counterexample(rule.rules[0], [case[2]])
    assert found is None or json.dumps(found.once) != json.dumps(found.twice)
