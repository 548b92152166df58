"""`check`: finds the mistakes in rule files."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from reducer.cli.output import write
from reducer.cli.parser import parsed, parser
from reducer.cli.problems import FORMATS, print_problems
from reducer.cli.rules import Chosen, bundled_rules, choose_rules, read_besides
from reducer.cli.stop import Stop, say
from reducer.cli.watch import Watched, watch
from reducer.errors import Location, Problem
from reducer.screen import visible

if TYPE_CHECKING:
    from reducer.rule import Rule, Ruleset

_EXAMPLES = """\
examples:
  python -m reducer check                  ./rules, or the bundled rules where there is none
  python -m reducer check rules/ more.yaml folders and files
  python -m reducer check --strict         warnings count as well
  python -m reducer check --diff           what --fix would change
  python -m reducer check --fix            corrects misspelt keys, missing quotes and the like, and checks again
  python -m reducer check --watch          check again whenever a rule is saved
  python -m reducer check --format github  for a workflow; also json, and sarif for code scanning
  python -m reducer explain E010           what a code means

Exit codes: 0 no errors, 1 errors (with --strict also for warnings), 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop` where there are no rule files."""
    reader = parser("check", "Find the mistakes in rule files.", _EXAMPLES)
    reader.add_argument("rules", nargs="*", metavar="RULES", help="rule files, or folders of them")
    reader.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    reader.add_argument("--fix", action="store_true", help="correct in the files what can be corrected safely, then check them")
    reader.add_argument("--diff", action="store_true", help="print what --fix would change, and write nothing")
    reader.add_argument("--format", choices=FORMATS, default="text", help="how problems are written; text is the default")
    reader.add_argument("--watch", action="store_true", help="check again when a rule or a sample is saved, and tell what changed")
    options = parsed(reader, arguments)
    if options.watch:
        if options.fix or options.diff or options.format != "text":
            raise Stop("--watch is for people, and writes nothing: leave out --fix, --diff and --format")
        watch(_watched(tuple(options.rules), options.strict))
    if options.diff and options.format != "text":
        raise Stop("--diff prints text: leave out --format")
    if options.diff or options.fix:
        corrected(choose_rules(tuple(options.rules)), options.diff)
    return check(tuple(options.rules), options.strict, options.format)


def _watched(given: Sequence[str], strict: bool) -> Watched:
    def run() -> dict[str, str]:
        problems: list[Problem] = []
        check(given, strict, hears=problems.extend)
        # By what they say: lines move.
        told = Counter(f"{problem.location.file}: {problem.severity}[{problem.code}]: {problem.message}" for problem in problems)
        return {name: f"{times:,} times" if times > 1 else "" for name, times in told.items()}

    return Watched(run, lambda: choose_rules(given).files, lambda: read_besides(choose_rules(given).files))


def check(given: Sequence[str], strict: bool, format: str = "text", hears: Callable[[Sequence[Problem]], object] | None = None) -> int:
    """Print every problem of the rule files and give the exit code; `hears` gets them. Raises `Stop` where there are no rule files."""
    chosen = choose_rules(given)
    try:
        problems = found(chosen.files)
    except OSError as error:
        raise Stop(f"{error.filename or chosen.name}: {error.strerror or error}") from None
    if hears is not None:
        hears(problems)
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    print_problems(problems, format, sys.stdout)
    files = _count(len(chosen.files), "rule file")
    where = f"{files} in {chosen.name}" if not given else files
    counted = [_count(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    if format == "text":
        print(f"{', '.join(counted)} in {where}" if counted else f"{where}: no problems")
    return 1 if errors or (strict and warnings) else 0


def corrected(chosen: Chosen, only_shown: bool) -> None:
    """Correct rule files in place, or print what would change. Raises `Stop` for a file that cannot be read or written."""
    from reducer.rule.fix import fixed

    if not only_shown and chosen.files and chosen.files[0].resolve().is_relative_to(bundled_rules().resolve()) and not Path("rules").is_dir():
        raise Stop("the rules bundled with reducer are not changed: name your own")
    try:
        before = {str(file): file.read_bytes() for file in chosen.files}
    except OSError as error:
        raise Stop(f"{error.filename or chosen.name}: {error.strerror or error}") from None
    changed = {name: text for name, text in fixed(before).items() if text != before[name]}
    if only_shown:
        for name, text in changed.items():
            lines = unified_diff(_lines(before[name]), _lines(text), name, name, lineterm="")
            print("\n".join(visible(line, "\t") for line in lines), end="\n\n")
        return
    for name, text in changed.items():
        write(name, text)
    if changed:
        say(f"corrected {_count(len(changed), 'rule file')}: {', '.join(changed)}")


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "surrogateescape").splitlines()


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
        from reducer.proof.samples import SampleError, sample
        from reducer.report import step_reports
        from reducer.values import chars

        here = Location(rule.file, 1, 1)
        try:
            content = sample(rule, test)
        except SampleError as error:
            yield Problem(here, "W050", f"the sample of the test `{test.name}` cannot be read: {error}")
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
