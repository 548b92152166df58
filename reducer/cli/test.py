"""`test`: runs the tests in rule files."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial

from reducer.analysis.rule_tests import chosen_tests, coverage, run_test, untested
from reducer.analysis.samples import snapshots_for
from reducer.cli.arguments import parse, parser
from reducer.cli.messages import CommandError, say
from reducer.cli.outputs import write
from reducer.cli.rules import choose_rules, files_named_by, load, short
from reducer.cli.views.plain import print_json
from reducer.cli.views.tests import Case, Tested, as_json, as_junit, gap_case, summary_lines, test_case
from reducer.cli.watch import Watched, watch
from reducer.screen import print_problem

_ABOUT = """\
Run the tests in rule files. Every test also checks the laws of reducing: types and root keys are kept, the result is a
subset and never larger, a second reduction changes nothing, and preserved entities survive.
"""
_EXAMPLES = """\
examples:
  python -m reducer test                        ./rules, or the bundled rules if there is none
  python -m reducer test rules/ more.yaml       folders and files
  python -m reducer test -k newest              only tests with this text in their name, tools or file
  python -m reducer test --coverage             also list rules without tests and steps that no test exercises
  python -m reducer test --update               write the snapshots that have changed
  python -m reducer test --format junit         for continuous integration; json for other programs

Exit codes: 0 all passed, 1 a test failed (with --require-tests also a rule without tests), 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("test", _ABOUT, _EXAMPLES)
    add = reader.add_argument
    add("rules", nargs="*", metavar="RULES", help="rule files or folders")
    add("-k", dest="text", default="", metavar="TEXT", help="only tests with this text in their name, tools or file")
    add("--coverage", action="store_true", help="list rules without tests and steps that no test exercises")
    add("--require-tests", action="store_true", help="fail for rules without tests")
    add("--update", action="store_true", help="write the snapshots that differ from the results")
    add("--format", choices=("text", "junit", "json"), default="text", help="output format (default: text)")
    add("--watch", action="store_true", help="run again when a rule, sample or snapshot changes; show differences")
    options = parse(reader, arguments)
    if options.watch:
        if options.format != "text":
            raise CommandError("--watch prints text; leave out --format")
        watch(_watched(options))
    return int(any(case.status == "failed" for case in _run(options)))


def _watched(options: Namespace) -> Watched:
    chosen = partial(choose_rules, options.rules)
    return Watched(
        lambda: {f"{case.location.file}: {case.name}": case.status for case in _run(options)},
        lambda: chosen().files,
        lambda: files_named_by(chosen().files),
    )


def _run(options: Namespace) -> list[Case]:
    """Run the tests, print and return the results. Raises `CommandError`."""
    if options.text and options.coverage:
        raise CommandError("--coverage needs all tests and -k selects some; use only one of them")
    ruleset = load(choose_rules(options.rules))
    wanted = options.text.casefold()
    tests = list(chosen_tests(ruleset, lambda line: wanted in line.casefold()))
    if wanted and not tests:
        raise CommandError(f"-k {options.text}: no test has this text in its name, tools or file")
    snapshots = snapshots_for(ruleset.rules) if options.update else None
    results, cases = [], []
    for rule, number in tests:
        results.append(run_test(ruleset, rule, number, snapshots))
        cases.append(_shown(test_case(results[-1]), options.format))
    covered = coverage(ruleset.rules, results) if options.coverage else None
    gaps = covered.gaps if covered else untested(ruleset.rules) if options.require_tests else ()
    cases += [_shown(gap_case(gap, options.require_tests), options.format) for gap in gaps]
    tested = Tested(tuple(cases), len(ruleset.rules), covered)
    if options.format == "json":
        print_json(as_json(tested), sys.stdout)
    else:
        print(as_junit(tested) if options.format == "junit" else "\n".join(summary_lines(tested)))
    for file, content in snapshots.files.items() if snapshots is not None else ():
        write(file, content)
        say(f"wrote {short(file)}, {len(content):,} bytes")
    return cases


def _shown(case: Case, format: str) -> Case:
    """Print the text of a case at once if the results are printed as text."""
    if format == "text" and case.text:
        print_problem(f"{case.text}\n", sys.stdout)
    return case
