"""Run the tests in rule files, and the samples beside them (`samples/TOOL*.json`). Both check the laws of reducing:
types and root keys are kept, the result is a subset and never larger, a second pass changes nothing, and preserved
entities survive. The warnings of `check` about tests and samples are printed too.

examples:
  python -m reducer test                        ./rules, or the built-in rules if there is none
  python -m reducer test --update               write snapshots that have changed
  python -m reducer test --format junit         for continuous integration; json for other programs

Exit codes: 0 all tests passed, 1 a test failed (with --require-tests, also a rule without tests), 2 cannot run.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reducer.analysis import rule_tests
from reducer.analysis.rule_tests import Coverage, Gap, TestResult
from reducer.analysis.sample_checks import problems_when_run
from reducer.analysis.samples import snapshots_for
from reducer.cli.arguments import parse, parser
from reducer.cli.check import problem_fields
from reducer.cli.files import write
from reducer.cli.screen import CommandError, counted, fields_of, plain, print_json, print_problem, say, visible
from reducer.cli.sources import choose_rules, files_read, load, short
from reducer.cli.views.diff import step_line
from reducer.cli.watch import watch
from reducer.errors import Diagnostic, Location
from reducer.files import has_samples
from reducer.rules.diagnostics import Report
from reducer.rules.parser import Place, locate
from reducer.rules.parser import parse as parse_rule

_parse = lru_cache(maxsize=1)(parse_rule)
"""Several problems of one file are located after each other."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A test or sample that ran, or a rule or step that no test exercises. `text` is printed unless it is empty."""

    what: Literal["test", "sample", "rule", "step"]
    name: str
    status: Literal["passed", "failed", "not tested"]
    location: Location
    message: str
    text: str
    failures: tuple[dict[str, Any], ...] = ()
    before: int = 0
    after: int = 0


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("test", __doc__, ("--watch",), formats=("text", "junit", "json"))
    add = reader.add_argument
    add("rules", nargs="*", metavar="RULES", help="rule files, folders, or packs such as builtin:web")
    add("-k", dest="text", default="", metavar="TEXT", help="only tests with this text in their name, tools or file")
    add("--coverage", action="store_true", help="list rules without tests and steps that no test exercises")
    add("--require-tests", action="store_true", help="fail for rules without tests")
    add("--update", action="store_true", help="write the snapshots that differ from the results")
    options = parse(reader, arguments)
    if options.watch:
        if options.format != "text":
            raise CommandError("--watch prints text; omit --format")
        watch(lambda: _run(options), lambda: files_read(options.rules))
    return int(any(case.status == "failed" for case in _run(options)))


def _run(options: Namespace) -> list[_Case]:
    """Run the tests, print and return the results. Raises `CommandError`."""
    if options.text and options.coverage:
        raise CommandError("--coverage needs all tests, but -k selects some; use only one of them")
    loaded = load(choose_rules(options.rules))
    ruleset = replace(loaded, rules=tuple(rule for rule in loaded.rules if has_samples(rule.file)))
    if loaded.rules and not ruleset.rules:
        raise CommandError("the built-in rules are installed without their samples; specify your own rules")
    tests, samples = rule_tests.chosen_cases(ruleset, options.text)
    if options.text and not tests and not samples:
        raise CommandError(f"-k {options.text}: no test has this text in its name, tools or file")
    snapshots = snapshots_for(ruleset.rules) if options.update else None
    results = [rule_tests.run_test(ruleset, rule, number, snapshots) for rule, number in tests]
    of_samples = [result for rule, file in samples if (result := rule_tests.run_sample(ruleset, rule, file))]
    covered = rule_tests.coverage(ruleset.rules, results) if options.coverage else None
    gaps = covered.gaps if covered else rule_tests.untested(ruleset.rules) if options.require_tests else ()
    cases = [_run_case("test", result) for result in results]
    cases += (_run_case("sample", result) for result in of_samples)
    cases += (_gap_case(gap, options.require_tests) for gap in gaps)
    chosen = {rule.file: rule for rule, _ in (*tests, *samples)}
    warnings = [one for rule in chosen.values() for one in problems_when_run(rule, ruleset, searches=False)]
    if options.format == "json":
        print_json({**_as_json(cases, covered), "warnings": list(map(problem_fields, warnings))})
    elif options.format == "junit":
        print(_as_junit(cases))
    else:
        for problem in filter(None, (*(case.text for case in cases), *map(str, warnings))):
            print_problem(f"{problem}\n")
        _print_summary(cases, counted(len(ruleset.rules), "rule"), covered, len(warnings))
    for snapshot, content in (snapshots or {}).items():
        if content is not None:
            write(snapshot, content)
            say(f"wrote {short(snapshot)}, {len(content):,} bytes")
    return cases


