"""What inline tests do not cover: rules without tests, and steps that change nothing in any of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from reducer.analysis.expectations import Place
from reducer.analysis.rule_tests import TestResult
from reducer.rules import Rule


@dataclass(frozen=True, slots=True)
class Gap:
    """A rule or a step that tests do not cover: its place from the root of the rule file, and why."""

    what: Literal["rule", "step"]
    rule: Rule
    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much tests exercise: a step counts if a test makes it change something; `max_chars` counts as a step."""

    rules: int
    tested: int
    steps: int
    exercised: int
    gaps: tuple[Gap, ...]


def untested(rules: Iterable[Rule]) -> list[Gap]:
    """Return the rules that have no tests."""
    return [Gap("rule", rule, ("tool",), "this rule has no tests") for rule in rules if not rule.tests]


def coverage(rules: Sequence[Rule], results: Iterable[TestResult]) -> Coverage:
    """Return what the tests of rules cover, from all of their `results`."""
    acted: dict[str, set[int]] = {rule.file: set() for rule in rules}
    reached: dict[str, set[int]] = {rule.file: set() for rule in rules}
    for result in results:
        acted[result.rule.file] |= result.acted
        reached[result.rule.file] |= result.reached
    gaps: list[Gap] = []
    steps = exercised = 0
    for rule in rules:
        numbers = range(1, len(rule.steps) + 1 + (rule.max_chars is not None))
        steps += len(numbers)
        missing = [number for number in numbers if number not in acted[rule.file]]
        exercised += len(numbers) - len(missing)
        gaps += (
            [_gap(rule, number, number in reached[rule.file]) for number in missing] if rule.tests else untested([rule])
        )
    return Coverage(len(rules), sum(bool(rule.tests) for rule in rules), steps, exercised, tuple(gaps))


def _gap(rule: Rule, number: int, reached: bool) -> Gap:
    if number > len(rule.steps):
        return Gap("step", rule, ("max_chars",), "no test gives more than fits in `max_chars`")
    step = rule.steps[number - 1]
    name = f"step {step.number}, `{step.name}`,"
    message = f"{name} removes nothing in any test" if reached else f"{name} finds nothing in any test"
    return Gap("step", rule, ("steps", number - 1, step.op.verb()), message)
