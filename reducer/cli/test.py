"""`test`: runs the tests in rule files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reducer.analysis.rule_tests import TestResult, chosen_tests, coverage, run_test, untested
from reducer.analysis.samples import Snapshots, snapshots_for
from reducer.cli.arguments import parse, parser
from reducer.cli.messages import CommandError, say
from reducer.cli.outputs import make_folder, write
from reducer.cli.rules import choose_rules, files_named_by, load, short
from reducer.cli.views.positions import At, failures_of, gaps_at, reader
from reducer.cli.views.tests import (
    Tested,
    as_json,
    as_junit,
    coverage_line,
    failure_lines,
    problem_lines,
    summary,
)
from reducer.cli.watch import Watched, watch
from reducer.rules import Ruleset
from reducer.screen import console, visible

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
  python -m reducer test --require-tests        fail for rules without tests
  python -m reducer test --update               write the snapshots that have changed
  python -m reducer test --watch                run again when a rule or a sample changes
  python -m reducer test --format junit         for continuous integration; json for other programs

A test:
  tests:
    - name: the newest stay
      given: {file: samples/lookup.json}        or json: …, text: …, history: h.json with call: ID
      expect: {max_chars: 4000, contains: [APT28], values: {"length(records)": 20}}
  Other expectations: unchanged, equals, not_contains, min_reduction: 80%, preserves: [ioc], snapshot: FILE

Exit codes: 0 all passed, 1 a test failed (with --require-tests also a rule without tests), 2 cannot run.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of `test`."""

    rules: Sequence[str]
    text: str
    verbose: bool
    coverage: bool
    require_tests: bool
    update: bool
    format: str


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("test", _ABOUT, _EXAMPLES)
    add = reader.add_argument
    add("rules", nargs="*", metavar="RULES", help="rule files or folders")
    add("-k", dest="text", default="", metavar="TEXT", help="only tests with this text in their name, tools or file")
    add("-v", "--verbose", action="store_true", help="list every test and what it saves")
    add("--coverage", action="store_true", help="list rules without tests and steps that no test exercises")
    add("--require-tests", action="store_true", help="fail for rules without tests")
    add("--update", action="store_true", help="write the snapshots that differ from the results")
    add("--format", choices=("text", "junit", "json"), default="text", help="output format (default: text)")
    add("--watch", action="store_true", help="run again when a rule, sample or snapshot changes; show differences")
    options = vars(parse(reader, arguments))
    is_watched = options.pop("watch")
    asked = Options(**options)
    if is_watched:
        watch(_watched(asked))
    return _run(asked)


def _run(options: Options, receive: Callable[[Tested], None] | None = None) -> int:
    """Run the tests, print the results and return the exit code; `receive` gets them. Raises `CommandError`."""
    if options.text and options.coverage:
        raise CommandError("--coverage needs all tests and -k selects some; use only one of them")
    chosen = choose_rules(options.rules)
    ruleset = load(chosen)
    wanted = options.text.casefold()
    tests = list(chosen_tests(ruleset, lambda line: wanted in line.casefold()))
    if wanted and not tests:
        raise CommandError(f"-k {options.text}: no test has this text in its name, tools or file")
    snapshots = snapshots_for(ruleset.rules) if options.update else None
    read = reader()
    show = _printer(options.verbose, read) if options.format == "text" else None
    results = tuple(_shown((run_test(ruleset, *test, snapshots) for test in tests), show))
    tested = Tested(
        results,
        coverage(ruleset.rules, results) if options.coverage else None,
        tuple(gaps_at(untested(ruleset.rules), read)) if options.require_tests else (),
        read,
    )
    _print(tested, ruleset, options.format)
    if snapshots is not None:
        _write(snapshots)
    if receive is not None:
        receive(tested)
    return 1 if tested.untested or any(result.failures for result in results) else 0


def _watched(options: Options) -> Watched:
    if options.format != "text":
        raise CommandError("--watch prints text; leave out --format")

    def run() -> dict[str, str]:
        found: list[Tested] = []
        _run(options, found.append)
        return {
            f"{result.rule.file}: {result.test.name}": "failed" if result.failures else "passed"
            for result in found[0].results
        }

    def rules() -> tuple[Path, ...]:
        return choose_rules(options.rules).files

    return Watched(run, rules, lambda: files_named_by(rules()))


def _shown(results: Iterable[TestResult], show: Callable[[TestResult], None] | None) -> Iterator[TestResult]:
    for result in results:
        if show is not None:
            show(result)
        yield result


def _printer(verbose: bool, read: Callable[[str], At]) -> Callable[[TestResult], None]:
    print_text = _text_printer()

    def show(result: TestResult) -> None:
        if result.failures:
            print_text("\n".join((*failure_lines(result, failures_of(result, read)), "")))
        elif verbose:
            after = f"-> {result.after:,} characters" if result.after != result.before else "characters, unchanged"
            print(visible(f"passed  {result.rule.file}: {result.test.name} ({result.before:,} {after})"))

    return show


def _print(tested: Tested, ruleset: Ruleset, format: str) -> None:
    if format == "json":
        print(json.dumps(as_json(tested), ensure_ascii=False, indent=2))
        return
    if format == "junit":
        print(as_junit(tested))
        return
    print_text = _text_printer()
    for problem in tested.untested:
        print_text(f"{problem_lines(problem, 'failed')}\n")
    if tested.coverage is not None:
        failed = {problem.location for problem in tested.untested}
        for gap in gaps_at(tested.coverage.gaps, tested.read):
            if gap.location not in failed:
                print_text(f"{problem_lines(gap, 'not tested')}\n")
        print(coverage_line(tested.coverage))
    print(summary(len(ruleset.rules), tested))


def _write(snapshots: Snapshots) -> None:
    for file, content in snapshots.files.items():
        make_folder(file.parent)
        write(file, content)
        say(f"wrote {short(file)}, {len(content):,} bytes")


def _text_printer() -> Callable[[str], None]:
    """Return the function that prints results, in colour on a terminal that wants it."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return lambda text: print(visible(text, "\n\t"))  # rich takes time to import
    from rich.text import Text

    screen = console(sys.stdout)

    def show(text: str) -> None:
        shown = Text(visible(text, "\n\t"))
        shown.highlight_regex(r"(?m)^\S.*?: failed:|\^+$", "bold red")
        shown.highlight_regex(r"(?m)^\S.*?: not tested:", "bold yellow")
        shown.highlight_regex(r"(?m)^  (help|expected|found):", "bold cyan")
        shown.highlight_regex(r"(?m)^  (step \d+|max_chars).*", "dim")
        screen.print(shown, soft_wrap=True)

    return show
