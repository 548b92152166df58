"""The results of rule tests: each as a case with its text, and all as JSON values and as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reducer.analysis.expectations import Place
from reducer.analysis.rule_tests import Coverage, Gap, TestResult
from reducer.cli.messages import counted
from reducer.cli.views.diff import step_line
from reducer.cli.views.plain import fields_of, plain
from reducer.errors import Diagnostic, Location
from reducer.rules.diagnostics import Report
from reducer.rules.parser import parse
from reducer.rules.tree import Tree, locate
from reducer.screen import visible


@dataclass(frozen=True, slots=True)
class Case:
    """A test that was run, or a rule or step that no test exercises: `text` is empty if there is nothing to say."""

    what: Literal["test", "rule", "step"]
    name: str
    status: Literal["passed", "failed", "not tested"]
    location: Location
    message: str
    text: str
    failures: tuple[dict[str, Any], ...] = ()
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class Tested:
    """All cases, the number of rules, and how much the tests exercise if that was asked for."""

    cases: tuple[Case, ...]
    rules: int
    coverage: Coverage | None

    def count(self, what: str, *statuses: str) -> int:
        """Count the cases of a kind with one of the statuses."""
        return sum(case.what == what and case.status in statuses for case in self.cases)


def test_case(result: TestResult) -> Case:
    """Return a test as a case; the text has each failure at its location, then what each step did."""
    located = [(_locate(result.rule.file, one.place, one.message, one.help), one) for one in result.failures]
    found = sorted(located, key=lambda pair: pair[0].location)
    lines, failures = [], []
    for problem, one in found:
        lines.append(_text(problem, f"failed: test `{result.test.name}`"))
        if one.expected and not one.what.startswith("law"):
            lines.append(f"  expected: {one.expected}\n  found:    {one.seen}")
        if problem.help:
            lines.append(f"  help: {problem.help}")
        values = {"what": one.what, "expected": one.expected, "found": one.seen, "help": one.help}
        failures.append({**values, "message": one.message, **plain(problem.location)})
    if found and result.gated:
        lines.append("  no step ran: the `when` of the rule does not hold")
    lines += [f"  {step_line(step)}" for step in result.steps if found]
    return Case(
        what="test",
        name=result.test.name,
        status="failed" if found else "passed",
        location=_locate(result.rule.file, ("tests", result.number, "name")).location,
        message="; ".join(one.message for one in result.failures),
        text="\n".join(lines),
        failures=tuple(failures),
        before=result.before,
        after=result.after,
    )


def gap_case(gap: Gap, requires_tests: bool) -> Case:
    """Return a rule or step that no test exercises as a case; a rule fails if it must have tests."""
    problem = _locate(gap.rule.file, gap.place, gap.message, key=True)
    status: Literal["failed", "not tested"] = "failed" if requires_tests and gap.what == "rule" else "not tested"
    return Case(gap.what, "is tested", status, problem.location, message=gap.message, text=_text(problem, status))


def summary_lines(tested: Tested) -> Iterator[str]:
    """Yield the last lines: what the tests cover, how many there are, and how many failed."""
    if (found := tested.coverage) is not None:
        steps = f"{found.exercised:,} of {counted(found.steps, 'step')}"
        yield f"coverage: {found.tested:,} of {counted(found.rules, 'rule')} have tests, which exercise {steps}"
    tests, failed = tested.count("test", "passed", "failed"), tested.count("test", "failed")
    untested, rules = tested.count("rule", "failed"), counted(tested.rules, "rule")
    result = f"{failed:,} failed" if failed else "all passed" if tests > 1 else "passed"
    without = f"; {counted(untested, 'rule')} without tests" if untested else ""
    yield f"{counted(tests, 'test')} of {rules}: {result}{without}" if tests else f"{rules}, no tests{without}"


def as_json(tested: Tested) -> dict[str, Any]:
    """Return everything that was found as plain JSON values."""
    return {
        "passed": tested.count("test", "passed"),
        "failed": tested.count("test", "failed"),
        "cases": [{**fields_of(case, "location", "text"), **plain(case.location)} for case in tested.cases],
        "coverage": None if tested.coverage is None else fields_of(tested.coverage, "gaps"),
    }


def as_junit(tested: Tested) -> str:
    """Return JUnit XML; a rule that must have tests and has none is a failed case."""
    cases = [case for case in tested.cases if case.status != "not tested"]
    failed = sum(case.status == "failed" for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failed), "errors": "0"}
    root = Element("testsuites", counts, name="reducer")
    suite = SubElement(root, "testsuite", counts, name="rules")
    for case in cases:
        file = _xml(case.location.file)
        about = {"classname": PurePath(file).stem, "name": _xml(case.name), "file": file}
        element = SubElement(suite, "testcase", about, line=str(case.location.line))
        if case.status == "failed":
            SubElement(element, "failure", message=_xml(case.message)).text = _xml(case.text)
    indent(root)
    return tostring(root, encoding="unicode")


def _xml(text: str) -> str:
    # XML has no U+FFFE and U+FFFF, not even escaped.
    return visible(text, "\n\t").replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def _text(problem: Diagnostic, label: str) -> str:
    return "\n".join((f"{problem.location}: {label}: {problem.message}", *problem.excerpt_lines()))


def _locate(file: str, at: Place, message: str = "", help: str = "", *, key: bool = False) -> Diagnostic:
    """Return a message with its line. Rules do not store where their tests are, so the file is read again."""
    try:
        tree, lines = _parsed(Path(file).read_bytes(), file)
    except OSError:
        tree, lines = None, ()  # it was removed after it was loaded
    if tree is None:
        return Diagnostic(Location(file, 1, 1), "", message, help)
    report = Report(file, lines)
    report.add(locate(tree, at, key=key), "", message, help)
    return report.found[0]


@lru_cache(maxsize=1)
def _parsed(content: bytes, file: str) -> tuple[Tree | None, tuple[str, ...]]:
    tree, report = parse(content, file)
    return tree, report.lines
