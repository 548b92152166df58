"""The rules in `rules/` load, pass their inline tests, and reduce enough."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reducer.analysis.rule_tests import run_sample
from reducer.analysis.samples import samples_of
from reducer.engine import attempt, reduce_content
from reducer.entities import expand
from reducer.rules import Rule, compile_rules
from reducer.values import chars
from tests.helpers import BY_FILE, PROBLEMS, PRODUCTS, RULES, RULESET, entities, forced, is_bounded, texts
from tests.rules.examples import CASES
from tests.tools.write_catalogue import PAGE, allowed, catalogue, measured, servers

PRESERVED = expand(("ioc", "cve", "threat_actor"))

# --- loading and inline tests


def test_all_rules_load_together_and_their_file_names_differ() -> None:
    assert [str(problem) for problem in PROBLEMS] == []
    assert len(BY_FILE) == len([*RULES.glob("*/*.yaml")]) >= 40


@pytest.mark.parametrize("name", BY_FILE)
def test_a_rule_has_a_description_comments_a_recorded_answer_and_a_return_that_stays(name: str) -> None:
    rule = BY_FILE[name]
    assert rule.description.endswith(".")
    assert servers(name), "no recorded answer in SOURCES.md"
    assert any(test.expect.unchanged for test in rule.tests)
    assert re.search(r"\n *# \w", Path(rule.file).read_text(encoding="utf-8").partition("\ntests:")[0])


def test_rules_lose_no_entities_unless_comments_allow_it_as_the_catalogue_states() -> None:
    """`python -m tests.tools.write_catalogue` writes the catalogue. One test, because measuring takes seconds."""
    for name, rule in BY_FILE.items():
        lost = set(measured(name).lost) - allowed(rule)
        assert lost == set(), f"{name} loses {lost}"
    assert PAGE.read_text(encoding="utf-8") == catalogue()


def test_every_sample_has_a_source_and_a_rule() -> None:
    tests = ((rule, test.given.file) for rule in BY_FILE.values() for test in rule.tests)
    named = {Path(rule.file).parent / name for rule, name in tests if name}
    files = {file for file in RULES.glob("*/samples/*") if file.name != "SOURCES.md"}
    assert files == named
    for file in files:
        assert f"`{file.name}`" in file.with_name("SOURCES.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", BY_FILE)
def test_inline_tests(name: str) -> None:
    assert RULESET is not None
    for sample in samples_of(BY_FILE[name], RULESET):
        case = run_sample(RULESET, sample)
        assert case.failures == (), sample.name


@pytest.mark.parametrize(("tool", "name"), CASES["tools"].items())
def test_rules_of_tools(tool: str, name: str | None) -> None:
    assert RULESET is not None
    rule = next(iter(RULESET.rules_for(tool)), None)
    assert (rule and Path(rule.file).stem) == name


# --- reductions


def results(name: str, rule: Rule, data: Path) -> Iterator[tuple[Any, Any]]:
    """Yield each recorded answer of a product, and what a rule leaves of it without a fault."""
    for file in (file for glob in PRODUCTS[name] for file in (data / "tool_outputs").glob(f"{glob}.json")):
        content = json.loads(file.read_bytes())
        outcome = attempt(forced(rule), "any", content)
        assert outcome.fault == "", file.name
        yield content, outcome.content


def saved_of(found: Iterable[tuple[Any, Any]]) -> float:
    """Return the share of the characters that are left out of all answers."""
    sizes = [(chars(content), chars(result)) for content, result in found]
    before, after = map(sum, zip(*sizes, strict=True))
    return 1 - after / before


@pytest.mark.slow
def test_with_preserve_all_indicators_survive_and_returns_are_reduced_by_half(data: Path) -> None:
    found = []
    for name in PRODUCTS:
        text = Path(BY_FILE[name].file).read_text(encoding="utf-8").partition("\ntests:")[0]
        kept = [line for line in text.splitlines() if not line.lstrip().startswith("preserve:")]
        ruleset, problems = compile_rules([(name, "\n".join([*kept, "preserve: [ioc, cve, threat_actor]", ""]))])
        assert ruleset is not None, problems
        found += results(name, ruleset.rules[0], data)
    for content, result in found:
        left = "\n".join(texts(result))
        assert [value for value in entities(content, PRESERVED) if not is_bounded(value, left)] == []
    assert saved_of(found) >= 0.50


def test_sql_answers_are_reduced_and_keep_what_agents_used_later(data: Path, definition: ModuleType) -> None:
    rules = forced(BY_FILE["execute"])
    found: list[tuple[Any, Any]] = []
    used = kept = from_long = kept_from_long = 0
    for file in sorted((data / "histories").glob("secrl*/*.json")):
        history = definition.Hist(json.loads(file.read_bytes()))
        reduced = {}
        for part in history.returns:
            content = history.parts[part][3]["content"]
            result = reduce_content(rules, "execute", content)
            found.append((content, result))
            reduced[part] = definition.search_text(result)
        for value, _, _, sources, novel in definition.references(history):
            if novel:
                is_kept = any(definition.occurs(value, reduced[source]) for source in sources)
                is_long = all(chars(history.parts[source][3]["content"]) >= 8000 for source in sources)
                used, from_long = used + 1, from_long + is_long
                kept, kept_from_long = kept + is_kept, kept_from_long + (is_long and is_kept)
    assert (used, kept) == (488, 488)
    assert (from_long, kept_from_long) == (21, 21)
    assert saved_of(found) >= 0.55
