"""Descriptions of rules for analysts, and instructions for the model, which are the same in every request."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer import Reducer
from reducer.operations import operations
from reducer.rules import descriptions, instructions, introduction
from reducer.rules.instructions import MAX_CHARS
from tests.helpers import RULES, rules, ruleset_of
from tests.laws.strategies import cases
from tests.rules.examples import CASES

INTRODUCTION = "Tool answers in this conversation are shortened by fixed rules; `…[` marks what was left out"
INTRODUCTION += ", as stated here.\n"
LEAVES_ALONE = "leaves objects with fewer than half of the keys of a step as they are"


def described(step: dict[str, Any]) -> list[str]:
    return [one.text for one in descriptions(rules(steps=[step]).rules[0])]


def in_short(*steps: dict[str, Any], **more: Any) -> str:
    text = instructions(rules(steps=list(steps), **more), ["t"])
    assert text.startswith(f"{INTRODUCTION}- `t`: ")
    return text.removeprefix(f"{INTRODUCTION}- `t`: ")


@pytest.mark.parametrize("case", CASES["descriptions"])
def test_descriptions_of_steps(case: dict[str, Any]) -> None:
    first, *others = described(case["step"])
    assert first == case["text"]
    assert others in ([], ["preserves ioc, cve, mitre_attack and threat_actor"], [LEAVES_ALONE])
    assert in_short(case["step"]).startswith(f"{first}.")


@pytest.mark.parametrize("case", CASES["rules"])
def test_descriptions_of_rules(case: dict[str, Any]) -> None:
    assert [one.text for one in descriptions(rules(**case["rule"]).rules[0])] == case["texts"]


@pytest.mark.parametrize("verb", operations())
def test_a_description_names_the_place(verb: str) -> None:
    for one in operations()[verb].examples:
        text = described(one.step)[0]
        assert (f"`{one.step['path']}`" if "path" in one.step else "the answer") in text
        assert text[0].islower()
        assert not text.endswith(".")


@given(cases)
def test_every_rule_has_descriptions(case: Any) -> None:
    for one in case[1].rules:
        assert descriptions(one)
        assert all(description.text for description in descriptions(one))


def test_shipped_rules_have_descriptions() -> None:
    reducer = Reducer.load(RULES)
    for one in reducer.ruleset.rules:
        lines = [description.line for description in descriptions(one) if description.line]
        assert lines == sorted(lines)
        assert not one.steps or lines[0] == one.steps[0].location.line
        named = min(one.tools, key=lambda name: "*" in name)
        assert len(reducer.instructions([named])) <= 2000
    assert reducer.instructions(["execute", "git_log"]) == reducer.instructions(["git_log", "execute"])


def test_instructions_name_the_first_steps_and_equal_steps_only_once() -> None:
    many = in_short(*({"path": f"a{number}", "limit": 2} for number in range(20)), {"compact": True}, max_chars=9000)
    assert many.count(";") == 6
    rest = "; shortens other parts too; shortens lists and texts further if more than 9,000 characters are left."
    marking = " Marked: cut texts and items of lists. Not marked: keys and few or short items."
    assert many.endswith(rest + marking)
    equal = in_short(*({"path": "a", "limit": 2} for _ in range(20)))
    assert equal == "keeps the first 2 items of `a`. Marked: items of lists. Not marked: few or short items."


@pytest.mark.parametrize("case", CASES["marked"], ids=lambda case: case["end"])
def test_instructions_state_what_is_marked(case: dict[str, Any]) -> None:
    text = in_short(*case["steps"])
    assert text.endswith(case["end"])
    assert text.count("arked: ") == case["end"].count("arked: ")


def test_tools_with_the_same_rule_share_a_line() -> None:
    ruleset = rules(tool=["a*", "b"], steps=[{"limit": 2}])
    line = "keeps the first 2 items of the answer. Marked: items of lists. Not marked: few or short items."
    assert instructions(ruleset, ["a2", "b", "a1", "c", "a1"]) == f"{INTRODUCTION}- `a1`, `a2`, `b`: {line}"
    assert instructions(ruleset) == f"{INTRODUCTION}- `a*`, `b`: {line}"
    assert instructions(ruleset, ["c"]) == instructions(ruleset, []) == ""


def test_the_rules_with_the_most_specific_names_come_first() -> None:
    ruleset = ruleset_of("*", "get_*", "get_host", "*_h*")
    for text, starts in (
        (instructions(ruleset), ["- `get_host`", "- `get_*`", "- `*_h*`", "- `*`"]),
        (instructions(ruleset, ["a", "b", "get_host"]), ["- `get_host`", "- `a`, `b`"]),
    ):
        assert [line.partition(":")[0] for line in text.splitlines()[1:]] == starts


@given(st.lists(st.integers(1, 190), min_size=1, max_size=60))
@example([190] * 9)
def test_instructions_have_a_bound_and_count_the_other_tools(sizes: list[int]) -> None:
    tools = [f"t{number}_".ljust(size + 4, "x") for number, size in enumerate(sizes)]
    ruleset = ruleset_of(*tools)
    for text in (instructions(ruleset), instructions(ruleset, [*tools, "other"])):
        assert len(text) <= MAX_CHARS
        lines = text.splitlines()
        counts = re.findall(r"- The rules for (\d+) more tools? are not stated here\.", lines[-1])
        left_out = int(counts[0]) if counts else 0
        event("some are left out" if left_out else "all fit")
        assert len(lines) - 1 - len(counts) + left_out == len(tools)


def test_a_rule_for_too_many_tools_does_not_prevent_other_lines() -> None:
    ruleset = ruleset_of("get_*", "look")
    text = instructions(ruleset, ["look", *(f"get_{'x' * 40}{number}" for number in range(1_000))])
    assert "- `look`: " in text
    assert text.endswith("\n- The rules for 1,000 more tools are not stated here.")


def test_the_introduction_is_for_tools_that_are_not_known() -> None:
    assert introduction(ruleset_of("look")).startswith(INTRODUCTION.partition(",")[0])
    assert introduction(ruleset_of()) == ""
