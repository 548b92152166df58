"""Proof that rules do what they should: their inline tests, and the laws of reducing on each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reducer.engine import Outcome, trace
from reducer.proof.expectations import Place, Unmet, unmet
from reducer.proof.laws import LAWS, alone, broken_laws
from reducer.proof.samples import SampleError, sample
from reducer.proof.snapshots import Snapshots, differing
from reducer.report import StepReport, step_reports
from reducer.report.changes import characters
from reducer.rule import Rule, Ruleset, Test
from reducer.values import Unreducible, dump

__all__ = ["Failure", "Proof", "SampleError", "Snapshots", "chosen_tests", "prove", "prove_all", "sample"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that an inline test found: its `place` from the root of the rule file, what was expected and what was seen.

    `what` is the expectation, such as `max_chars`, or `law 5`, or `given` for a test that cannot be run. `at_key` and `column`: see `Unmet`.
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
class Proof:
    """One inline test that was run: `number` counts from 0 in its rule; it passed if there is no failure.

    `before` and `after` are characters. `steps` are what the steps did, empty where the rule's gate kept it from running (`gated`); `reached` are the
    numbers of those that found their place, `acted` of those that changed something; `max_chars` has the number after the last step.
    """

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
    """Give the inline tests of all rules with their numbers; those for which `chosen` holds of the file, the tools and the name, on one line."""
    for rule in ruleset.rules:
        for number, test in enumerate(rule.tests):
            if chosen is None or chosen(" ".join((Path(rule.file).name, *rule.tools, test.name))):
                yield rule, number, test


def prove_all(ruleset: Ruleset, tests: Iterable[tuple[Rule, int, Test]], snapshots: Snapshots | None = None) -> Iterator[Proof]:
    """Run inline tests, one after the other. `snapshots` gathers those to be written anew; without it none is."""
    for rule, number, test in tests:
        yield prove(ruleset, rule, number, test, snapshots)


def prove(ruleset: Ruleset, rule: Rule, number: int, test: Test, snapshots: Snapshots | None = None) -> Proof:
    """Run one inline test of `rule`, which is one of `ruleset`, and check the laws on it. Never raises for what rules, tests and samples say."""
    here: Place = ("tests", number)
    try:
        content = sample(rule, test)
        before = dump(content)
    except SampleError as error:
        return Proof(rule, number, test, (Failure("given", (*here, "given", error.key), str(error)),))
    rules = alone(rule, ruleset)
    try:
        outcome = trace(rules, rule.name, content)
        failures = list(_failures(rules, number, test, content, before, outcome, snapshots))
    except Exception as error:  # law 9: whatever it is, it is the rule's or the engine's, and told with the test that shows it
        message = f"{type(error).__name__}: {error}"
        return Proof(rule, number, test, (Failure("law 9", (*here, "name"), message, LAWS[9], message),))
    return _proof(rule, number, test, tuple(failures), content, outcome)


def _failures(rules: Ruleset, number: int, test: Test, content: Any, before: str, outcome: Outcome, snapshots: Snapshots | None) -> Iterator[Failure]:
    here: Place = ("tests", number)
    sound = True
    for law, message, step in broken_laws(rules, content, before, outcome):
        sound = False
        place = ("steps", step - 1) if step else (*here, "name")
        yield Failure(f"law {law}", place, f"law {law}, {LAWS[law]}: {message}", LAWS[law], message)
    for found in unmet(test.expect, content, outcome):
        yield _failure(here, found)
    if test.expect.snapshot is not None and outcome.rule is not None:
        other = differing(outcome.rule, test.expect.snapshot, outcome.content, snapshots if sound else None)
        if other is not None:
            yield _failure(here, other)


def _failure(here: Place, found: Unmet) -> Failure:
    place = (*here, "expect", *found.place)
    return Failure(str(found.place[0]), place, found.message, found.expected, found.seen, found.help, found.at_key, found.column)


def _proof(rule: Rule, number: int, test: Test, failures: tuple[Failure, ...], content: Any, outcome: Outcome) -> Proof:
    before = characters(content)
    after = before if outcome.content is content else characters(outcome.content)
    ladder = len(rule.steps) + 1
    numbered = [(step, step.step.number if step.step else ladder) for step in outcome.steps]
    try:
        steps = step_reports(outcome, before, False)[0] if outcome.steps else ()
    except Unreducible:
        steps = ()
    reached = frozenset(count for step, count in numbered if step.places)
    acted = frozenset(count for step, count in numbered if step.after is not step.before)
    return Proof(rule, number, test, failures, before, after, outcome.gated, steps, reached, acted)
