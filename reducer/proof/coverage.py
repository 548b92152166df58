"""What inline tests leave out: rules without any, and steps that none of them makes do something."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from reducer.proof import Proof
from reducer.proof.expectations import Place
from reducer.rule import Rule


@dataclass(frozen=True, slots=True)
class Gap:
    """A rule, or a step of one, that tests leave out: its place from the root of the rule file, and why."""

    what: Literal["rule", "step"]
    rule: Rule
    place: Place
    message: str
    at_key: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of rules their tests exercise: a step counts once a test makes it change something; `max_chars` counts as a step."""

    rules: int
    tested: int
    steps: int
    exercised: int
    gaps: tuple[Gap, ...]


def untested(rules: Iterable[Rule]) -> list[Gap]:
    """Give the rules that have no tests."""
    return [Gap("rule", rule, ("tool",), "this rule has no tests", at_key=True) for rule in rules if not rule.tests]


def coverage(rules: Sequence[Rule], proofs: Iterable[Proof]) -> Coverage:
    """Tell what the tests of rules leave out, by all of their `proofs`."""
    acted: dict[str, set[int]] = {}
    reached: dict[str, set[int]] = {}
    for proof in proofs:
        acted.setdefault(proof.rule.file, set()).update(proof.acted)
        reached.setdefault(proof.rule.file, set()).update(proof.reached)
    gaps: list[Gap] = []
    steps = exercised = 0
    for rule in rules:
        numbers = range(1, len(rule.steps) + 1 + (rule.max_chars is not None))
        steps += len(numbers)
        done = acted.get(rule.file, set())
        exercised += len(done.intersection(numbers))
        if not rule.tests:
            gaps += untested([rule])
            continue
        for number in numbers:
            if number not in done:
                gaps.append(_gap(rule, number, number in reached.get(rule.file, set())))
    return Coverage(len(rules), sum(bool(rule.tests) for rule in rules), steps, exercised, tuple(gaps))


def _gap(rule: Rule, number: int, reached: bool) -> Gap:
    if number > len(rule.steps):
        return Gap("step", rule, ("max_chars",), "no test gives more than fits in `max_chars`", at_key=True)
    step = rule.steps[number - 1]
    name = f"step {step.number}, `{step.name}`,"
    message = f"no test makes {name} take anything" if reached else f"no test has what {name} looks for"
    return Gap("step", rule, ("steps", number - 1, step.op.verb()), message, at_key=True)
