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
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reducer.analysis import rule_tests
from reducer.analysis.records import as_json, fields_of, problem_fields
from reducer.analysis.rule_tests import Case, Coverage, Failure
from reducer.analysis.sample_checks import problems_when_run
from reducer.analysis.samples import Sample, Snapshots, snapshots_for
from reducer.cli.arguments import parse, parser
from reducer.cli.outputs import write
from reducer.cli.screen import CommandError, counted, print_json, print_problem, say, visible
from reducer.cli.sources import choose_rules, files_read, load, short
from reducer.cli.views.diff import step_line
from reducer.cli.watch import watch
from reducer.errors import Diagnostic, Location
from reducer.files import has_samples
from reducer.rules import Ruleset
from reducer.rules.diagnostics import Report
from reducer.rules.parser import Place, locate
from reducer.rules.parser import parse as parse_rule

_parse = lru_cache(maxsize=1)(parse_rule)
"""Several problems of one file are located after each other."""


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


def _run(options: Namespace) -> list[Case]:
    """Run the tests, print and return the results. Raises `CommandError`."""
    if options.text and options.coverage:
        raise CommandError("--coverage needs all tests, but -k selects some; use only one of them")
    ruleset = _with_samples(load(choose_rules(options.rules)))
    samples = rule_tests.chosen_samples(ruleset, options.text)
    if options.text and not samples:
        raise CommandError(f"-k {options.text}: no test has this text in its name, tools or file")
    snapshots = snapshots_for(ruleset.rules) if options.update else None
    cases = []
    for sample in samples:
        case = rule_tests.run_sample(ruleset, sample, snapshots)
        if case is not None:
            cases.append(case)
    covered = rule_tests.coverage(ruleset.rules, cases) if options.coverage else None
    if covered is not None:
        cases += covered.gaps
    elif options.require_tests:
        cases += rule_tests.untested(ruleset.rules)
    if options.require_tests:
        cases = [_required(case) if case.what == "rule" else case for case in cases]
    _print(options.format, cases, covered, _warnings(samples, ruleset), counted(len(ruleset.rules), "rule"))
    _write_snapshots(snapshots or {})
    return cases


def _with_samples(ruleset: Ruleset) -> Ruleset:
    """Return the rules whose samples are installed. Raises `CommandError` if there are none."""
    rules = tuple(rule for rule in ruleset.rules if has_samples(rule.file))
    if ruleset.rules and not rules:
        raise CommandError("the built-in rules are installed without their samples; specify your own rules")
    return replace(ruleset, rules=rules)


def _warnings(samples: Sequence[Sample], ruleset: Ruleset) -> list[Diagnostic]:
    """Return the warnings about the tests and samples of the rules that samples belong to."""
    rules = {sample.rule.file: sample.rule for sample in samples}
    warnings: list[Diagnostic] = []
    for rule in rules.values():
        warnings += problems_when_run(rule, ruleset, searches=False)
    return warnings


def _print(
    format: str, cases: Sequence[Case], covered: Coverage | None, warnings: Sequence[Diagnostic], rules: str
) -> None:
    """Print the results of the tests of `rules`, a number with its noun."""
    if format == "json":
        print_json({**_as_json(cases, covered), "warnings": list(map(problem_fields, warnings))})
    elif format == "junit":
        print(_as_junit(cases))
    else:
        for problem in filter(None, (*map(_text, cases), *map(str, warnings))):
            print_problem(f"{problem}\n")
        _print_summary(cases, rules, covered, len(warnings))


def _write_snapshots(snapshots: Snapshots) -> None:
    for file, content in snapshots.items():
        if content is not None:
            write(file, content)
            say(f"wrote {short(file)}, {len(content):,} bytes")


def _required(gap: Case) -> Case:
    """Return a rule without tests as a failure."""
    return replace(gap, failures=(Failure(gap.gap, place=gap.place),))


def _located(case: Case) -> list[tuple[Diagnostic, Failure]]:
    """Return the failures of a case, or what it does not cover, in the order of their lines."""
    found = case.failures
    if case.gap and not found:
        found = (Failure(case.gap, place=case.place),)
    pairs = [(_locate(case, one.place, one.message), one) for one in found]
    return sorted(pairs, key=lambda pair: pair[0].location)


