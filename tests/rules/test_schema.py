"""The JSON Schema of rule files agrees with the checker and describes every key.

The reference in `rules/README.md` is correct: the table about quotes, the actions, and the line for editors.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reducer import files
from reducer.operations import operations
from reducer.operations.op import Op
from reducer.rules import compile_rules
from reducer.rules.parser import parse, plain
from reducer.rules.schema import rule_schema, schema_text
from tests.helpers import RULES
from tests.laws.strategies import KINDS, rule_files
from tests.rules.examples import CASES
from tests.tools.write_rules_page import BEGIN, END, PAGE, actions

MODELINE = "# yaml-language-server: $schema=.schema.json\n"
SCHEMA = rule_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def refusals(data: Any, validator: Draft202012Validator = VALIDATOR) -> list[str]:
    return [error.message for error in validator.iter_errors(data)]


def read(text: str) -> Any:
    tree, _ = parse(text, "r.yaml")
    return None if tree is None else plain(tree)


def errors(text: str) -> list[str]:
    return [problem.message for problem in compile_rules([("r.yaml", text)])[1] if problem.severity == "error"]


@given(st.sampled_from(sorted(KINDS)).flatmap(rule_files))
@example({"version": 1, "tool": "t", "steps": [{"path": "items", "limit": 1, "sort_by": "id"}], "preserve": ["ioc"]})
def test_the_schema_accepts_what_the_checker_accepts(rule: dict[str, Any]) -> None:
    accepted = not errors(json.dumps(rule))
    event(f"accepted: {accepted}")
    if accepted:
        assert refusals(rule) == []


@pytest.mark.parametrize("file", sorted(RULES.glob("*/*.yaml")), ids=lambda file: file.stem)
def test_the_shipped_rules_are_valid_and_name_their_schema(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith(MODELINE.replace("=", "=../"))
    assert refusals(read(text)) == []


@pytest.mark.parametrize("action", operations())
def test_examples_of_actions_are_valid_steps(action: str) -> None:
    for case in operations()[action].examples:
        for more, valid in (({}, True), ({"kep": 1}, False), ({"drop" if action == "keep" else "keep": "a"}, False)):
            rule = {"version": 1, "tool": "t", "steps": [{**case.step, **more}]}
            assert (refusals(rule) == []) is valid


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in ("valid", "invalid") for name in CASES[kind]])
def test_the_checker_and_the_schema_agree(kind: str, name: str) -> None:
    text, knowing = CASES[kind][name], Draft202012Validator(rule_schema(entities=["a"]))
    assert (errors(text) == []) is (kind == "valid")
    assert (refusals(read(text), knowing) == []) is (kind == "valid")


def test_custom_types_are_valid_and_tools_and_conditions_are_suggested() -> None:
    schema = rule_schema(tools=["vt_ip", "vt_ip", "a"], conditions=["severe"], entities=["ticket", "ip"])
    knowing = Draft202012Validator(schema)
    rule = {"version": 1, "tool": "other", "steps": [{"limit": 1, "always_keep": "risk"}], "preserve": ["ticket"]}
    assert refusals(rule) != []
    assert refusals(rule, knowing) == []
    assert refusals({**rule, "preserve": {"ticket": 3, "ip": 4}}, knowing) == []
    assert refusals({**rule, "preserve": ["tickets"]}, knowing) != []
    assert schema["properties"]["tool"]["examples"] == ["a", "vt_ip"]
    assert schema["$defs"]["Limit"]["properties"]["always_keep"]["examples"] == ["severe"]


def test_the_schema_of_the_shipped_rules_is_current() -> None:
    """`python -m reducer schema --rules rules -o rules/.schema.json` writes it."""
    assert schema_text((), files.rule_files(RULES)) == (RULES / ".schema.json").read_bytes()


def test_the_schema_is_valid_and_describes_every_key() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    objects = [SCHEMA, *SCHEMA["$defs"].values()]
    found = [(key, value) for each in objects for key, value in each.get("properties", {}).items()]
    assert len(found) > 40
    for key, value in found:
        assert value["description"].rstrip().endswith("."), key


@pytest.mark.parametrize(("action", "op"), operations().items(), ids=operations())
def test_every_action_shows_its_examples(action: str, op: type[Op]) -> None:
    shown = SCHEMA["$defs"][op.__name__]["properties"][action]["markdownDescription"]
    assert shown.startswith(f"{' '.join(str(op.__doc__).split())}\n\nWorks on ")
    blocks = [read(block) for block in re.findall("```yaml\n(.*?)```", shown, re.DOTALL)]
    for case in op.examples:
        assert json.dumps(case.result, ensure_ascii=False) in shown
        assert [case.step] in blocks


TEXT = PAGE.read_text(encoding="utf-8")
QUOTES = re.findall(r"^\| ``(.+?)``  ?\| ``(.+?)``  ?\| .+ \|$", TEXT.replace(" `` |", "``  |"), re.MULTILINE)


def rule_with(line: str) -> str:
    """Return a rule that contains a line where it is allowed."""
    key = line.split(":")[0]
    if key == "tool":
        return f"version: 1\n{line}\nmax_chars: 9\n"
    beside = {"path": "    compact: true\n", "always_keep": "    limit: 3\n", "sort_by": "    limit: 3\n"}
    return f"version: 1\ntool: t\nsteps:\n  - {line}\n{beside.get(key, '')}"


@pytest.mark.parametrize(("instead", "written"), QUOTES, ids=[written for _, written in QUOTES])
def test_the_table_about_quotes_is_correct(instead: str, written: str) -> None:
    assert compile_rules([("r.yaml", rule_with(instead))])[1] != ()
    ruleset, problems = compile_rules([("r.yaml", rule_with(written))])
    assert [str(problem) for problem in problems] == []
    assert ruleset is not None


def test_the_reference_is_current() -> None:
    section = TEXT.partition("## Quotes")[2].partition("\n## ")[0]
    assert len(QUOTES) == len([line for line in section.splitlines() if line.startswith("| ``")]) > 20
    assert errors(rule_with("keep: [last-seen, source.ip]")) == []
    assert f"{BEGIN}{actions()}{END}" in TEXT
    assert f"```yaml part\n{MODELINE}```\n" in TEXT
