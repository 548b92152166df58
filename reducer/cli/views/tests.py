"""The results of rule tests as text, as JSON and as JUnit XML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePath
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reducer.analysis.expectations import Failure
from reducer.analysis.rule_tests import Coverage, TestResult
from reducer.analysis.steps import StepReport
from reducer.cli.messages import counted
from reducer.cli.views.json_report import step_as_json
from reducer.cli.views.positions import At, failures_of, gaps_at, test_at
from reducer.errors import Diagnostic
from reducer.screen import visible


@dataclass(frozen=True, slots=True)
class Tested:
    """What was found: the tests in the order of the files, their coverage if asked for, and rules that lack tests.

    `read` finds the line and column of something in a rule file.
    """

    results: tuple[TestResult, ...]
    coverage: Coverage | None
    untested: tuple[Diagnostic, ...]
    read: Callable[[str], At]


def failure_lines(result: TestResult, failures: Iterable[tuple[Failure, Diagnostic]]) -> Iterator[str]:
    """Yield the lines about a failed test: each failure at its location, then what each step did."""
    for failure, problem in failures:
        yield f"{problem.location}: failed: {problem.message}"
        yield from problem.excerpt_lines()
        if failure.expected and not failure.what.startswith("law"):
            yield f"  expected: {failure.expected}"
            yield f"  found:    {failure.seen}"
        if problem.help:
            yield f"  help: {problem.help}"
    if result.gated:
        yield "  no step ran: the `when` of the rule does not hold"
    yield from (f"  {_step(step)}" for step in result.steps)


def _step(step: StepReport) -> str:
    name = f"step {step.step.number}, {step.step.name}" if step.step else "max_chars"
    if not step.ran:
        return f"{name}: its `when` does not hold"
    if step.missing and not step.places:
        return f"{name}: {step.missing[0].help}"
    if step.before == step.after:
        return f"{name}: no effect"
    restored = f", {step.restored:,} of them restored by `preserve`" if step.restored else ""
    return f"{name}: {step.before:,} -> {step.after:,} characters{restored}"


def problem_lines(problem: Diagnostic, label: str) -> str:
    """Return the text about something that tests leave out."""
    return "\n".join((f"{problem.location}: {label}: {problem.message}", *problem.excerpt_lines()))


def summary(rules: int, tested: Tested) -> str:
    """Return the last line: how many tests there are and how many failed."""
    tests, failed = len(tested.results), sum(bool(result.failures) for result in tested.results)
    without = f"; {counted(len(tested.untested), 'rule')} without tests" if tested.untested else ""
    if not tests:
        return f"{counted(rules, 'rule')}, no tests{without}"
    result = f"{failed:,} failed" if failed else "all passed" if tests > 1 else "passed"
    return f"{counted(tests, 'test')} of {counted(rules, 'rule')}: {result}{without}"


def coverage_line(found: Coverage) -> str:
    """Return how much of the rules is tested."""
    rules, steps = counted(found.rules, "rule"), counted(found.steps, "step")
    return f"coverage: {found.tested:,} of {rules} have tests, which exercise {found.exercised:,} of {steps}"


def as_json(tested: Tested) -> dict[str, Any]:
    """Return everything that was found as plain JSON values."""
    tests = [_test(result, tested.read) for result in tested.results]
    failed = sum(not test["passed"] for test in tests)
    untested = [_located(problem) for problem in tested.untested]
    written = {"passed": len(tests) - failed, "failed": failed, "tests": tests, "rules_without_tests": untested}
    if (found := tested.coverage) is not None:
        written["coverage"] = {
            "rules": {"all": found.rules, "tested": found.tested},
            "steps": {"all": found.steps, "exercised": found.exercised},
            "gaps": [
                {"what": gap.what, **_located(problem)}
                for gap, problem in zip(found.gaps, gaps_at(found.gaps, tested.read), strict=True)
            ],
        }
    return written


def _test(result: TestResult, read: Callable[[str], At]) -> dict[str, Any]:
    here = test_at(result, read)
    return {
        "name": result.test.name,
        "tools": list(result.rule.tools),
        "file": here.file,
        "line": here.line,
        "column": here.column,
        "passed": not result.failures,
        "characters": {"before": result.before, "after": result.after},
        "failures": [
            {
                "what": failure.what,
                **_located(problem),
                "expected": failure.expected,
                "found": failure.seen,
                "help": problem.help,
            }
            for failure, problem in failures_of(result, read)
        ],
        "steps": [step_as_json(step) for step in result.steps],
    }


def _located(problem: Diagnostic) -> dict[str, Any]:
    location = problem.location
    return {
        "message": problem.message,
        "file": location.file,
        "line": location.line,
        "column": location.column,
    }


def as_junit(tested: Tested) -> str:
    """Return JUnit XML: a suite for each rule file, and one in which every rule without tests is a failed case."""
    root = Element("testsuites", name="reducer")
    for file, results in groupby(tested.results, lambda result: result.rule.file):
        suite = SubElement(root, "testsuite", name=_xml(file))
        for result in results:
            failures = failures_of(result, tested.read)
            text = "\n".join(failure_lines(result, failures))
            message = "; ".join(failure.message for failure, _ in failures)
            here = test_at(result, tested.read)
            _case(suite, result.test.name, here.file, here.line, (message, text) if failures else None)
    if tested.untested:
        suite = SubElement(root, "testsuite", name="rules without tests")
        for problem in tested.untested:
            text = problem_lines(problem, "failed")
            _case(suite, "has tests", problem.location.file, problem.location.line, (problem.message, text))
    for suite in root:
        _count(suite, len(suite), len(suite.findall("testcase/failure")))
    _count(root, len(root.findall("testsuite/testcase")), len(root.findall("testsuite/testcase/failure")))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=False)


def _case(suite: Element, name: str, file: str, line: int, failure: tuple[str, str] | None) -> None:
    attributes = {"classname": PurePath(_xml(file)).stem, "name": _xml(name), "file": _xml(file), "line": str(line)}
    case = SubElement(suite, "testcase", attributes)
    if failure is not None:
        message, text = failure
        SubElement(case, "failure", message=_xml(message)).text = _xml(text, "\n\t")


def _count(suite: Element, tests: int, failures: int) -> None:
    for name, number in (("tests", tests), ("failures", failures), ("errors", 0)):
        suite.set(name, str(number))


def _xml(text: str, but: str = "") -> str:
    # XML has no U+FFFE and U+FFFF, not even escaped.
    return visible(text, but).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
