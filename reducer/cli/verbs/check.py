"""`check`: finds the mistakes in rule files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reducer.cli.parser import parser
from reducer.cli.rules import choose_rules
from reducer.cli.stop import Stop
from reducer.errors import Location, Problem
from reducer.screen import visible

if TYPE_CHECKING:
    from reducer.rule import Rule, Ruleset

_EXAMPLES = """\
examples:
  python -m reducer check                  ./rules, or the bundled rules where there is none
  python -m reducer check rules/ more.yaml folders and files
  python -m reducer check --strict         warnings count as well

Exit codes: 0 no errors, 1 errors (with --strict also for warnings), 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop` where there are no rule files."""
    reader = parser("check", "Find the mistakes in rule files.", _EXAMPLES)
    reader.add_argument("rules", nargs="*", metavar="RULES", help="rule files, or folders of them")
    reader.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    options = reader.parse_intermixed_args(arguments)
    return check(tuple(options.rules), options.strict)


def check(given: Sequence[str], strict: bool) -> int:
    """Print every problem of the rule files and give the exit code. Raises `Stop` where there are no rule files."""
    chosen = choose_rules(given)
    try:
        problems = found(chosen.files)
    except OSError as error:
        raise Stop(f"{error.filename or chosen.name}: {error.strerror or error}") from None
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    _print(problems)
    files = _count(len(chosen.files), "rule file")
    where = f"{files} in {chosen.name}" if not given else files
    counted = [_count(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    print(f"{', '.join(counted)} in {where}" if counted else f"{where}: no problems")
    return 1 if errors or (strict and warnings) else 0


def found(files: Sequence[Path]) -> tuple[Problem, ...]:
    """Give every problem of rule files, those on the samples of their tests too. Raises OSError for a file that cannot be read."""
    from reducer.rule import check_rules

    ruleset, problems = check_rules(*files)
    if ruleset is None:
        return problems
    return (*problems, *(problem for rule in ruleset.rules for problem in _on_samples(rule, ruleset)))


def _on_samples(rule: Rule, ruleset: Ruleset) -> Iterator[Problem]:
    """Run a rule on the samples of its own tests: samples that cannot be read, and steps that its `preserve` undoes there."""
    told: set[int] = set()
    for test in rule.tests if rule.traced else ():
        from reducer.engine import trace
        from reducer.report import step_reports
        from reducer.values import chars

        here = Location(rule.file, 1, 1)
        try:
            content = test.given.content(Path(rule.file).parent)
        except (OSError, ValueError, RecursionError) as error:
            yield Problem(here, "W050", f"the sample {test.given.file} of the test `{test.name}` cannot be read: {error}")
            continue
        outcome = trace(replace(ruleset, rule_for=lambda _: rule), rule.name, content)
        for step in step_reports(outcome, chars(content), False)[0] if outcome.steps else ():
            took = step.before - step.after
            if step.step is not None and step.put_back * 2 >= took > 0 and step.step.number not in told:
                told.add(step.step.number)
                message = f"preserve puts back {step.put_back:,} of the {took:,} characters that `{step.step.name}` takes in the test `{test.name}`"
                help = "`preserve: []` on the step lets them go, `preserve: {ioc: 200}` keeps the first 200"
                yield Problem(step.step.location, "W051", message, help)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _print(problems: Sequence[Problem]) -> None:
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        # Without colour there is no need for rich, whose import takes as long as everything else here.
        for problem in problems:
            print(visible(str(problem), "\n\t"), end="\n\n")
        return
    from rich.text import Text

    from reducer.screen import console

    screen = console(sys.stdout)
    for problem in problems:
        text = Text(visible(str(problem), "\n\t"))
        text.highlight_regex(r"(?m)^\S.*?: error\[\w+\]:", "bold red")
        text.highlight_regex(r"(?m)^\S.*?: warning\[\w+\]:", "bold yellow")
        text.highlight_regex(r"(?m)\^+$", "bold red" if problem.severity == "error" else "bold yellow")
        text.highlight_regex(r"(?m)^  help:", "bold cyan")
        screen.print(text, soft_wrap=True)
        screen.print()
