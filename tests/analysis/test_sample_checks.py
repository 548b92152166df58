"""`check` warns about what a rule does not find, do or decide in its samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from reducer.analysis.sample_checks import problems_when_run
from reducer.analysis.samples import sample
from reducer.engine import attempt
from reducer.engine.choose import breaks_where
from reducer.errors import Diagnostic
from reducer.rules import read_rules
from tests.helpers import BY_FILE, RULESET, forced, rule_file, table
from tests.laws.strategies import cases, laws

DATA = table(__file__, "sample_checks.yaml")


def check(folder: Path, content: Any, rule: dict[str, Any] | str, *, tool: str = "t") -> list[Diagnostic]:
    """Return the problems of a rule (data, or the text of the file) with a sample (data, or bytes) beside it."""
    (folder / "samples").mkdir(exist_ok=True)
    sample = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / "samples" / f"{tool}.json").write_bytes(sample)
    (folder / "rule.yaml").write_text(rule if isinstance(rule, str) else rule_file(rule)[1])
    ruleset = read_rules(folder / "rule.yaml")
    return problems_when_run(ruleset.rules[0], ruleset)


def codes(folder: Path, content: Any, rule: dict[str, Any] | str) -> list[str]:
    return [one.code for one in check(folder, content, rule)]


def shown(problem: Diagnostic) -> str:
    start = problem.location.column - 1
    advice = f": {problem.help}" if problem.help else ""
    return f"{problem.code} `{problem.excerpt[start : start + problem.width]}` {problem.message}{advice}"


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["steps"])
def test_steps_are_judged_by_the_samples(case: dict[str, Any], tmp_path: Path) -> None:
    text = "".join(f"  - {step}\n" for step in case["steps"].replace("}, {", "}\n{").split("\n"))
    found = check(tmp_path, case.get("content", DATA["hosts"]), f"version: 1\ntool: t\nsteps:\n{text}", tool="t_1")
    assert list(map(shown, found)) == case["found"]


def test_samples_are_judged_together(tmp_path: Path) -> None:
    steps = [{"path": "a", "limit": 1, "sort_by": "n"}, {"path": "b", "drop": "raw"}]
    test = {"name": "b", "given": {"json": {"b": [{"raw": 1, "id": 1}]}}, "expect": {"unchanged": False}}
    assert codes(tmp_path, {"a": [{"n": 1}, {"n": 2}]}, {"steps": steps}) == ["W060"]
    assert check(tmp_path, {"a": [{"n": 1}, {"n": 2}]}, {"steps": steps, "tests": [test]}) == []


def test_tests_with_the_same_name_are_different_samples(tmp_path: Path) -> None:
    contents = [{"a": [1, 2], "b": 1}, {"a": [1], "b": 2}]
    tests = [{"name": "x", "given": {"json": one}, "expect": {"max_chars": 99}} for one in contents]
    assert check(tmp_path, {"a": [1]}, {"steps": [{"path": "a", "limit": 1}], "tests": tests}) == []


def test_only_the_samples_of_the_tool_count(tmp_path: Path) -> None:
    snapshot = {"name": "x", "given": {"json": [1, 2]}, "expect": {"snapshot": "samples/t.json"}}
    content, rule = {"a": 1, "b": 2, "c": 3}, {"max_chars": 9}
    assert codes(tmp_path, content, rule) == ["W069"]
    assert check(tmp_path, content, {**rule, "tests": [snapshot]}) == []
    (tmp_path / "samples" / "t.json").unlink()
    assert check(tmp_path, "text", {"steps": [{"limit": 1}]}, tool="other") == []
    for file, tool in (("b", "other_tool"), ("a", "other*"), ("c", "other_tool*")):
        (tmp_path / f"{file}.yaml").write_text(f"version: 1\ntool: {tool}\nsteps: [{{limit: 1}}]\n")
    (tmp_path / "samples" / "other_tool.json").write_text('"text"')
    ruleset = read_rules(tmp_path)
    found = {rule.name: [one.code for one in problems_when_run(rule, ruleset)] for rule in ruleset.rules}
    assert found == {"t": [], "other*": ["W060"], "other_tool": ["W060"], "other_tool*": []}


def test_a_rule_has_its_samples_in_another_compilation_of_the_rules_too(tmp_path: Path) -> None:
    rule = {"steps": [{"path": "row", "limit": 1}]}
    found = check(tmp_path, {"rows": [1, 2]}, rule)
    assert [one.code for one in found] == ["W060"]
    mine, others = read_rules(tmp_path), read_rules(tmp_path)
    assert problems_when_run(mine.rules[0], others) == found


def test_a_text_beside_the_rule_is_a_sample(tmp_path: Path) -> None:
    rule = {"steps": [{"text": "lines", "limit": 1}]}
    assert codes(tmp_path, [1], rule) == ["W083"]
    (tmp_path / "samples" / "t_1.txt").write_text("one line\n" * 9)
    assert codes(tmp_path, [1], rule) == []


def test_a_missing_projection_has_a_safe_fix(tmp_path: Path) -> None:
    steps = [{"path": "a.b.c", "truncate": 20}]
    (problem,) = check(tmp_path, {"a": [{"b": [{"c": "word " * 20}]}]}, {"steps": steps})
    assert [edit.text for edit in problem.fix] == ['"a[*].b[*].c"']
    (problem,) = check(tmp_path, {"hosts": [{"c": "word " * 20}]}, {"steps": [{"path": "host.c", "truncate": 20}]})
    assert problem.help.endswith("did you mean `hosts[*].c`?")
    assert problem.fix == ()


@pytest.mark.parametrize(("count", "found"), [(9, []), (10, ["W065"])])
def test_steps_that_remove_most_entities(count: int, found: list[str], tmp_path: Path) -> None:
    content = {"hosts": [{"id": n, "ip": f"192.0.2.{n}"} for n in range(count)]}
    rule: dict[str, Any] = {"steps": [{"path": "hosts", "keep": ["id"]}]}
    assert codes(tmp_path, content, rule) == found
    assert codes(tmp_path, content, {**rule, "preserve": ["ip"]}) == ["W051"]


def test_a_rule_that_never_runs(tmp_path: Path) -> None:
    rule = {"when": {"min_chars": 100}, "steps": [{"limit": 1}]}
    (problem,) = check(tmp_path, [1, 2], rule)
    assert shown(problem).startswith('W063 `"when"` the rule never runs, because its `when` holds for no sample: add')
    assert check(tmp_path, list(range(50)), rule) == []


@pytest.mark.parametrize(("where", "found"), DATA["conditions"].items())
def test_the_condition_of_a_rule_is_looked_up(where: str, found: list[str], tmp_path: Path) -> None:
    rule = {"when": {"where": where}, "steps": [{"path": "rows", "limit": 1}]}
    assert [*map(shown, check(tmp_path, {"kind": "host", "role": "web", "size": 9, "rows": [1, 2]}, rule))] == found


def test_samples_of_a_rule_for_all_tools_need_not_show_what_each_step_is_for(tmp_path: Path) -> None:
    steps = [{"unwrap": True}, {"truncate": 20}, {"path": "rows", "limit": 9}]
    test = {"name": "x", "given": {"json": {"rows": [1, 2]}}, "expect": {"unchanged": True}}
    (problem,) = check(tmp_path, [], {"tool": "*", "steps": steps, "tests": [test]})
    assert shown(problem).startswith('W063 `"limit')
    assert len(check(tmp_path, [], {"tool": "t", "steps": steps, "tests": [test]})) == 3


def test_how_far_max_chars_gets(tmp_path: Path) -> None:
    (problem,) = check(tmp_path, {"a": 1, "b": 2}, {"max_chars": 5})
    assert (problem.code, problem.message) == ("W069", "the sample t.json still has 13 characters")
    assert check(tmp_path, {"a": 1, "b": 2}, {"max_chars": 13}) == []


DEEP = b'{"rows": [%s]}' % (b"[" * 150 + b"]" * 150)


@pytest.mark.parametrize("content", [b"[" * 300 + b"1" + b"]" * 300, b"NaN", b"\xed\xa0\x80", DEEP])
def test_hostile_samples(content: bytes, tmp_path: Path) -> None:
    steps = [{"path": "rows[?contains(@, 'x')]", "limit": 1}]
    assert {*codes(tmp_path, content, {"steps": steps})} <= {"W050", "W060", "W063"}


@settings(laws, max_examples=settings().max_examples // 2)
@given(case=cases)
def test_checks_never_raise(case: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    data, _, content = case
    rule = {key: value for key, value in data.items() if key != "others"}
    for problem in check(tmp_path_factory.getbasetemp(), content, rule):
        assert problem.location.line == 1
        assert problem.message


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_FILE)
def test_shipped_rules_have_no_problems_with_their_samples(name: str) -> None:
    assert RULESET is not None
    assert problems_when_run(BY_FILE[name], RULESET) == []


BLOCK = {"type": "text", "text": '{"rows": [1, 2]}'}


@pytest.mark.parametrize(
    ("content", "path", "expected"),
    [
        ({"content": [], "structuredContent": {"rows": [1, 2]}}, "structuredContent.rows", "rows"),
        ({"content": [], "structuredContent": {"result": [1, 2]}}, "structuredContent.result", "@"),
        ({"content": [BLOCK]}, "content[0].text.rows", "rows"),
        ([BLOCK], "[*].text.rows", "rows"),
        ([BLOCK] * 2, "[*].text.rows", "[*].rows"),
    ],
)
def test_a_path_that_names_a_wrapper_is_corrected(content: Any, path: str, expected: str, tmp_path: Path) -> None:
    found = check(tmp_path, content, {"steps": [{"path": path, "limit": 1}]})
    assert [(one.code, one.help) for one in found] == [("W067", f"write `{expected}`")]
    assert check(tmp_path, content, {"steps": [{"path": expected, "limit": 1}]}) == []


def test_a_step_that_breaks_the_condition_of_its_rule_is_an_error(tmp_path: Path) -> None:
    content = {"rows": [{"id": n, "raw": "x" * 9} for n in range(3)]}
    rule = {"when": {"where": "rows[0].raw"}, "steps": [{"path": "rows", "limit": 2}, {"path": "rows", "drop": "raw"}]}
    (found,) = check(tmp_path, content, rule)
    assert (found.code, found.severity) == ("E073", "error")
    assert found.message == "after `drop rows`, the `where` of the rule does not hold for the sample t.json"
    assert check(tmp_path, content, {**rule, "when": {"where": "rows[0].id"}}) == []


def test_shipped_rules_recognise_their_results() -> None:
    for rule in BY_FILE.values():
        for test in rule.tests if rule.has_where else ():
            outcome = attempt(forced(rule), rule.name, sample(rule, test))
            assert breaks_where(rule, outcome) is None, (rule.file, test.name)
