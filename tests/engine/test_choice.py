"""The choice of a rule by the shape of a content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer
from reducer.engine import Outcome, attempt
from reducer.rules import Ruleset, compile_rules

ISSUES = {"issues": [{"number": n, "title": f"t{n}", "body": "word " * 40} for n in range(4)]}
TICKETS = {"tickets": [{"key": f"K-{n}", "text": "word " * 40} for n in range(4)]}
OF_ISSUES = {"tool": "list", "when": {"where": "issues[0].number"}, "steps": [{"path": "issues", "keep": ["number"]}]}
OF_TICKETS = {"tool": "list", "when": {"where": "tickets"}, "steps": [{"path": "tickets", "keep": ["key"]}]}
GENERAL = {"tool": "*", "steps": [{"truncate": 20}]}


def ruleset(*rules: dict[str, Any], sources: bool = False) -> Ruleset:
    files = [(f"{n}.yaml", json.dumps({"version": 1, **rule})) for n, rule in enumerate(rules, 1)]
    found, problems = compile_rules(*[[file] for file in files]) if sources else compile_rules(files)
    assert found is not None, problems
    return found


def run(rules: Ruleset, content: Any, tool: str = "list") -> Outcome:
    """Reduce a content, and check that a second pass changes nothing, also as JSON text."""
    outcome = attempt(rules, tool, content)
    assert attempt(rules, tool, outcome.content).content == outcome.content
    if not isinstance(content, str):
        text = attempt(rules, tool, json.dumps(content)).content
        assert json.loads(text) == outcome.content
    return outcome


def file_of(outcome: Outcome) -> str | None:
    return outcome.rule.file if outcome.rule else None


def test_the_first_rule_whose_where_holds_applies() -> None:
    rules = ruleset(OF_ISSUES, OF_TICKETS, GENERAL)
    issues, tickets, other = (run(rules, content) for content in (ISSUES, TICKETS, {"note": "word " * 40}))
    assert [file_of(each) for each in (issues, tickets, other)] == ["1.yaml", "2.yaml", "3.yaml"]
    assert issues.content == {"issues": [{"number": n} for n in range(4)]}
    assert tickets.content == {"tickets": [{"key": f"K-{n}"} for n in range(4)]}
    assert other.content["note"].startswith("word word word word")
    assert [[rule.file for rule in each.tried] for each in (issues, tickets, other)] == [
        [],
        ["1.yaml"],
        ["1.yaml", "2.yaml"],
    ]
    assert file_of(run(rules, ISSUES, "another")) == "3.yaml"


def test_without_a_rule_whose_where_holds_nothing_changes() -> None:
    outcome = run(ruleset(OF_ISSUES, OF_TICKETS), {"note": "word " * 40})
    assert outcome.gated
    assert (file_of(outcome), [rule.file for rule in outcome.tried]) == ("1.yaml", ["2.yaml"])


def test_a_later_source_is_tried_first() -> None:
    wide = {"tool": "list", "when": {"where": "issues"}, "steps": [{"path": "issues", "limit": 1}]}
    assert file_of(run(ruleset(wide, OF_ISSUES, sources=True), ISSUES)) == "2.yaml"
    assert file_of(run(ruleset(OF_ISSUES, wide, sources=True), ISSUES)) == "2.yaml"
    assert file_of(run(ruleset(wide, OF_ISSUES), ISSUES)) == "1.yaml", "in one source, files are tried in their order"


def test_the_more_specific_name_is_tried_first_whatever_its_source() -> None:
    glob = {**OF_ISSUES, "tool": "li*", "when": {"where": "issues"}}
    assert file_of(run(ruleset(OF_ISSUES, glob, sources=True), ISSUES)) == "1.yaml"


@pytest.mark.parametrize("where", [{}, {"where": "issues"}])
def test_min_chars_ends_the_choice(where: dict[str, str]) -> None:
    large = {"tool": "list", "when": {"min_chars": 100_000, **where}, "steps": [{"truncate": 5}]}
    rules = ruleset(large, GENERAL)
    outcome = run(rules, ISSUES)
    assert outcome.gated
    assert (file_of(outcome), outcome.content) == ("1.yaml", ISSUES)
    if where:
        assert file_of(run(rules, TICKETS)) == "2.yaml", "`where` comes before `min_chars`"


def test_a_rule_that_breaks_its_own_where_falls_back_to_its_first_steps_and_never_to_the_next_rule() -> None:
    breaking = {
        "tool": "list",
        "when": {"where": "issues[0].body"},
        "steps": [{"path": "issues", "limit": 2}, {"path": "issues", "drop": ["body"]}],
    }
    rules = ruleset(breaking, {"tool": "*", "steps": [{"path": "issues", "limit": 1}]})
    outcome = run(rules, ISSUES)
    assert file_of(outcome) == "1.yaml"
    assert outcome.content == {"issues": [*ISSUES["issues"][:2], "…[2 more items]"]}
    why = "a second pass would apply 2.yaml to the result: `drop issues` is to blame; only step 1 was applied"
    assert outcome.fault == why
    assert run(ruleset(breaking), ISSUES).fault == "", "without a next rule, nothing changes the result again"
    only_step = {**breaking, "steps": breaking["steps"][1:]}
    outcome = run(ruleset(only_step, GENERAL), ISSUES)
    assert (file_of(outcome), outcome.content) == (
        "1.yaml",
        {"issues": [{"number": n, "title": f"t{n}"} for n in range(4)]},
    )
    outcome = run(ruleset(only_step, {"tool": "*", "steps": [{"path": "issues", "limit": 1}]}), ISSUES)
    assert outcome.content is ISSUES


def test_a_result_that_an_earlier_rule_recognises_is_a_conflict() -> None:
    empty = {"tool": "list", "when": {"where": "!notes"}, "steps": [{"path": "issues", "limit": 1}]}
    later = {"tool": "*", "steps": [{"path": "notes", "drop": "[?contains(@, 'x')]"}, {"path": "issues", "limit": 3}]}
    content = {**ISSUES, "notes": ["x", "x"]}
    outcome = run(ruleset(empty, later), content)
    assert file_of(outcome) == "2.yaml"
    assert outcome.fault.startswith("a second pass would apply 1.yaml to the result")


def test_each_rule_opens_texts_by_its_own_paths() -> None:
    nested = {"raw": json.dumps(ISSUES), "notes": json.dumps(TICKETS)}
    one = {"tool": "list", "when": {"where": "notes.issues"}, "steps": [{"path": "notes.issues", "limit": 1}]}
    two = {"tool": "list", "when": {"where": "raw.issues"}, "steps": [{"path": "raw.issues", "limit": 1}]}
    result = run(ruleset(one, two, GENERAL), nested).content
    assert json.loads(result["raw"]) == {"issues": [ISSUES["issues"][0], "…[3 more items]"]}
    assert result["notes"] == nested["notes"]


def test_a_text_is_a_list_of_lines_only_for_the_rule_that_reads_lines() -> None:
    lines = {"tool": "list", "when": {"where": "length(@) > `3`"}, "steps": [{"text": "lines", "limit": 1}]}
    text = "one line\n" * 3 + "another line"
    assert run(ruleset(lines), text).content == "one line"
    other = {"tool": "*", "steps": [{"truncate": 10}]}
    rules = ruleset({**lines, "when": {"where": "length(@) > `40`"}}, other)
    assert file_of(run(rules, text)) == "2.yaml"


def test_instructions_describe_the_candidates(tmp_path: Path) -> None:
    for number, rule in enumerate((OF_ISSUES, OF_TICKETS, GENERAL)):
        (tmp_path / f"{number}.yaml").write_text(json.dumps({"version": 1, **rule}))
    reducer = Reducer.load(tmp_path)
    assert reducer.instructions(["list"]).splitlines()[1:] == [
        "- `list`, if `issues[0].number` holds: keeps only `number` of `issues`. Not marked: keys.",
        "- `list`, if `tickets` holds: keeps only `key` of `tickets`. Not marked: keys.",
        "- `list`: cuts texts in the answer to the first 20 characters. Marked: cut texts.",
    ]
