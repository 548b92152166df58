"""Entity types that a folder of rules describes and no rule of it asks for."""

from __future__ import annotations

import pytest

from reducer.rule.read import compile_rules

OWN = "version: 1\nentities:\n  ticket: {words: [INC-7]}\n  jewel: {words: [vault01]}\n"
RULE = "version: 1\ntool: lookup\nsteps:\n  - limit: 5\n"


def warnings(*texts: str) -> list[str]:
    ruleset, problems = compile_rules((f"{number}.yaml", text) for number, text in enumerate(texts, 1))
    assert ruleset is not None
    assert all(problem.severity == "warning" for problem in problems)
    assert ruleset.warnings == problems
    return [str(problem) for problem in problems]


def test_a_type_that_no_rule_asks_for_is_pointed_at() -> None:
    assert warnings(RULE + "preserve: [ioc, jewel]\n", OWN) == [
        "2.yaml:3:3: warning[W030]: no rule asks for `ticket`: it stands in no `preserve` and no `extract`\n"
        "  3 |   ticket: {words: [INC-7]}\n"
        "    |   ^^^^^^\n"
        "  help: name it in the rule that should keep it, or take it out"
    ]


@pytest.mark.parametrize(
    "rule",
    [
        RULE + "preserve: [ticket, jewel]\n",
        RULE + "preserve: {ticket: 20, jewel: 1}\n",
        RULE + "    preserve: [ticket, jewel]\n",
        "version: 1\ntool: lookup\nsteps:\n  - extract: [ticket]\n  - path: a\n    limit: 3\n    preserve: [jewel]\n",
    ],
)
def test_a_type_that_a_rule_asks_for_is_used(rule: str) -> None:
    assert warnings(rule, OWN) == []
    assert len(warnings(RULE, OWN)) == 2


def test_a_built_in_type_that_is_changed_needs_no_rule_that_names_it() -> None:
    assert warnings(RULE, "version: 1\nentities:\n  domain: {ignore: [evil.com]}\n  threat_actor: {synonyms: one}\n") == []


def test_types_without_rules_are_no_mistake() -> None:
    assert warnings(OWN) == []


def test_errors_may_hide_who_asks() -> None:
    _, problems = compile_rules([("1.yaml", RULE + "preserve: [ticket, jewel]\nlimt: 3\n"), ("2.yaml", OWN)])
    assert [problem.severity for problem in problems] == ["error"]
