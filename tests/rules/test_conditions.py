"""Conditions with a name: written once, used by the rules of a folder."""

from __future__ import annotations

import pytest

from reducer.rules import Ruleset, compile_rules

SHARED = "version: 1\nconditions:\n  critical: severity == 'critical' || score >= `90`\n"
RULE = "version: 1\ntool: t\nsteps:\n  - limit: 1\n    always_keep: critical\n"
NAMES = "use at most 40 small letters, digits and `_`, and start with a letter"
ROWS = [{"severity": "low"}, {"severity": "low", "critical": True}, {"severity": "critical"}, {"score": 95}]


def _loaded(*files: tuple[str, str]) -> Ruleset:
    ruleset, problems = compile_rules(files)
    assert ruleset is not None, problems
    assert problems == ()
    return ruleset


def _left(ruleset: Ruleset) -> object:
    from reducer.engine import reduce_content

    return reduce_content(ruleset, "t", ROWS)


@pytest.mark.parametrize("files", [(("a.yaml", SHARED), ("b.yaml", RULE)), (("b.yaml", RULE), ("z.yaml", SHARED))])
def test_a_condition_of_any_file_is_used_by_its_name(files: tuple[tuple[str, str], ...]) -> None:
    assert _left(_loaded(*files)) == [ROWS[0], ROWS[2], ROWS[3]]


def test_a_condition_may_stand_in_the_file_that_uses_it() -> None:
    assert _left(_loaded(("b.yaml", RULE + SHARED.removeprefix("version: 1\n")))) == [ROWS[0], ROWS[2], ROWS[3]]


def test_a_word_that_names_no_condition_is_a_key() -> None:
    assert _left(_loaded(("b.yaml", RULE))) == ROWS[:2]


def _problems(*files: tuple[str, str]) -> list[tuple[str, str, str, str]]:
    _, found = compile_rules(files)
    return [(str(problem.location), problem.severity, problem.message, problem.help) for problem in found]


def test_an_expression_that_is_wrong_is_told_once_where_it_is_written() -> None:
    shared = "version: 1\nconditions:\n  critical: severity = 'critical'\n"
    (problem,) = _problems(("a.yaml", shared), ("b.yaml", RULE))
    assert problem[:2] == ("a.yaml:3:22", "error")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("conditions: {Critical: a}", ("2:14", "error", "`Critical` cannot name a condition", NAMES)),
        ("conditions: {critical: [a]}", ("2:24", "error", "expected a JMESPath expression", "for example `severity == 'critical'`")),
        ("conditions: {}", ("2:13", "error", "expected at least one", "")),
        ("conditions: critical", ("2:13", "error", "expected a mapping of keys to values, not a text", "")),
        ("condition: {critical: a}", ("2:1", "error", "unknown key `condition`", "did you mean `conditions`?")),
    ],
)  # fmt: skip
def test_what_cannot_be_a_condition(text: str, problem: tuple[str, str, str, str]) -> None:
    found = [(place.removeprefix("a.yaml:"), *rest) for place, *rest in _problems(("a.yaml", f"version: 1\n{text}\n"))]
    assert problem in found


def test_a_condition_is_defined_once() -> None:
    found = _problems(("a.yaml", SHARED), ("b.yaml", RULE), ("c.yaml", SHARED))
    assert found == [
        (
            "c.yaml:3:3",
            "error",
            "the condition `critical` is already defined at a.yaml:3:3",
            "define it once for all files of the folder",
        )
    ]


def test_a_condition_that_nobody_uses_is_a_warning() -> None:
    rule = RULE.replace("critical", "critcal")
    assert _problems(("a.yaml", SHARED), ("b.yaml", rule)) == [
        ("a.yaml:3:3", "warning", "no step uses the condition `critical`", "write `always_keep: critical` in a step"),
        (
            "b.yaml:5:18",
            "warning",
            "there is no condition `critcal`, so this reads as a key",
            "did you mean `critical`?",
        ),
    ]
