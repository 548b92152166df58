"""`check`: finds mistakes in rule files."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from reducer.cli.arguments import parse, parser
from reducer.cli.messages import CommandError, counted, reason, say
from reducer.cli.outputs import write
from reducer.cli.rules import Chosen, bundled_rules, choose_rules, files_named_by
from reducer.cli.views.diagnostics import FORMATS, print_problems
from reducer.cli.watch import Watched, watch
from reducer.errors import Diagnostic, Location
from reducer.screen import visible

if TYPE_CHECKING:
    from reducer.rules import Rule, Ruleset

_EXAMPLES = """\
examples:
  python -m reducer check                  ./rules, or the bundled rules if there is none
  python -m reducer check rules/ more.yaml folders and files
  python -m reducer check --strict         also fail for warnings
  python -m reducer check --diff           show what --fix would change
  python -m reducer check --fix            correct misspelt keys, missing quotes and the like, then check
  python -m reducer check --watch          check again when a rule changes
  python -m reducer check --format github  workflow commands; json for other programs
  python -m reducer explain E010           explain a code

Exit codes: 0 no errors, 1 errors (with --strict also for warnings), 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("check", "Find mistakes in rule files.", _EXAMPLES)
    add = reader.add_argument
    add("rules", nargs="*", metavar="RULES", help="rule files or folders")
    add("--strict", action="store_true", help="exit with 1 for warnings too")
    add("--fix", action="store_true", help="correct in the files what can be corrected safely, then check")
    add("--diff", action="store_true", help="print what --fix would change; write nothing")
    add("--format", choices=FORMATS, default="text", help="output format (default: text)")
    add("--watch", action="store_true", help="check again when a rule or sample changes; show differences")
    options = parse(reader, arguments)
    if options.watch:
        if options.fix or options.diff or options.format != "text":
            raise CommandError("--watch prints text and writes nothing; leave out --fix, --diff and --format")
        watch(_watched(options.rules, options.strict))
    if options.diff and options.format != "text":
        raise CommandError("--diff prints text; leave out --format")
    if options.diff or options.fix:
        _correct(choose_rules(options.rules), options.diff)
    return _check(options.rules, options.strict, options.format)


def _watched(given: Sequence[str], strict: bool) -> Watched:
    def run() -> dict[str, str]:
        problems: list[Diagnostic] = []
        _check(given, strict, receive=problems.extend)
        # Lines move, so problems are compared by their messages.
        counts = Counter(
            f"{problem.location.file}: {problem.severity}[{problem.code}]: {problem.message}" for problem in problems
        )
        return {name: f"{times:,} times" if times > 1 else "" for name, times in counts.items()}

    def rules() -> tuple[Path, ...]:
        return choose_rules(given).files

    return Watched(run, rules, lambda: files_named_by(rules()))


def _check(
    given: Sequence[str],
    strict: bool,
    format: str = "text",
    receive: Callable[[Sequence[Diagnostic]], object] | None = None,
) -> int:
    """Print every problem of the rule files and return the exit code; `receive` gets them. Raises `CommandError`."""
    chosen = choose_rules(given)
    try:
        problems = problems_of(chosen.files)
    except OSError as error:
        raise CommandError(f"{error.filename or chosen.name}: {reason(error)}") from None
    if receive is not None:
        receive(problems)
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    print_problems(problems, format, sys.stdout)
    files = counted(len(chosen.files), "rule file")
    where = f"{files} in {chosen.name}" if not given else files
    counts = [counted(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    if format == "text":
        print(f"{', '.join(counts)} in {where}" if counts else f"{where}: no problems")
    return 1 if errors or (strict and warnings) else 0


def problems_of(files: Sequence[Path]) -> tuple[Diagnostic, ...]:
    """Return every problem of rule files, including those that their samples show. Raises OSError."""
    from reducer.rules import check_rules

    ruleset, problems = check_rules(*files)
    if ruleset is None:
        return problems
    found = (problem for rule in ruleset.rules for problem in (*_repeated(rule), *_on_samples(rule, ruleset)))
    return (*problems, *found)


def _repeated(rule: Rule) -> Iterator[Diagnostic]:
    """Yield the error of a rule of which a second pass changes the result of the first."""
    if rule.statically_idempotent:
        return
    from reducer.analysis.counterexamples import counterexample, diagnostic
    from reducer.analysis.samples import SampleError, sample

    samples = []
    for test in rule.tests:
        with suppress(SampleError):
            samples.append(sample(rule, test))
    found = counterexample(rule, samples)
    if found is not None:
        lines = Path(rule.file).read_text(encoding="utf-8").splitlines()
        yield diagnostic(found, rule, lines[found.step.location.line - 1])


def _on_samples(rule: Rule, ruleset: Ruleset) -> Iterator[Diagnostic]:
    """Run a rule on its samples: yield samples that cannot be read, and steps that its `preserve` largely undoes."""
    reported: set[int] = set()
    restores = rule.preserved[-1] or any(step.preserves and not step.op.cuts_blindly for step in rule.steps)
    for test in rule.tests if restores else ():
        from reducer.analysis.samples import SampleError, sample
        from reducer.analysis.steps import step_reports
        from reducer.engine import attempt
        from reducer.values import chars

        try:
            content = sample(rule, test)
        except SampleError as error:
            message = f"cannot read the sample of the test `{test.name}`: {error}"
            yield Diagnostic(Location(rule.file, 1, 1), "W050", message)
            continue
        outcome = attempt(replace(ruleset, rule_for=lambda _: rule), rule.name, content)
        for step in step_reports(outcome, chars(content), False) if outcome.steps else ():
            removed = step.before - step.after
            if step.step is None or step.step.number in reported or not step.restored * 2 >= removed > 0:
                continue
            reported.add(step.step.number)
            restored = f"preserve restores {step.restored:,} of the {removed:,} characters"
            message = f"{restored} that `{step.step.name}` removes in the test `{test.name}`"
            help = "`preserve: []` on the step restores nothing; `preserve: {ioc: 200}` restores at most 200"
            yield Diagnostic(step.step.location, "W051", message, help)


def _correct(chosen: Chosen, only_show: bool) -> None:
    """Correct rule files in place, or print what would change. Raises `CommandError`."""
    from reducer.rules.fix import fixed

    is_bundled = chosen.files and chosen.files[0].resolve().is_relative_to(bundled_rules().resolve())
    if not only_show and is_bundled and not Path("rules").is_dir():
        raise CommandError("the bundled rules are never changed; name your own")
    try:
        before = {str(file): file.read_bytes() for file in chosen.files}
    except OSError as error:
        raise CommandError(f"{error.filename or chosen.name}: {reason(error)}") from None
    changed = {name: text for name, text in fixed(before).items() if text != before[name]}
    for name, text in changed.items():
        if only_show:
            lines = unified_diff(_lines(before[name]), _lines(text), name, name, lineterm="")
            print("\n".join(visible(line, "\t") for line in lines), end="\n\n")
        else:
            write(Path(name), text)
    if changed and not only_show:
        say(f"corrected {counted(len(changed), 'rule file')}: {', '.join(changed)}")


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "surrogateescape").splitlines()
