"""The rules in `rules/`: they load, their own tests pass, and they save what they promise."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reducer.engine import reduce_content, trace
from reducer.entities import expand
from reducer.path import compile_expression
from reducer.rule.model import Expect, Test
from reducer.values import chars, dump
from tests.contents import opened, texts
from tests.shipped import BY_FILE, PROBLEMS, PRODUCTS, RULES, RULESET, entities, forced, stands

# --- they load, and their own tests pass


def test_all_rules_load_without_errors_or_warnings() -> None:
    assert [str(problem) for problem in PROBLEMS] == []
    assert len(BY_FILE) >= 13


def test_every_rule_says_what_it_does_and_is_tested_on_a_sample() -> None:
    for name, rule in BY_FILE.items():
        assert rule.description.endswith("."), name
        assert any(test.given.file for test in rule.tests), name
        assert any("unchanged" in test.expect.model_fields_set for test in rule.tests) or len(rule.tests) >= 2, name


def test_every_sample_has_a_source_and_a_rule() -> None:
    named = {test.given.file for rule in BY_FILE.values() for test in rule.tests if test.given.file}
    sources = (RULES / "samples" / "SOURCES.md").read_text(encoding="utf-8")
    for sample in (RULES / "samples").glob("*.json"):
        assert f"samples/{sample.name}" in named
        assert f"`{sample.name}`" in sources


def unmet(expect: Expect, content: Any, result: Any) -> Iterator[str]:
    """Tell in words what of `expect` does not hold."""
    said = expect.model_fields_set
    value = opened(result)
    shown = [*texts(value), dump(value)]
    if "unchanged" in said and (result is content) != expect.unchanged:
        yield f"unchanged: {result!r}"
    if "equals" in said and value != expect.equals:
        yield f"equals: {value!r}"
    yield from (f"contains {part!r}" for part in expect.contains or () if not any(part in text for text in shown))
    yield from (f"not_contains {part!r}" for part in expect.not_contains or () if any(part in text for text in shown))
    if expect.max_chars is not None and chars(result) > expect.max_chars:
        yield f"max_chars: {chars(result)}"
    if expect.min_reduction is not None and 1 - chars(result) / chars(content) < expect.min_reduction:
        yield f"min_reduction: {1 - chars(result) / chars(content):.1%}"
    for expression, wanted in (expect.values or {}).items():
        found = compile_expression(expression).evaluate(value)
        if found != wanted:
            yield f"{expression}: {found!r}"
    if expect.preserves:
        kept = "\0".join(texts(value))
        yield from (f"preserves {entity}" for entity in entities(opened(content), expand(expect.preserves)) if not stands(entity, kept))


@pytest.mark.parametrize(("name", "test"), [pytest.param(n, t, id=f"{n}: {t.name}") for n, rule in BY_FILE.items() for t in rule.tests])
def test_inline_tests(name: str, test: Test) -> None:
    content = test.given.content(RULES)
    outcome = trace(forced(BY_FILE[name]), "any", content)
    assert outcome.fault == ""
    assert list(unmet(test.expect, content, outcome.content)) == []


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ({"unchanged": True}, "unchanged"),
        ({"equals": {"a": 1}}, "equals"),
        ({"contains": "gone"}, "contains 'gone'"),
        ({"not_contains": "kept"}, "not_contains 'kept'"),
        ({"max_chars": 3}, "max_chars: 12"),
        ({"min_reduction": "90%"}, "min_reduction"),
        ({"values": {"length(a)": 4711}}, "length(a): 4"),
        ({"preserves": ["ip"]}, "preserves 192.0.2.9"),
    ],
)
def test_an_expectation_that_does_not_hold_is_said(expect: dict[str, Any], words: str) -> None:
    content, result = {"a": "kept", "b": "gone with 192.0.2.9"}, {"a": "kept"}
    (said,) = unmet(Expect.model_validate(expect), content, result)
    assert said.startswith(words)


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("deep_research", "deep_research"),
        ("explore", "explore"),
        ("get_indicator_details", "get_indicator_details"),
        ("vt_get_file_report", "virustotal_file"),
        ("virustotal_file_report", "virustotal_file"),
        ("virustotal_domain_report", "virustotal_domain"),
        ("virustotal_get_ip_report", "virustotal_ip"),
        ("shodan_host_lookup", "shodan_host"),
        ("misp_get_event", "misp_event"),
        ("opencti_export_report", "stix_bundle"),
        ("run_grype", "grype_scan"),
        ("aws_security_hub_get_findings", "aws_security_hub"),
        ("sentinel_list_incidents", "siem_incidents"),
        ("execute", "execute"),
        ("final_result", None),
        ("get_weather", None),
    ],
)
def test_which_rule_a_tool_gets(tool: str, name: str | None) -> None:
    assert RULESET is not None
    rule = RULESET.rule_for(tool)
    assert (rule and Path(rule.file).stem) == name


@pytest.mark.parametrize("name", BY_FILE)
def test_samples_are_not_changed_in_place(name: str) -> None:
    for test in BY_FILE[name].tests:
        content = test.given.content(RULES)
        before = dump(content)
        reduce_content(forced(BY_FILE[name]), "any", content)
        assert dump(content) == before


# --- they save what they promise


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_is_reduced_by_seventy_percent(name: str, data: Path) -> None:
    files = sorted(file for glob in PRODUCTS[name] for file in (data / "tool_outputs").glob(f"{glob}.json"))
    before = after = 0
    for file in files:
        content = json.loads(file.read_bytes())
        outcome = trace(forced(BY_FILE[name]), "any", content)
        assert outcome.fault == "", file.name
        before += chars(content)
        after += chars(outcome.content)
    assert files
    assert 1 - after / before >= 0.70


def test_sql_answers_are_reduced_and_keep_what_agents_used_later(data: Path) -> None:
    sys.path.insert(0, str(data))
    try:
        import retention
    finally:
        sys.path.pop(0)
    rules = forced(BY_FILE["execute"])
    before = after = used = kept = 0
    for file in sorted((data / "histories").glob("secrl*/*.json")):
        history = retention.Hist(json.loads(file.read_bytes()))
        reduced = {}
        for part in history.returns:
            content = history.parts[part][3]["content"]
            result = reduce_content(rules, "execute", content)
            before, after = before + chars(content), after + chars(result)
            reduced[part] = retention.search_text(result)
        for value, _, _, sources, novel in retention.references(history):
            if novel:
                used += 1
                kept += any(retention.occurs(value, reduced[source]) for source in sources)
    assert used > 400
    assert kept / used >= 0.98
    assert 1 - after / before >= 0.65
