"""Check the laws of reducing on one content and its rule.

Laws 6 and 11, which concern whole histories and live objects, are not checked. `histories.against` checks laws 2, 3, 4
and 7.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, islice
from operator import and_
from typing import Any, NamedTuple

from reducer.analysis.texts import all_text, contains, entities, opened
from reducer.engine import Outcome, attempt, reduce_content
from reducer.histories.against import check_content
from reducer.paths.written import path_text
from reducer.rules import Rule, Ruleset
from reducer.values import MAX_DEPTH, dump

LAWS = {
    1: "nothing is changed in place",
    2: "types are kept",
    3: "root keys are kept",
    4: "the result is a subset",
    5: "reducing again changes nothing",
    7: "never larger",
    8: "preserved entities survive",
    9: "a rule can be applied to any content",
    10: "the same content gives the same result",
}
"""The laws that concern a single content, by number."""

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


def broken_laws(ruleset: Ruleset, content: Any, before: str, outcome: Outcome) -> Iterator[Broken]:
    """Yield the laws that an outcome breaks.

    `before` is the JSON text of the content before it was reduced. In `ruleset`, the rule applies to every tool.
    """
    rule, result = outcome.rule, outcome.content
    if rule is None:
        return
    if dump(content) != before:
        yield Broken(1, "the given content was changed")
        return
    if outcome.fault:
        step = outcome.unstable
        yield Broken(5 if step else 9, outcome.fault, step.step.number if step and step.step else 0)
        return
    # The result must not depend on the identity of objects, so an equal copy has the same result.
    copy = content if type(content) is str else json.loads(before)
    if dump(reduce_content(ruleset, rule.name, copy)) != dump(result):
        yield Broken(10, "a copy of the content has a different result")
    if result is content:
        return
    unwraps = any(step.op.opens_texts for step in rule.steps)
    for finding in check_content(content, result, unwraps=unwraps)[:_MAX_BROKEN]:
        place = f"`{path_text(finding.path)}`: " if finding.path else ""
        yield Broken(_OF_CODE.get(finding.code, 4), f"{place}{finding.message}")
    for lost in islice(_lost_keys(opened(content), opened(result)), _MAX_BROKEN if rule.all_keys else 0):
        yield Broken(3, f"`{path_text(lost)}` was removed, although `keys: all` keeps it")
    yield from _again(ruleset, rule, result)
    yield from islice(_lost_entities(rule, content, outcome), _MAX_BROKEN)
    yield from islice(_cut_entities(rule, content, result), _MAX_BROKEN)


def _lost_keys(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if type(old) is dict and type(new) is dict and new and len(path) <= MAX_DEPTH:
        yield from ((*path, key) for key in old if key not in new)
        for key in new:
            yield from _lost_keys(old.get(key), new[key], (*path, key))


def _again(ruleset: Ruleset, rule: Rule, result: Any) -> Iterator[Broken]:
    text = dump(result)
    outcome = attempt(ruleset, rule.name, json.loads(text))
    new = dump(outcome.content)
    if new != text:
        step = next((run.number for run in outcome.steps if run.changed), 0)
        yield Broken(5, f"the result is reduced again: {len(text):,} -> {len(new):,} characters", step)


def _lost_entities(rule: Rule, content: Any, outcome: Outcome) -> Iterator[Broken]:
    """Yield the removed entities that some step and all later steps preserve."""
    policies = rule.preserved[1 : None if rule.max_chars is not None else -1]
    left = all_text(opened(outcome.content), deeper=True)
    earlier: frozenset[str] = frozenset()
    for number, types in enumerate(reversed([*accumulate(reversed(policies), and_)]), 1):
        if types <= earlier:
            continue
        scan = rule.vocabulary.scanner(types - earlier)
        there = entities(_left_after(outcome, content, number - 1), scan)
        earlier = types
        # A cut may turn text into an entity that the original content does not contain.
        arrived = entities(opened(content), scan)
        for key, entity in there.items():
            if key in arrived and entity.value not in outcome.restored.lost and not contains(left, entity.value):
                yield Broken(8, f"the {entity.type} {entity.value} was removed", number)


def _left_after(outcome: Outcome, content: Any, step: int) -> Any:
    """Return what a step left. A text that cannot be written without some lines is the whole text: return its lines."""
    written = outcome.left_after(step, seen=False)
    return outcome.left_after(step) if step and written == content else opened(written)


def _cut_entities(rule: Rule, content: Any, result: Any) -> Iterator[Broken]:
    arrived = all_text(opened(content), deeper=True)
    for entity in entities(opened(result), rule.vocabulary.everything()).values():
        if not contains(arrived, entity.value):
            yield Broken(8, f"a cut left the {entity.type} {entity.value}, a part of something else")
