"""Inline tests of rule files: what each expects, the laws of reducing on its content, and what tests do not cover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from reducer.analysis.expectations import Failure, Place, unmet
from reducer.analysis.laws import LAWS, alone, broken_laws
from reducer.analysis.samples import SampleError, Snapshots, compare_snapshot, sample
from reducer.analysis.steps import StepReport, characters, step_reports
from reducer.engine import Outcome, StepRun, attempt
from reducer.rules import Rule, Ruleset, Test
from reducer.values import Unreducible, dump


@dataclass(frozen=True, slots=True)
class TestResult:
    """One inline test that was run: `number` counts from 0 in its rule; it passed if there are no failures.

    `before` and `after` are characters. `runs` and `steps` say what each step did; they are empty if the rule's gate
    kept it from running (`gated`).
    """

    __test__ = False

    rule: Rule
    number: int
    test: Test
    failures: tuple[Failure, ...]
    before: int = 0
    after: int = 0
    gated: bool = False
    steps: tuple[StepReport, ...] = ()
    runs: tuple[StepRun, ...] = ()


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


def chosen_tests(ruleset: Ruleset, chosen: Callable[[str], bool] | None = None) -> Iterator[tuple[Rule, int, Test]]:
    """Yield the inline tests of all rules with their numbers.

    `chosen` gets one line with the file, the tools and the name of a test.
    """
    for rule in ruleset.rules:
        for number, test in enumerate(rule.tests):
            if chosen is None or chosen(" ".join((Path(rule.file).name, *rule.tools, test.name))):
                yield rule, number, test


def run_test(ruleset: Ruleset, rule: Rule, number: int, test: Test, update: Snapshots | None = None) -> TestResult:
    """Run one inline test of `rule`, one of `ruleset`, and check the laws on it.

    Never raises because of what rules, tests and samples contain.
    """
    here: Place = ("tests", number)
    ruleset = alone(rule, ruleset)
    try:
        content = sample(rule, test)
        before = dump(content)
    except SampleError as error:
        return TestResult(rule, number, test, (Failure((*here, "given"), str(error), what="given"),))
    try:
        outcome = attempt(ruleset, rule.name, content)
        failures = [*_broken(ruleset, here, content, before, outcome)]
        failures += _unmet(here, test, content, outcome, None if failures else update)
    except Exception as error:  # law 9: a rule never raises, so the test shows what did
        message = f"{type(error).__name__}: {error}"
        return TestResult(rule, number, test, (Failure((*here, "name"), message, LAWS[9], message, what="law 9"),))
    size = characters(content)
    try:
        steps = step_reports(outcome, size, False) if outcome.steps else ()
    except Unreducible:
        steps = ()
    return TestResult(
        rule,
        number,
        test,
        tuple(failures),
        before=size,
        after=size if outcome.content is content else characters(outcome.content),
        gated=outcome.gated,
        steps=steps,
        runs=outcome.steps,
    )


def _broken(ruleset: Ruleset, here: Place, content: Any, before: str, outcome: Outcome) -> Iterator[Failure]:
    for law, message, step in broken_laws(ruleset, content, before, outcome):
        place = ("steps", step - 1) if step else (*here, "name")
        yield Failure(place, f"law {law}, {LAWS[law]}: {message}", LAWS[law], message, what=f"law {law}")


def _unmet(here: Place, test: Test, content: Any, outcome: Outcome, update: Snapshots | None) -> Iterator[Failure]:
    found = [*unmet(test.expect, content, outcome)]
    if test.expect.snapshot is not None and outcome.rule is not None:
        differences = compare_snapshot(outcome.rule, test.expect.snapshot, outcome.content, update)
        found += (replace(each, what="snapshot") for each in differences)
    yield from (replace(each, place=(*here, "expect", *each.place)) for each in found)


def untested(rules: Iterable[Rule]) -> list[Gap]:
    """Return the rules that have no tests."""
    return [Gap("rule", rule, ("tool",), "this rule has no tests") for rule in rules if not rule.tests]


def coverage(rules: Sequence[Rule], results: Sequence[TestResult]) -> Coverage:
    """Return what the tests of rules cover, from all of their `results`."""
    gaps: list[Gap] = []
    steps = exercised = 0
    for rule in rules:
        runs = [run for result in results if result.rule is rule for run in result.runs]
        acted = {run.number for run in runs if run.changed}
        reached = {run.number for run in runs if run.places}
        numbers = range(1, len(rule.steps) + 1 + (rule.max_chars is not None))
        steps += len(numbers)
        exercised += len(acted)
        gaps += untested([rule])
        gaps += (_gap(rule, number, number in reached) for number in numbers if rule.tests and number not in acted)
    return Coverage(len(rules), sum(bool(rule.tests) for rule in rules), steps, exercised, tuple(gaps))


def _gap(rule: Rule, number: int, reached: bool) -> Gap:
    if number > len(rule.steps):
        return Gap("step", rule, ("max_chars",), "no test gives more than fits in `max_chars`")
    step = rule.steps[number - 1]
    what = "removes" if reached else "finds"
    message = f"step {step.number}, `{step.name}`, {what} nothing in any test"
    return Gap("step", rule, ("steps", number - 1, step.op.verb()), message)
