"""The laws of DESIGN section 2 that speak of one content, over generated rules and contents aimed at each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import event, given, settings

from reducer.engine import attempt, prepare, reduce_content
from reducer.entities import expand
from reducer.values import is_media
from tests.helpers import compiled
from tests.laws import checks
from tests.laws.strategies import cases, laws, tries


@laws
@given(cases)
def test_law_2_a_content_keeps_its_type(case: Any) -> None:
    _, ruleset, content = case
    checks.same_type(content, reduce_content(ruleset, "t", content))


@laws
@given(cases)
def test_law_3_an_object_at_the_root_keeps_its_keys(case: Any) -> None:
    rule, ruleset, content = case
    checks.root_keys(content, reduce_content(ruleset, "t", content), rule.get("keys") == "all")


@laws
@given(cases)
def test_law_4_the_result_lies_within_the_input(case: Any) -> None:
    _, ruleset, content = case
    checks.within(content, reduce_content(ruleset, "t", content))


@laws
@given(cases)
def test_law_5_reducing_again_changes_nothing(case: Any) -> None:
    _, ruleset, content = case
    once = reduce_content(ruleset, "t", content)
    assert checks.as_bytes(reduce_content(ruleset, "t", once)) == checks.as_bytes(once)
    stored = checks.round_tripped(once)
    assert checks.as_bytes(reduce_content(ruleset, "t", stored)) == checks.as_bytes(once)


@laws
@given(cases)
def test_law_7_the_result_is_never_larger(case: Any) -> None:
    _, ruleset, content = case
    checks.never_larger(content, reduce_content(ruleset, "t", content))


@laws
@given(cases)
def test_law_8_preserved_entities_remain(case: Any) -> None:
    rule, ruleset, content = case
    result = reduce_content(ruleset, "t", content)
    types = frozenset(expand(rule.get("preserve", ())))
    for step in rule["steps"]:
        types &= frozenset(expand(step.get("preserve", types)))
    checks.preserved(content, result, types)


@laws
@given(cases)
def test_law_8_a_cut_leaves_no_half_entity(case: Any) -> None:
    _, ruleset, content = case
    checks.no_halves(content, reduce_content(ruleset, "t", content))


@laws
@given(tries)
def test_law_9_no_rule_and_no_content_raise(case: Any) -> None:
    _, ruleset, content = case
    if ruleset is not None:
        attempt(ruleset, "t", content)


@laws
@given(cases)
def test_media_stays_and_nothing_is_changed_in_place(case: Any) -> None:
    _, ruleset, content = case
    before = checks.as_bytes(content)
    result = reduce_content(ruleset, "t", content)
    assert checks.as_bytes(content) == before
    if checks.as_bytes(result) == before:
        assert result is content or isinstance(content, str)
    if isinstance(content, list):
        kept = [item for item in content if is_media(item)]
        assert [item for item in result if is_media(item)] == kept


def test_law_10_another_process_gives_the_same_bytes() -> None:
    rule = {
        "version": 1,
        "tool": "t",
        "preserve": ["ioc", "threat_actor"],
        "steps": [
            {"path": "items", "limit": 1},
            {"path": "items", "keep": ["id"]},
            {"path": "articles", "limit": 1},
            {"truncate": 20},
        ],
    }
    texts = [
        f"APT{n} and Fancy Bear used 192.0.2.{n} and evil{n}[.]com in the night of the long report"
        for n in range(28, 40)
    ]
    given = json.dumps([rule, {"items": [{"id": n, "notes": text} for n, text in enumerate(texts)], "articles": texts}])
    answers = set()
    for seed in ("0", "1", "42"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", "tests.laws.reduce_stdin"]
        answers.add(
            subprocess.run(command, input=given, capture_output=True, text=True, check=True, env=environment).stdout
        )
    assert len(answers) == 1
    assert "mentions" in answers.pop()


def test_law_12_the_generated_cases_reduce_something() -> None:
    counts = {"all": 0, "changed": 0, "faults": 0}

    @settings(laws, max_examples=300, database=None, derandomize=True)
    @given(cases)
    def run(case: Any) -> None:
        _, ruleset, content = case
        outcome = attempt(ruleset, "t", content)
        changed = outcome.content is not content
        counts["all"] += 1
        counts["changed"] += changed
        counts["faults"] += bool(outcome.fault)
        event("changed" if changed else (outcome.fault and "a fault") or "unchanged")

    run()
    assert counts["changed"] >= 0.4 * counts["all"], counts
    assert counts["faults"] <= 0.1 * counts["all"], counts


@pytest.mark.parametrize("step", [{"limit": 1}, {"keep": ["id"]}, {"truncate": 5}])
def test_what_no_rule_touches_comes_back_as_the_same_object(step: dict[str, Any]) -> None:
    ruleset = compiled({"version": 1, "tool": "t", "steps": [{"path": "none", **step}]})
    assert ruleset is not None
    prepare(ruleset)
    for content in ({"a": 1}, [1], "text", '{"a": 1}', None, 3, b"bytes"):
        assert reduce_content(ruleset, "t", content) is content
        assert reduce_content(ruleset, "other", content) is content