def _text(case: Case) -> str:
    """Return each failure with its line, then what each step did; empty if the case passed."""
    label = case.status if case.gap else f"failed: {case.what} `{case.name}`"
    lines = []
    for problem, one in _located(case):
        lines += [f"{problem.location}: {label}: {problem.message}", *problem.excerpt_lines()]
        if one.expected:
            lines.append(f"  expected: {one.expected}\n  found:    {one.found}")
        if one.help:
            lines.append(f"  help: {one.help}")
    if case.failures and case.did is not None:
        if case.did.status == "gated":
            lines.append("  no step ran: the `when` of the rule does not hold")
        lines += (f"  {step_line(step, case.did.is_refused)}" for step in case.did.steps)
    return "\n".join(lines)


def _print_summary(cases: Sequence[Case], rules: str, covered: Coverage | None, warnings: int) -> None:
    """Print the coverage, the number of tests and samples, how many failed, and the number of warnings."""
    if covered is not None:
        steps = f"{covered.exercised:,} of {counted(covered.steps, 'step')}"
        print(f"coverage: {covered.tested:,} of {counted(covered.rules, 'rule')} have tests, which exercise {steps}")
    counts = Counter(case.what for case in cases)
    failed = Counter(case.what for case in cases if case.status == "failed")
    ran = " and ".join(counted(counts[what], what) for what in ("test", "sample") if counts[what])
    summary = f"{rules}, no tests"
    if ran:
        summary = f"{ran} of {rules}: {_result(counts['test'] + counts['sample'], failed['test'] + failed['sample'])}"
    if failed["rule"]:
        summary += f"; {counted(failed['rule'], 'rule')} without tests"
    if warnings:
        summary += f"; {counted(warnings, 'warning')}"
    print(summary)


def _result(runs: int, failures: int) -> str:
    if failures:
        return f"{failures:,} failed"
    return "all passed" if runs > 1 else "passed"


def _as_json(cases: Sequence[Case], covered: Coverage | None) -> dict[str, Any]:
    counts = Counter(case.status for case in cases if not case.gap)
    return {
        "passed": counts["passed"],
        "failed": counts["failed"],
        "cases": list(map(_case_as_json, cases)),
        "coverage": None if covered is None else fields_of(covered, "gaps"),
    }


def _case_as_json(case: Case) -> dict[str, Any]:
    failures = []
    for problem, failure in _located(case) if case.failures else ():
        failures.append({**fields_of(failure, "place"), **as_json(problem.location)})
    return {
        **fields_of(case, "rule", "place", "failures", "did", "gap"),
        "status": case.status,
        "message": _message(case),
        "failures": failures,
        "before": case.did.before if case.did else 0,
        "after": case.did.after if case.did else 0,
        **as_json(_locate(case, case.place).location),
    }


def _message(case: Case) -> str:
    return case.gap or "; ".join(one.message for one in case.failures)


def _as_junit(cases: Sequence[Case]) -> str:
    """Return JUnit XML. With `--require-tests`, a rule without tests is a failed case."""
    counts = Counter(case.status for case in cases)
    numbers = {"tests": str(len(cases) - counts["not tested"]), "failures": str(counts["failed"]), "errors": "0"}
    root = Element("testsuites", numbers, name="reducer")
    suite = SubElement(root, "testsuite", numbers, name="rules")
    for case in cases:
        if case.status == "not tested":
            continue
        file, line = _xml(case.rule.file), _locate(case, case.place).location.line
        attributes = {"classname": PurePath(file).stem, "name": _xml(case.name), "file": file}
        element = SubElement(suite, "testcase", attributes, line=str(line))
        if case.status == "failed":
            SubElement(element, "failure", message=_xml(_message(case))).text = _xml(_text(case))
    indent(root)
    return tostring(root, encoding="unicode")


def _xml(text: str) -> str:
    # XML allows neither U+FFFE nor U+FFFF, not even escaped.
    return visible(text, "\n\t").replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def _locate(case: Case, at: Place, message: str = "") -> Diagnostic:
    """Return a diagnostic with its line. Rules do not store the locations of tests, so the file is read again."""
    file = case.rule.file
    tree, parsed = _parse(Path(file).read_bytes(), file)
    if tree is None:  # the file changed after it was loaded
        return Diagnostic(Location(file, 1, 1), "", message)
    report = Report(file, parsed.lines)
    report.add(locate(tree, at, key=bool(case.gap)), "", message)
    return report.problems[0]
