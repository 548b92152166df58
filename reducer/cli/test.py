"""Run the tests in rule files, and the samples beside them (`samples/TOOL*.json`
and `.txt`). Both check the laws of reducing: types and root keys are kept, the
result is a subset and never larger, a second pass changes nothing, and
preserved entities survive. `check` warns about tests and samples that show
little. A rule file with errors is reported, and the others are tested.

examples:
  python -m reducer test
      ./rules, or the built-in rules if there is none
  python -m reducer test --update
      write snapshots that have changed
  python -m reducer test --format json
      for other programs

Exit codes: 0 all tests passed, 1 a test failed or a rule file has errors,
2 cannot run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from reducer.analysis import rule_tests
from reducer.analysis.records import as_json, fields_of, problem_fields
from reducer.analysis.rule_tests import Case
from reducer.analysis.samples import snapshots_for
from reducer.cli.arguments import parse, parser
from reducer.cli.outputs import write
from reducer.cli.screen import CommandError, counted, print_json, print_problem
from reducer.cli.sources import Chosen, choose_rules, rules_error, short
from reducer.cli.views.diff import step_line
from reducer.errors import Diagnostic, RuleError
from reducer.files import has_samples
from reducer.rules import Ruleset, read_rules
from reducer.rules.diagnostics import Report
from reducer.rules.parser import Place, locate
from reducer.rules.parser import parse as parse_rule

_parse = lru_cache(maxsize=1)(parse_rule)
"""Several problems of one file are located after each other."""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("test", __doc__, ("rules",), formats=("text", "json"))
    add = reader.add_argument
    add("-k", dest="text", default="", metavar="TEXT", help="only tests with this text in their name, tools or file")
    add("--update", action="store_true", help="write the snapshots that differ from the results")
    options = parse(reader, arguments)
    loaded, errors = _load_valid(choose_rules(options.rules))
    ruleset = _with_samples(loaded)
    samples = rule_tests.chosen_samples(ruleset, options.text)
    if options.text and not samples:
        raise CommandError(f"-k {options.text}: no test has this text in its name, tools or file")
    snapshots = snapshots_for(ruleset.rules) if options.update else None
    cases = [rule_tests.run_sample(ruleset, sample, snapshots) for sample in samples]
    failed = len(list(filter(attrgetter("failures"), cases)))
    if options.format == "json":
        counts = {"passed": len(cases) - failed, "failed": failed}
        print_json({**counts, "errors": list(map(problem_fields, errors)), "cases": list(map(_case_as_json, cases))})
    else:
        for problem in (*map(str, errors), *filter(None, map(_text, cases))):
            print_problem(f"{problem}\n")
        invalid = {error.location.file for error in errors}
        not_tested = f"; {counted(len(invalid), 'rule file')} with errors" if invalid else ""
        print(_summary(cases, failed, counted(len(ruleset.rules), "rule")) + not_tested)
    for file, content in (snapshots or {}).items():
        if content is not None:
            write(short(file), content)
    return int(failed > 0 or bool(errors))


def _load_valid(chosen: Chosen) -> tuple[Ruleset, Sequence[Diagnostic]]:
    """Load the rule files without errors, and return the errors of the others. Raises `CommandError` if none is left.

    A file that uses a definition in an invalid file is invalid too.
    """
    errors: list[Diagnostic] = []
    sources, files = chosen.sources, chosen.files
    while True:
        try:
            return read_rules(*sources), errors
        except RuleError as error:
            errors += error.problems
        invalid = {error.location.file for error in errors}
        valid = tuple(file for file in files if str(file) not in invalid)
        if not valid or valid == files:
            raise rules_error(errors, chosen.name)
        sources = files = valid


def _with_samples(ruleset: Ruleset) -> Ruleset:
    """Return the rules whose samples are installed. Raises `CommandError` if there are none."""
    rules = tuple(rule for rule in ruleset.rules if has_samples(rule.file))
    if ruleset.rules and not rules:
        raise CommandError("the built-in rules are installed without their samples; specify your own rules")
    return replace(ruleset, rules=rules)


def _text(case: Case) -> str:
    """Return each failure with its line, then what each step did; empty if the case passed."""
    lines = []
    for one in case.failures:
        problem = _locate(case, one.place, one.message)
        lines.append(f"{problem.location}: failed: {case.sample.what} `{case.sample.name}`: {problem.message}")
        lines += problem.excerpt_lines()
        if one.expected:
            lines.append(f"  expected: {one.expected}\n  found:    {one.found}")
        if one.help:
            lines.append(f"  help: {one.help}")
    if case.failures and case.did is not None:
        if case.did.status == "gated":
            lines.append("  no step ran: the `when` of the rule does not hold")
        for step in case.did.steps:
            lines.append(f"  {step_line(step, case.did.is_refused)}")
    return "\n".join(lines)


def _summary(cases: Sequence[Case], failed: int, rules: str) -> str:
    """Return the number of tests and samples, and how many failed."""
    if not cases:
        return f"{rules}, no tests"
    counts = Counter(map(attrgetter("sample.what"), cases))
    ran = " and ".join(counted(count, what) for what, count in sorted(counts.items(), reverse=True))
    return f"{ran} of {rules}: {f'{failed:,} failed' if failed else 'all passed'}"


def _case_as_json(case: Case) -> dict[str, Any]:
    failures = []
    for one in case.failures:
        failures.append({**fields_of(one, "place"), **as_json(_locate(case, one.place).location)})
    return {
        "what": case.sample.what,
        "name": case.sample.name,
        "status": "failed" if case.failures else "passed",
        "failures": failures,
        "before": case.did.before if case.did else 0,
        "after": case.did.after if case.did else 0,
        **as_json(_locate(case, (*case.sample.place, "name")).location),
    }


def _locate(case: Case, at: Place, message: str = "") -> Diagnostic:
    """Return a diagnostic with its line. Rules do not store the locations of tests, so the file is read again."""
    file = case.sample.rule.file
    tree, parsed = _parse(Path(file).read_bytes(), file)
    assert tree is not None, "the rule was loaded from this file"
    report = Report(file, parsed.lines)
    report.add(locate(tree, at), "", message)
    return report.problems[0]
