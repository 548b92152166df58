"""Inline tests of rule files: what each expects, and the laws of reducing on its content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reducer.analysis.expectations import Place, Unmet, unmet
from reducer.analysis.laws import LAWS, alone, broken_laws
from reducer.analysis.samples import SampleError, sample
from reducer.analysis.snapshots import Snapshots, compare_snapshot
from reducer.analysis.steps import StepReport, characters, step_reports
from reducer.engine import Outcome, attempt
from reducer.rules import Rule, Ruleset, Test
from reducer.values import Unreducible, dump


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an inline test fails: the `place` from the root of the rule file, what was expected and what was seen.

    `what` is the expectation, such as `max_chars`, or `law 5`, or `given` for a test that cannot be run. `at_key` and
    `column`: see `Unmet`.
    """

    what: str
    place: Place
    message: str
    expected: str = ""
    seen: str = ""
    help: str = ""
    at_key: bool = False
    column: int | None = None


@dataclass(frozen=True, slots=True)
class TestResult:
    """One inline test that was run: `number` counts from 0 in its rule; it passed if there are no failures.

    `before` and `after` are characters. `steps` is empty if the rule's gate kept it from running (`gated`). `reached`
    are the numbers of the steps that found their place, `acted` of those that changed something; `max_chars` has the
    number after the last step.
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
    reached: frozenset[int] = frozenset()
    acted: frozenset[int] = frozenset()


def chosen_tests(ruleset: Ruleset, chosen: Callable[[str], bool] | None = None) -> Iterator[tuple[Rule, int, Test]]:
    """Yield the inline tests of all rules with their numbers.

    `chosen` gets one line with the file, the tools and the name of a test.
    """
    for rule in ruleset.rules:
        for number, test in enumerate(rule.tests):
            if chosen is None or chosen(" ".join((Path(rule.file).name, *rule.tools, test.name))):
                yield rule, number, test


def run_tests(
    ruleset: Ruleset, tests: Iterable[tuple[Rule, int, Test]], update: Snapshots | None = None
) -> Iterator[TestResult]:
    """Run inline tests, one after the other. `update` collects the snapshots to write; without it none is written."""
    for rule, number, test in tests:
        yield run_test(ruleset, rule, number, test, update)


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
        return TestResult(rule, number, test, (Failure("given", (*here, "given", error.key), str(error)),))
    try:
        outcome = attempt(ruleset, rule.name, content)
        failures = [*_broken(ruleset, here, content, before, outcome)]
        failures += _unmet(here, test, content, outcome, None if failures else update)
    except Exception as error:  # law 9: a rule never raises, so the test shows what did
        message = f"{type(error).__name__}: {error}"
        return TestResult(rule, number, test, (Failure("law 9", (*here, "name"), message, LAWS[9], message),))
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
        reached=frozenset(run.number for run in outcome.steps if run.places),
        acted=frozenset(run.number for run in outcome.steps if run.changed),
    )


def _broken(ruleset: Ruleset, here: Place, content: Any, before: str, outcome: Outcome) -> Iterator[Failure]:
    for law, message, step in broken_laws(ruleset, content, before, outcome):
        place = ("steps", step - 1) if step else (*here, "name")
        yield Failure(f"law {law}", place, f"law {law}, {LAWS[law]}: {message}", LAWS[law], message)


def _unmet(here: Place, test: Test, content: Any, outcome: Outcome, update: Snapshots | None) -> Iterator[Failure]:
    found = [*unmet(test.expect, content, outcome)]
    if test.expect.snapshot is not None and outcome.rule is not None:
        other = compare_snapshot(outcome.rule, test.expect.snapshot, outcome.content, update)
        found += [] if other is None else [other]
    for each in found:
        yield _failure((*here, "expect"), each)


def _failure(above: Place, found: Unmet) -> Failure:
    return Failure(str(found.place[0]), (*above, *found.place), *found[1:])
