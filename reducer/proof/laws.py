"""The laws of reducing, checked on one content under one rule.

Laws 6 and 11 are about whole histories and live objects; the law of marks and of what lies within is the one `validate --against` checks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from reducer.engine import Outcome, reduce_content, trace
from reducer.entities.entity import Entity
from reducer.proof.texts import all_text, entities, opened, stands
from reducer.rule import Rule, Ruleset
from reducer.validate.finding import written
from reducer.validate.within import check_content
from reducer.values import MAX_DEPTH, Unreducible, dump

LAWS = {
    1: "nothing is changed in place",
    2: "the same type",
    3: "root keys stay",
    4: "the result lies within the content",
    5: "reducing again changes nothing",
    7: "never larger",
    8: "preserved entities still stand",
    9: "a rule can be applied to any content",
    10: "the same content gives the same result",
}
"""The laws of one content by their numbers, in words."""

_OF_CODE = {"V104": 2, "V106": 3, "V112": 7}
_MOST = 3
"""What is told of one law: the rest has the same cause."""


class Broken(NamedTuple):
    """A law that does not hold: its number, how it is broken, and the number of the step that is to blame, 0 where that is not known."""

    law: int
    message: str
    step: int = 0


def alone(rule: Rule, ruleset: Ruleset) -> Ruleset:
    """Make a ruleset in which `rule` is for every tool."""
    return replace(ruleset, rule_for=lambda _: rule)


def broken_laws(ruleset: Ruleset, content: Any, before: str, outcome: Outcome) -> Iterator[Broken]:
    """Check every law of one content: `outcome` is what its rule did to it, `before` the content as it was written ahead of that.

    `ruleset` has that rule for every tool.
    """
    rule, result = outcome.rule, outcome.content
    if rule is None:
        return
    if dump(content) != before:
        yield Broken(1, "the content that was given is another one now")
        return
    if outcome.fault:
        blamed = outcome.blamed
        yield Broken(5 if blamed else 9, outcome.fault, blamed.step.number if blamed and blamed.step else 0)
        return
    # Another object that says the same: nothing may hang on what was remembered, or on which objects are the same.
    copy = content if type(content) is str else json.loads(before)
    if dump(reduce_content(ruleset, rule.name, copy)) != dump(result):
        yield Broken(10, "a copy of the content is reduced otherwise")
    if result is content:
        return
    found: dict[int, int] = {}
    for finding in check_content((), content, result):
        law = _OF_CODE.get(finding.code, 4)
        found[law] = found.get(law, 0) + 1
        if found[law] <= _MOST:
            place = f"`{written(finding.path)}`: " if finding.path else ""
            yield Broken(law, f"{place}{finding.message}")
    if rule.all_keys:
        lost = _lost_key(opened(content), opened(result), ())
        if lost is not None:
            yield Broken(3, f"`{written(lost)}` is gone, which `keys: all` keeps")
    yield from _again(ruleset, rule, result)
    yield from _preserved(rule, content, outcome)


def _lost_key(old: Any, new: Any, path: tuple[str | int, ...]) -> tuple[str | int, ...] | None:
    if type(old) is not dict or type(new) is not dict or not new or len(path) > MAX_DEPTH:
        return None
    for key, value in old.items():
        found = (*path, key) if key not in new else _lost_key(value, new[key], (*path, key))
        if found is not None:
            return found
    return None


def _again(ruleset: Ruleset, rule: Rule, result: Any) -> Iterator[Broken]:
    text = dump(result)
    for again, when in ((result, ""), (json.loads(text), " after it was stored and loaded")):
        outcome = trace(ruleset, rule.name, again)
        if dump(outcome.content) != text:
            step = next((step.step for step in outcome.steps if step.after is not step.before), None)
            yield Broken(5, f"the result is reduced again{when}: {len(text):,} -> {len(dump(outcome.content)):,} characters", step.number if step else 0)
            return


def _preserved(rule: Rule, content: Any, outcome: Outcome) -> Iterator[Broken]:
    old, new = opened(content), opened(outcome.content)
    shown = all_text(new, deeper=True)
    told = 0
    for entity, step in _owed(rule, old, outcome):
        if entity.value in outcome.lost or stands(entity.value, shown):
            continue
        if entity.type in rule.vocabulary.synonyms and (entity.type, entity.canonical) in entities(new, rule.vocabulary.scanner(frozenset((entity.type,)))):
            continue
        told += 1
        if told <= _MOST:
            yield Broken(8, f"the {entity.type} {entity.value} is gone", step)
    arrived = all_text(old, deeper=True)
    halves = (entity for entity in entities(new, rule.vocabulary.everything()).values() if not stands(entity.value, arrived))
    for entity, _ in zip(halves, range(_MOST), strict=False):
        yield Broken(8, f"a cut made the {entity.type} {entity.value} of something else")


def _owed(rule: Rule, old: Any, outcome: Outcome) -> Iterator[tuple[Entity, int]]:
    """Give each entity that must still stand, with the number of the first step that owed it.

    An entity is owed for what all steps take from the first on whose `before` it stands in: what an earlier one let go is gone.
    """
    policies = rule.policies[1 : None if rule.max_chars is not None else -1]
    first: dict[str, int] = {}
    kinds: frozenset[str] = rule.types
    for number in range(len(policies), 0, -1):
        kinds &= policies[number - 1]
        first.update(dict.fromkeys(kinds, number))
    if not first:
        return
    arrived = entities(old, rule.vocabulary.scanner(frozenset(first)))
    starts = {step.step.number if step.step else len(policies): step.before for step in outcome.steps}
    for number in sorted(set(first.values())):
        scan = rule.vocabulary.scanner(frozenset(kind for kind, start in first.items() if start == number))
        there = arrived if number == 1 else _before(outcome, starts.get(number), scan)
        # As it is first written where the step found it; what is read in a cut text alone was no entity on arrival.
        yield from ((entity, number) for key, entity in there.items() if first[entity.type] == number and key in arrived)


def _before(outcome: Outcome, value: Any, scan: Any) -> dict[tuple[str, str], Entity]:
    try:
        return entities(opened(outcome.written(value)), scan)
    except Unreducible:
        return {}
