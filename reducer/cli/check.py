"""`check`: finds the mistakes in rule files."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from reducer.cli.rules import choose_rules
from reducer.cli.stop import Stop
from reducer.errors import Problem
from reducer.screen import visible


def check(given: Sequence[str], strict: bool) -> int:
    """Print every problem of the rule files and give the exit code. Raises `Stop` where there are no rule files."""
    from reducer.rule import check_rules

    chosen = choose_rules(given)
    try:
        _, problems = check_rules(*chosen.files)
    except OSError as error:
        raise Stop(f"{error.filename or chosen.name}: {error.strerror or error}") from None
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    _print(problems)
    files = _count(len(chosen.files), "rule file")
    where = f"{files} in {chosen.name}" if not given else files
    found = [_count(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    print(f"{', '.join(found)} in {where}" if found else f"{where}: no problems")
    return 1 if errors or (strict and warnings) else 0


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
        text.highlight_regex(r"(?m)^\S.*?: error:", "bold red")
        text.highlight_regex(r"(?m)^\S.*?: warning:", "bold yellow")
        text.highlight_regex(r"(?m)\^+$", "bold red" if problem.severity == "error" else "bold yellow")
        text.highlight_regex(r"(?m)^  help:", "bold cyan")
        screen.print(text, soft_wrap=True)
        screen.print()