def _run_case(what: Literal["test", "sample"], result: TestResult) -> _Case:
    """Return a test or a sample as a case. Its text lists each failure with its location, then what each step did."""
    located = [(_locate(result.rule.file, one.place, one.message, one.help), one) for one in result.failures]
    located.sort(key=lambda pair: pair[0].location)
    lines, failures = [], []
    for problem, one in located:
        lines.append(_text(problem, f"failed: {what} `{result.name}`"))
        if one.expected and not one.what.startswith("law"):
            lines.append(f"  expected: {one.expected}\n  found:    {one.seen}")
        if problem.help:
            lines.append(f"  help: {problem.help}")
        values = {"what": one.what, "expected": one.expected, "found": one.seen, "help": one.help}
        failures.append({**values, "message": one.message, **plain(problem.location)})
    did = result.did
    if located and did is not None and did.status == "gated":
        lines.append("  no step ran: the `when` of the rule does not hold")
    lines += [f"  {step_line(step)}" for step in did.steps] if located and did is not None else ()
    return _Case(
        what=what,
        name=result.name,
        status="failed" if located else "passed",
        location=_locate(result.rule.file, result.place).location,
        message="; ".join(one.message for one in result.failures),
        text="\n".join(lines),
        failures=tuple(failures),
        before=did.before if did is not None else 0,
        after=did.after if did is not None else 0,
    )


def _gap_case(gap: Gap, requires_tests: bool) -> _Case:
    """Return a gap as a case. A rule without tests fails if tests are required."""
    problem = _locate(gap.rule.file, gap.place, gap.message, key=True)
    status: Literal["failed", "not tested"] = "failed" if requires_tests and gap.what == "rule" else "not tested"
    return _Case(gap.what, "is tested", status, problem.location, message=gap.message, text=_text(problem, status))


def _print_summary(cases: Sequence[_Case], rules: str, covered: Coverage | None, warnings: int) -> None:
    """Print the coverage, the number of tests and samples, how many failed, and the number of warnings."""
    if covered is not None:
        steps = f"{covered.exercised:,} of {counted(covered.steps, 'step')}"
        print(f"coverage: {covered.tested:,} of {counted(covered.rules, 'rule')} have tests, which exercise {steps}")
    counts = Counter(case.what for case in cases)
    failed = Counter(case.what for case in cases if case.status == "failed")
    runs, failures = counts["test"] + counts["sample"], failed["test"] + failed["sample"]
    ran = " and ".join(counted(counts[what], what) for what in ("test", "sample") if counts[what])
    result = f"{failures:,} failed" if failures else "all passed" if runs > 1 else "passed"
    without = f"; {counted(failed['rule'], 'rule')} without tests" if failed["rule"] else ""
    warned = f"; {counted(warnings, 'warning')}" if warnings else ""
    print((f"{ran} of {rules}: {result}" if ran else f"{rules}, no tests") + without + warned)


def _as_json(cases: Sequence[_Case], covered: Coverage | None) -> dict[str, Any]:
    counts = Counter(case.status for case in cases if case.what in ("test", "sample"))
    return {
        "passed": counts["passed"],
        "failed": counts["failed"],
        "cases": [{**fields_of(case, "location", "text"), **plain(case.location)} for case in cases],
        "coverage": None if covered is None else fields_of(covered, "gaps"),
    }


def _as_junit(cases: Sequence[_Case]) -> str:
    """Return JUnit XML. With `--require-tests`, a rule without tests is a failed case."""
    counts = Counter(case.status for case in cases)
    numbers = {"tests": str(len(cases) - counts["not tested"]), "failures": str(counts["failed"]), "errors": "0"}
    root = Element("testsuites", numbers, name="reducer")
    suite = SubElement(root, "testsuite", numbers, name="rules")
    for case in cases:
        if case.status == "not tested":
            continue
        file = _xml(case.location.file)
        attributes = {"classname": PurePath(file).stem, "name": _xml(case.name), "file": file}
        element = SubElement(suite, "testcase", attributes, line=str(case.location.line))
        if case.status == "failed":
            SubElement(element, "failure", message=_xml(case.message)).text = _xml(case.text)
    indent(root)
    return tostring(root, encoding="unicode")


def _xml(text: str) -> str:
    # XML allows neither U+FFFE nor U+FFFF, not even escaped.
    return visible(text, "\n\t").replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def _text(problem: Diagnostic, label: str) -> str:
    return "\n".join((f"{problem.location}: {label}: {problem.message}", *problem.excerpt_lines()))


def _locate(file: str, at: Place, message: str = "", help: str = "", *, key: bool = False) -> Diagnostic:
    """Return a diagnostic with its line. Rules do not store the locations of tests, so the file is read again."""
    tree, parsed = _parse(Path(file).read_bytes(), file)
    if tree is None:  # the file changed after it was loaded
        return Diagnostic(Location(file, 1, 1), "", message, help)
    report = Report(file, parsed.lines)
    report.add(locate(tree, at, key=key), "", message, help)
    return report.problems[0]
