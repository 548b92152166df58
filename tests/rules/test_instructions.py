"""What rules do in words: for analysts as sentences, for the model in short and the same in every request."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from reducer import Reducer
from reducer.operations import operations
from reducer.rules import Rule, descriptions, instructions
from tests.helpers import BY_FILE, RULES, rules
from tests.laws.strategies import cases
from tests.rules.examples import CASES

INTRODUCTION = (
    "Tool answers in this conversation are shortened by fixed rules; `…[` marks where text or items were left out.\n"
)
LIMIT = {"path": "resolutions", "limit": 20, "sort_by": "last_seen"}
KEEP = {"path": "resolutions", "keep": ["hostname", "last_seen"]}


def rule(*steps: dict[str, Any], **more: Any) -> Rule:
    return rules(steps=list(steps), **more).rules[0]


def described(*steps: dict[str, Any], **more: Any) -> list[str]:
    return [one.text for one in descriptions(rule(*steps, **more))]


def in_short(*steps: dict[str, Any], **more: Any) -> str:
    text = instructions(rules(steps=list(steps), **more), ["t"])
    assert text.startswith(f"{INTRODUCTION}- `t`: ")
    return text.removeprefix(f"{INTRODUCTION}- `t`: ")


@pytest.mark.parametrize("case", CASES["descriptions"])
def test_what_a_step_does(case: dict[str, Any]) -> None:
    first, *others = described(case["step"])
    assert first == case["text"]
    assert others in ([], ["preserves ioc, cve, mitre_attack and threat_actor"])
    assert in_short(case["step"]) == f"{first}."


def test_a_list_and_its_keys_are_one_sentence() -> None:
    text = "keeps the 20 newest `resolutions` by `last_seen`, each with `hostname` and `last_seen`"
    assert described(LIMIT, KEEP) == [text]
    assert in_short(LIMIT, KEEP) == f"{text}."
    for steps in ([KEEP, LIMIT], [LIMIT, {**KEEP, "path": "others"}], [LIMIT, {**KEEP, "when": {"min_chars": 9}}]):
        assert len(described(*steps)) == 2


def test_what_goes_for_the_whole_rule() -> None:
    more: dict[str, Any] = {"max_chars": 12000, "keys": "all", "preserve": {"cve": 9, "ip": 50}}
    assert described({"path": "note", "truncate": 400}, when={"min_chars": 2000}, **more) == [
        "applies only if the answer has at least 2,000 characters",
        "cuts texts in `note` to the first 400 characters",
        "shortens lists and texts further if more than 12,000 characters are left",
        "keeps every key of every object; removed values become empty",
        "preserves ip and cve",
        "preserves at most 9 values of cve",
        "preserves at most 50 values of ip",
    ]
    assert described({"drop": "a"}, {"drop": "c", "preserve": ["ip"]})[-1] == "preserves ip in line 1"
    assert described({"limit": 1}, preserve=["ipv6", "cve", "ipv4"])[-1] == "preserves ip and cve"
    assert described({"limit": 1}, preserve=["ipv4"])[-1] == "preserves ipv4"


@pytest.mark.parametrize("verb", operations())
def test_an_operation_names_its_place(verb: str) -> None:
    for example in operations()[verb].examples:
        text = described(example.step)[0]
        assert (f"`{example.step['path']}`" if "path" in example.step else "the answer") in text
        assert text[0].islower()
        assert not text.endswith(".")


@given(cases)
def test_any_rule_has_words(case: Any) -> None:
    for one in case[1].rules:
        assert all(description.text for description in descriptions(one))
        assert descriptions(one)


def test_shipped_rules_have_words() -> None:
    reducer = Reducer.load(RULES)
    for one in BY_FILE.values():
        lines = [description.line for description in descriptions(one) if description.line]
        assert lines == sorted(lines)
        assert lines[0] == one.steps[0].location.line
        assert len(reducer.instructions([next(name for name in one.tools if "*" not in name)])) < 1000
    assert reducer.instructions(["explore", "deep_research"]) == reducer.instructions(["deep_research", "explore"])


def test_of_many_steps_the_first_are_named_and_of_equal_ones_one() -> None:
    many = in_short(*({"path": f"a{number}", "limit": 2} for number in range(20)), {"compact": True}, max_chars=9000)
    assert many.count(";") == 7
    rest = "; shortens other parts too; shortens lists and texts further if more than 9,000 characters are left."
    assert many.endswith(rest)
    assert in_short(*({"path": "a", "limit": 2} for _ in range(20))) == "keeps the first 2 items of `a`."


def test_tools_of_one_rule_share_a_line_and_tools_without_one_have_none() -> None:
    ruleset = rules(tool=["a*", "b"], steps=[{"limit": 2}])
    line = "keeps the first 2 items of the answer."
    assert instructions(ruleset, ["a2", "b", "a1", "c", "a1"]) == f"{INTRODUCTION}- `a1`, `a2`, `b`: {line}"
    assert instructions(ruleset) == f"{INTRODUCTION}- `a*`, `b`: {line}"
    assert instructions(ruleset, ["c"]) == instructions(ruleset, []) == ""
