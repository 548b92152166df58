"""Run the inline tests of rules, check the laws of reducing on their contents, and find what they do not cover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from reducer.analysis.expectations import Failure, Place, unmet
from reducer.analysis.laws import LAWS, Broken, alone, broken_laws
from reducer.analysis.samples import SampleError, Snapshots, sample
from reducer.analysis.steps import StepReport, characters, step_reports
from reducer.engine import StepRun, attempt
from reducer.rules import Rule, Ruleset, Test
from reducer.values import dump


@dataclass(frozen=True, slots=True)
class TestResult:
    """The result of an inline test, which passes if there are no failures.

    - `number` counts from 0 in the rule.
    - `before` and `after` are characters.
    - `gated` is True if the `when` of the rule does not hold, so that no step ran.
    - `steps` and `runs` describe what each step did.
    """

    __test__ = False

    rule: Rule
    number: int
    failures: tuple[Failure, ...]
    before: int = 0
    after: int = 0
    gated: bool = False
    steps: tuple[StepReport, ...] = ()
    runs: tuple[StepRun, ...] = ()

    @property
    def test(self) -> Test:
        """The test in the rule file."""
        return self.rule.tests[self.number]


@dataclass(frozen=True, slots=True)
class Gap:
    """A rule or a step that tests do not cover, with its place in the rule file."""

    what: Literal["rule", "step"]
    rule: Rule
    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much the tests cover. A step is exercised if it changes something in a test; `max_chars` is a step."""

    rules: int
    tested: int
    steps: int
    exercised: int
    gaps: tuple[Gap, ...]


def chosen_tests(ruleset: Ruleset, chosen: Callable[[str], bool] = lambda line: True) -> Iterator[tuple[Rule, int]]:
    """Yield the chosen inline tests as pairs of a rule and a number.

    `chosen` takes a line with the file, the tools and the name of a test.
    """
    for rule in ruleset.rules:
        for number, test in enumerate(rule.tests):
            if chosen(" ".join((Path(rule.file).name, *rule.tools, test.name))):
                yield rule, number


def run_test(ruleset: Ruleset, rule: Rule, number: int, update: Snapshots | None = None) -> TestResult:
    """Run an inline test of a rule in `ruleset`, and check the laws on its content.

    `update` collects the snapshots to write. No rule, test or sample makes this function raise.
    """
    test, ruleset = rule.tests[number], alone(rule, ruleset)
    place: Place = ("tests", number)
    try:
        content = sample(rule, test)
        before = dump(content)
    except SampleError as error:
        return TestResult(rule, number, (Failure(str(error), place=(*place, "given"), what="given"),))
    try:
        outcome = attempt(ruleset, rule.name, content)
        broken = [_of_law(one, place) for one in broken_laws(ruleset, content, before, outcome)]
        found = unmet(test.expect, content, outcome, None if broken else update)
        failures = (*broken, *(replace(one, place=(*place, "expect", *one.place)) for one in found))
    except Exception as error:  # law 9: rules never raise
        return TestResult(rule, number, (_of_law(Broken(9, f"{type(error).__name__}: {error}"), place),))
    size = characters(content)
    steps = step_reports(outcome, size, False) if outcome.steps else ()
    after = size if outcome.content is content else characters(outcome.content)
    return TestResult(rule, number, failures, size, after=after, gated=outcome.gated, steps=steps, runs=outcome.steps)


def _of_law(broken: Broken, test: Place) -> Failure:
    law, message = f"law {broken.law}", LAWS[broken.law]
    place = ("steps", broken.step - 1) if broken.step else (*test, "name")
    return Failure(f"{law}, {message}: {broken.message}", message, broken.message, place=place, what=law)


def untested(rules: Iterable[Rule]) -> list[Gap]:
    """Return the rules without tests."""
    return [Gap("rule", rule, ("tool",), "this rule has no tests") for rule in rules if not rule.tests]


def coverage(rules: Sequence[Rule], results: Sequence[TestResult]) -> Coverage:
    """Return what the tests of rules cover. `results` must contain the results of all tests."""
    gaps: list[Gap] = []
    steps = exercised = 0
    for rule in rules:
        runs = [run for result in results if result.rule is rule for run in result.runs]
        acted = {run.number for run in runs if run.changed}
        reached = {run.number for run in runs if run.places}
        numbers = range(1, len(rule.steps) + 1 + (rule.max_chars is not None))
        steps += len(numbers)
        exercised += len(acted)
        silent = [_gap(rule, number, number in reached) for number in numbers if number not in acted]
        gaps += silent if rule.tests else untested((rule,))
    tested = sum(bool(rule.tests) for rule in rules)
    return Coverage(len(rules), tested, steps=steps, exercised=exercised, gaps=tuple(gaps))


def _gap(rule: Rule, number: int, reached: bool) -> Gap:
    if number > len(rule.steps):
        return Gap("step", rule, ("max_chars",), "no test exceeds `max_chars`")
    step = rule.steps[number - 1]
    what = "removes" if reached else "finds"
    message = f"step {step.number}, `{step.name}`, {what} nothing in any test"
    return Gap("step", rule, ("steps", number - 1, step.op.verb()), message)
