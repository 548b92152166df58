"""The results of rule tests as text, as JSON values and as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reducer.analysis.coverage import Coverage, Gap
from reducer.analysis.expectations import Place
from reducer.analysis.rule_tests import Failure, TestResult
from reducer.cli.messages import counted
from reducer.cli.views.diff import step_line
from reducer.cli.views.json_report import step_as_json
from reducer.cli.views.plain import fields_of, plain
from reducer.errors import Diagnostic, Location
from reducer.rules.diagnostics import Report
from reducer.rules.parser import parse
from reducer.rules.tree import Tree, locate
from reducer.screen import visible


@dataclass(frozen=True, slots=True)
class Tested:
    """What was found: the tests in the order of the files, and what they do not cover if that was asked for."""

    results: tuple[TestResult, ...]
    gaps: tuple[Gap, ...]
    coverage: Coverage | None
    requires_tests: bool

    @property
    def failed(self) -> int:
        """The number of failed tests."""
        return sum(bool(result.failures) for result in self.results)

    @property
    def untested(self) -> list[Gap]:
        """The rules that lack tests and must have some."""
        return [gap for gap in self.gaps if self.requires_tests and gap.what == "rule"]


def failure_text(result: TestResult) -> str:
    """Return the text about a failed test: each failure at its location, then what each step did."""
    lines: list[str] = []
    for failure, problem in _problems(result):
        lines.append(_problem_text(problem, "failed"))
        if failure.expected and not failure.what.startswith("law"):
            lines.append(f"  expected: {failure.expected}\n  found:    {failure.seen}")
        if problem.help:
            lines.append(f"  help: {problem.help}")
    if result.gated:
        lines.append("  no step ran: the `when` of the rule does not hold")
    return "\n".join([*lines, *(f"  {step_line(step)}" for step in result.steps)])


def gap_text(gap: Gap, label: str) -> str:
    """Return the text about something that tests do not cover."""
    return _problem_text(_gap_problem(gap), label)


def summary_lines(rules: int, tested: Tested) -> Iterator[str]:
    """Yield the last lines: what the tests cover, how many there are, and how many failed."""
    if (found := tested.coverage) is not None:
        steps = f"{found.exercised:,} of {counted(found.steps, 'step')}"
        yield f"coverage: {found.tested:,} of {counted(found.rules, 'rule')} have tests, which exercise {steps}"
    tests, of_rules = len(tested.results), counted(rules, "rule")
    without = f"; {counted(len(tested.untested), 'rule')} without tests" if tested.untested else ""
    result = f"{tested.failed:,} failed" if tested.failed else "all passed" if tests > 1 else "passed"
    yield f"{counted(tests, 'test')} of {of_rules}: {result}{without}" if tests else f"{of_rules}, no tests{without}"


def as_json(tested: Tested) -> dict[str, Any]:
    """Return everything that was found as plain JSON values."""
    return {
        "passed": len(tested.results) - tested.failed,
        "failed": tested.failed,
        "tests": [_test(result) for result in tested.results],
        "gaps": [{"what": gap.what, **_with_location(_gap_problem(gap))} for gap in tested.gaps],
        "coverage": None if tested.coverage is None else fields_of(tested.coverage, "gaps"),
    }


def as_junit(tested: Tested) -> str:
    """Return JUnit XML; a rule without tests is a failed case."""
    failed = tested.failed + len(tested.untested)
    counts = {"tests": str(len(tested.results) + len(tested.untested)), "failures": str(failed), "errors": "0"}
    root = Element("testsuites", counts, name="reducer")
    suite = SubElement(root, "testsuite", counts, name="rules")
    for result in tested.results:
        message = "; ".join(failure.message for failure in result.failures)
        _add_case(suite, result.test.name, _name_location(result), (message, failure_text(result)))
    for gap in tested.untested:
        _add_case(suite, "has tests", _gap_problem(gap).location, (gap.message, gap_text(gap, "failed")))
    indent(root)
    return tostring(root, encoding="unicode")


def _add_case(suite: Element, name: str, location: Location, failure: tuple[str, str]) -> None:
    """Add a test case; it passed if the message of its failure is empty."""
    file = _xml(location.file)
    about = {"classname": PurePath(file).stem, "name": _xml(name), "file": file, "line": str(location.line)}
    case = SubElement(suite, "testcase", about)
    if failure[0]:
        SubElement(case, "failure", message=_xml(failure[0])).text = _xml(failure[1])


def _xml(text: str) -> str:
    # XML has no U+FFFE and U+FFFF, not even escaped.
    return visible(text, "\n\t").replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def _test(result: TestResult) -> dict[str, Any]:
    return {
        "name": result.test.name,
        "tools": list(result.rule.tools),
        **plain(_name_location(result)),
        "passed": not result.failures,
        "characters": {"before": result.before, "after": result.after},
        "failures": [
            {"what": one.what, **_with_location(found), "expected": one.expected, "found": one.seen, "help": found.help}
            for one, found in _problems(result)
        ],
        "steps": [step_as_json(step) for step in result.steps],
    }


def _with_location(problem: Diagnostic) -> dict[str, Any]:
    return {"message": problem.message, **plain(problem.location)}


def _problem_text(problem: Diagnostic, label: str) -> str:
    return "\n".join((f"{problem.location}: {label}: {problem.message}", *problem.excerpt_lines()))


def _problems(result: TestResult) -> list[tuple[Failure, Diagnostic]]:
    """Return the failures of a test in the order of the file, each as a diagnostic."""
    file, test = result.rule.file, f"test `{result.test.name}`"
    found = [
        (one, _problem(file, one.place, f"{test}: {one.message}", one.help, at_key=one.at_key, column=one.column))
        for one in result.failures
    ]
    return sorted(found, key=lambda pair: pair[1].location)


def _gap_problem(gap: Gap) -> Diagnostic:
    return _problem(gap.rule.file, gap.place, gap.message, at_key=True)


def _name_location(result: TestResult) -> Location:
    return _problem(result.rule.file, ("tests", result.number, "name"), "").location


def _problem(
    file: str, place: Place, message: str, help: str = "", *, at_key: bool = False, column: int | None = None
) -> Diagnostic:
    """Return a message at a place of a rule file. Rules do not store where their tests are: the file is read again."""
    try:
        tree, lines = _parsed(Path(file).read_bytes(), file)
    except OSError:
        tree, lines = None, ()  # it was removed after it was loaded
    report = Report(file, lines)
    if tree is None:
        return Diagnostic(Location(file, 1, 1), "", message, help)
    report.add(locate(tree, place, key=at_key), "", message, help, offset=column)
    return report.found[0]


@lru_cache(maxsize=1)
def _parsed(content: bytes, file: str) -> tuple[Tree | None, tuple[str, ...]]:
    tree, report = parse(content, file)
    return tree, report.lines
