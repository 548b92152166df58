"""A built-in rule does no harm to the answers of other servers, whatever their tools are called.

Each rule gets the samples of all other rules and the tool outputs of the real data. Prefixes and shared names only
decide which of these rules is tried first, so a rule that is the only candidate shows all that can happen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reducer.analysis.samples import file_of, sample
from reducer.engine import attempt, reduce_content
from reducer.rules import Rule
from reducer.values import chars, dump
from tests.helpers import BY_FILE, RULES, RULESET, decoded, forced, table

BUILT_IN = {name: rule for name, rule in BY_FILE.items() if rule.tools != ("*",)}
EXPECTED = table(__file__, "unrelated.yaml")
"""`fingerprint` is the SHA-256 of all answers; `related` maps a rule to globs of the answers that it is also for."""
SEPARATORS = ("mcp__server__", "server_", "server-", "server.", "server/")


@cache
def answers(data: Path) -> dict[str, Any]:
    """Return the contents by name: `PACK/samples/NAME` for samples, and `PRODUCT__COMMAND` for tool outputs."""
    found = {}
    for file in sorted(RULES.glob("*/samples/*")):
        if file.suffix == ".json":
            found[str(file.relative_to(RULES))] = json.loads(file.read_bytes())
        elif file.suffix != ".md":
            found[str(file.relative_to(RULES))] = file.read_bytes().decode()
    for file in sorted((data / "tool_outputs").glob("*.json")):
        if file.stem != "manifest":
            found[file.stem] = json.loads(file.read_bytes())
    return found


def is_related(rule: Rule, answer: str) -> bool:
    """Return whether an answer is a sample of a rule, or listed as one that the rule is for."""
    samples = {str(file_of(rule, test.given.file).relative_to(RULES)) for test in rule.tests if test.given.file}
    return answer in samples or any(
        fnmatchcase(answer, glob) for glob in EXPECTED["related"].get(Path(rule.file).stem, ())
    )


def has_values(value: Any) -> bool:
    """Return whether an answer says something: it has a number, a boolean, or a text that is no marker."""
    if isinstance(value, dict):
        return any(map(has_values, value.values()))
    if isinstance(value, list):
        return any(map(has_values, value))
    if isinstance(value, str):
        return value.strip() != "" and not value.startswith("…[")
    return value is not None


def harm(answer: Any, result: Any) -> str:
    """Return what a rule did to an answer: it emptied it, or removed more than half of it without a marker."""
    if result is answer:
        return ""
    if has_values(answer) and not has_values(result):
        return "emptied"
    if chars(decoded(result)) * 2 < chars(decoded(answer)):  # without the blanks of JSON
        return "unmarked" if dump(result).count("…[") <= dump(answer).count("…[") else "shortened"
    return ""


def test_the_answers_are_those_that_were_measured(data: Path) -> None:
    digest = hashlib.sha256()
    for name, content in answers(data).items():
        digest.update(f"{name} {dump(content)}\n".encode())
    assert len(answers(data)) >= 300
    assert digest.hexdigest() == EXPECTED["fingerprint"]


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT_IN)
def test_unrelated_answers_stay_or_have_markers(name: str, data: Path) -> None:
    rule, found = BUILT_IN[name], []
    pairs = shortened = 0
    for answer, content in answers(data).items():
        if not is_related(rule, answer):
            outcome = attempt(forced(rule), "any", content)
            what = harm(content, outcome.content)
            pairs, shortened = pairs + 1, shortened + bool(what)
            if what in ("emptied", "unmarked"):
                found.append((answer, what))
    assert found == []
    assert shortened <= pairs * 0.01


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_rule_has_a_shape_and_a_bound_and_is_found_behind_prefixes(name: str) -> None:
    rule = BUILT_IN[name]
    assert RULESET is not None
    assert rule.has_where
    assert rule.prefixed
    assert rule.max_chars is not None
    for tool in rule.tools:
        if not set(tool) & set("*?["):
            names = [f"{separator}{tool}" for separator in SEPARATORS]
            assert all(rule in RULESET.rules_for(each) for each in (tool, names[0], names[3], names[4]))


def own_samples(rule: Rule) -> Iterator[Any]:
    """Yield the recorded answers that the tests of a rule reduce."""
    for test in rule.tests:
        if test.given.file and not test.expect.unchanged:
            yield sample(rule, test)


@pytest.mark.parametrize("name", BUILT_IN)
def test_in_an_envelope_a_rule_works_or_changes_nothing(name: str) -> None:
    rules = forced(BUILT_IN[name])
    for answer in own_samples(BUILT_IN[name]):
        text = answer if isinstance(answer, str) else dump(answer)
        blocks = [{"type": "text", "text": text}]
        wrapped = [{"result": answer}, {"items": answer}, [answer], {"status": "ok", "data": {"report": answer}}]
        for envelope in (blocks, {"content": blocks}, *wrapped):
            assert harm(envelope, reduce_content(rules, "any", envelope)) != "emptied"
