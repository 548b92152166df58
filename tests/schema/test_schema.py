"""The JSON Schema of rule files: what the checker accepts it accepts, and what editors show of it is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import event, given
from hypothesis import example as case
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from pydantic import BaseModel, ConfigDict

from reducer import schema as schema_module
from reducer.op import Draft, Example, Op
from reducer.ops import operations
from reducer.rule import compile_rules
from reducer.schema import rule_schema
from reducer.schema.tidy import schema_of
from reducer.source import parse, plain
from tests.laws.strategies import KINDS, rule_files
from tests.schema.rules_wrong import RIGHT, WRONG
from tests.shipped import RULES

MODELINE = "# yaml-language-server: $schema=.schema.json\n"
SCHEMA = rule_schema()
VALIDATOR = Draft7Validator(SCHEMA)


def refusals(data: Any, validator: Draft7Validator = VALIDATOR) -> list[str]:
    return [error.message for error in validator.iter_errors(data)]


def read(text: str) -> Any:
    tree, _ = parse(text, "r.yaml")
    return None if tree is None else plain(tree)


def errors(text: str) -> list[str]:
    return [problem.message for problem in compile_rules([("r.yaml", text)])[1] if problem.severity == "error"]


# --- it agrees with the checker


def test_it_is_a_schema() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"


@given(st.sampled_from(sorted(KINDS)).flatmap(rule_files))
@case({"version": 1, "tool": "t", "steps": [{"path": "items", "limit": 1, "sort_by": "id"}], "preserve": ["ioc"], "max_chars": 400})
def test_what_the_checker_accepts_is_valid(rule: dict[str, Any]) -> None:
    accepted = not errors(json.dumps(rule))
    event(f"accepted: {accepted}")
    if accepted:
        assert refusals(rule) == []


@given(st.sampled_from(sorted(KINDS)).flatmap(rule_files), st.data())
def test_a_key_that_is_unknown_to_the_checker_is_not_valid(rule: dict[str, Any], data: st.DataObject) -> None:
    """At any place where keys are fixed, and then it is all that is wrong."""
    rule = json.loads(json.dumps(rule))  # parts of it may be one object
    place = data.draw(st.sampled_from([part for part in (rule, rule.get("when"), *rule["steps"], *(step.get("when") for step in rule["steps"])) if part]))
    place["kep"] = ["a"]
    assert any("unknown key `kep`" in message for message in errors(json.dumps(rule)))
    assert refusals(rule) == ["Additional properties are not allowed ('kep' was unexpected)"]


@pytest.mark.parametrize("file", sorted(RULES.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_shipped_rules_are_valid_and_say_where_their_schema_is(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith(MODELINE)
    assert refusals(read(text)) == []


@pytest.mark.parametrize(("verb", "step"), [(verb, example.step) for verb, op in operations().items() for example in op.examples])
def test_examples_are_valid_steps_and_a_key_more_is_none(verb: str, step: dict[str, Any]) -> None:
    rule = {"version": 1, "tool": "t", "steps": [step]}
    assert refusals(rule) == []
    assert refusals({**rule, "steps": [{**step, "kep": 1}]}) == ["Additional properties are not allowed ('kep' was unexpected)"]
    other = "keep" if verb != "keep" else "drop"
    assert refusals({**rule, "steps": [{**step, other: "a"}]}) != []


@pytest.mark.parametrize("text", [text for text, *_ in WRONG.values()], ids=WRONG)
def test_wrong_rules_are_refused_by_both(text: str) -> None:
    assert errors(text) != []
    assert refusals(read(text)) != []


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_right_rules_are_accepted_by_both(text: str) -> None:
    assert errors(text) == []
    assert refusals(read(text), Draft7Validator(rule_schema(entities=["a"]))) == []


# --- what it knows of a project


def test_own_entity_types_are_valid_where_they_are_described() -> None:
    rule = {"version": 1, "tool": "t", "max_chars": 9, "preserve": ["ticket"]}
    assert len(refusals(rule)) == 1
    knowing = Draft7Validator(rule_schema(entities=["ticket", "ip"]))
    assert refusals(rule, knowing) == []
    assert refusals({**rule, "preserve": {"ticket": 3, "ip": 4}}, knowing) == []
    assert len(refusals({**rule, "preserve": ["tickets"]}, knowing)) == 1
    names = rule_schema(entities=["ticket", "ip"])["definitions"]["entity"]["enum"]
    assert sorted(names) == sorted(set(names))


def test_tools_and_conditions_are_suggested_and_others_are_as_good() -> None:
    schema = rule_schema(tools=["vt_ip", "vt_ip", "odd: ${1:x}"], conditions=["severe"])
    tool = schema["properties"]["tool"]
    assert tool["defaultSnippets"] == [{"label": "vt_ip", "body": "vt_ip"}, {"label": "odd: ${1:x}", "body": "'odd: \\${1:x\\}'"}]
    assert tool["items"]["defaultSnippets"] == tool["defaultSnippets"]
    assert schema["definitions"]["step"]["properties"]["always_keep"]["defaultSnippets"] == [{"label": "severe", "body": "severe"}]
    assert refusals({"version": 1, "tool": "other", "steps": [{"limit": 1, "always_keep": "risk"}]}, Draft7Validator(schema)) == []


def test_the_schema_beside_the_shipped_rules_is_current() -> None:
    """`python -m reducer schema --rules rules -o rules/.schema.json` writes it."""
    from reducer.cli.verbs.schema import schema_text

    assert schema_text((), [str(RULES)]) == (RULES / ".schema.json").read_bytes()


# --- what editors show


def described(schema: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if type(schema) is dict:
        for key, value in schema.get("properties", {}).items():
            if type(value) is dict:
                yield f"{place}.{key}", value
        for key, value in schema.items():
            if key not in ("if", "dependencies"):
                yield from described(value, f"{place}.{key}")
    elif type(schema) is list:
        for item in schema:
            yield from described(item, place)


def test_every_key_is_explained() -> None:
    found = dict(described(SCHEMA))
    assert len(found) > 40
    for place, value in found.items():
        assert value["description"].rstrip().endswith("."), place
        assert "`" not in value["description"] or "markdownDescription" in value, place


@pytest.mark.parametrize(("verb", "op"), operations().items(), ids=operations())
def test_every_action_shows_its_examples_and_offers_one_to_fill_in(verb: str, op: type[Op]) -> None:
    step = SCHEMA["definitions"]["step"]
    shown = step["properties"][verb]["markdownDescription"]
    assert shown.startswith(f"{op.__doc__}\n\nWorks on ")
    for example in op.examples:
        assert json.dumps(example.result, ensure_ascii=False) in shown
        [written] = [text for text in shown.split("```yaml\n")[1:] if read(text.split("```")[0]) == [example.step]]
        assert written
    [snippet] = [snippet for snippet in step["then"]["defaultSnippets"] if snippet["label"] == f"step: {verb}"]
    assert list(snippet["body"])[:2] == ["path", verb]


class Fourth(Op):
    """Keep every fourth item."""

    accepts: ClassVar[frozenset[type]] = frozenset({list})
    examples: ClassVar[tuple[Example, ...]] = (Example("a list", {"test_schema": 4}, [1], [1]),)
    test_schema: int
    starting: int = 0

    def apply(self, value: Any, draft: Draft) -> Any:
        return value

    def tells(self, place: str) -> str:
        return place

    def says(self, place: str) -> str:
        return place


class Source(BaseModel):
    """One thing, or a history and which return of it."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1, "dependentRequired": {"call": ["history"]}})
    text: str = ""
    history: str = ""
    call: str = ""


def test_of_keys_that_exclude_each_other_one_may_have_a_companion() -> None:
    validator = Draft7Validator(schema_of(Source))
    assert [refusals(right, validator) for right in ({"text": "a"}, {"history": "a"}, {"history": "a", "call": "b"})] == [[], [], []]
    for wrong in ({}, {"text": "a", "history": "a"}, {"call": "b"}, {"text": "a", "call": "b"}, {"cal": "b"}):
        assert len(refusals(wrong, validator)) == 1


def test_an_operation_is_in_it_once_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_module, "operations", lambda: {**operations(), "test_schema": Fourth})
    validator = Draft7Validator(rule_schema())
    rule = {"version": 1, "tool": "t", "steps": [{"test_schema": 4, "starting": 1}]}
    assert refusals(rule, validator) == []
    assert len(refusals({**rule, "steps": [{"keep": "a", "starting": 1}]}, validator)) == 1
    assert len(refusals({**rule, "steps": [{"test_schema": "x"}]}, validator)) == 1
    assert len(refusals({**rule, "steps": [{"keep": "a", "test_schema": 1}]}, validator)) == 1
    assert refusals(rule) != []
