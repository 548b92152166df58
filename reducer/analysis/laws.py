"""Check the laws of reducing on one content and its rule, as far as a rule can break them.

The tests of reducer check all laws. `histories.against` checks laws 2, 3, 4 and 7.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from reducer.analysis.measures import missing
from reducer.engine import Outcome, attempt
from reducer.histories.against import check_content
from reducer.paths.written import path_text
from reducer.rules import Rule, Ruleset
from reducer.values import dump

LAWS = {
    2: "types are kept",
    3: "root keys are kept",
    4: "the result is a subset",
    5: "reducing again changes nothing",
    7: "never larger",
    8: "preserved entities survive",
    9: "a rule can be applied to any content",
}
"""The laws that are checked, by number."""

_OF_CODE = {"V104": 2, "V106": 3, "V112": 7}
_MAX_BROKEN = 3  # violations that each check reports; further ones usually have the same cause


class Broken(NamedTuple):
    """A violation of a law. `step` is the number of the step that causes it, or 0 if no single step does."""

    law: int
    message: str
    step: int = 0


def alone(rule: Rule, ruleset: Ruleset) -> Ruleset:
    """Return a ruleset in which `rule` is the only candidate for every tool."""
    return only((rule,), ruleset)


def only(rules: tuple[Rule, ...], ruleset: Ruleset) -> Ruleset:
    """Return a ruleset in which these rules are the candidates for every tool."""
    return replace(ruleset, rules_for=lambda _: rules, texts=None)


def broken_laws(ruleset: Ruleset, content: Any, outcome: Outcome) -> Iterator[Broken]:
    """Yield the laws that an outcome breaks. In `ruleset`, its rule applies to every tool."""
    rule, result = outcome.rule, outcome.content
    if rule is None:
        return
    if outcome.fault:
        run = outcome.unstable
        yield Broken(5 if run else 9, outcome.fault, run.number if run and run.step else 0)
        return
    if result is content:
        return
    unwraps = any(step.op.opens_texts for step in rule.steps)
    for finding in check_content(content, result, unwraps=unwraps)[:_MAX_BROKEN]:
        place = f"`{path_text(finding.path)}`: " if finding.path else ""
        yield Broken(_OF_CODE.get(finding.code, 4), f"{place}{finding.message}")
    text = dump(result)
    again = attempt(ruleset, rule.name, json.loads(text))
    if dump(again.content) != text:
        step = next((run.number for run in again.steps if run.changed), 0)
        sizes = f"{len(text):,} -> {len(dump(again.content)):,} characters"
        yield Broken(5, f"the result is reduced again: {sizes}", step)
    yield from islice(_lost_entities(rule, content, outcome), _MAX_BROKEN)


def _lost_entities(rule: Rule, content: Any, outcome: Outcome) -> Iterator[Broken]:
    """Yield the entities that every step preserves and that the result does not contain."""
    policies = rule.preserved[1 : None if rule.max_chars is not None else -1]
    scan = rule.vocabulary.scanner(rule.types.intersection(*policies))
    # A value in a nested text is written with other escapes there.
    lost = {entity.canonical for value in outcome.restored.lost for entity in scan(value)}
    for entity in missing(content, outcome.content, scan):
        if entity.value not in outcome.restored.lost and entity.canonical not in lost:
            yield Broken(8, f"the {entity.type} {entity.value} was removed")
