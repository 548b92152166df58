"""Problems of rule files as text, as JSON, and as GitHub workflow commands."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TextIO

from reducer.errors import Diagnostic
from reducer.screen import visible

FORMATS = ("text", "json", "github")


def print_problems(problems: Sequence[Diagnostic], format: str, out: TextIO) -> None:
    """Print problems in one of `FORMATS`, in the given order."""
    if format == "text":
        _print_text(problems, out)
    elif format == "github":
        for problem in problems:
            print(_command(problem), file=out)
    else:
        print(json.dumps({"problems": [_fields(problem) for problem in problems]}, indent=2), file=out)


def _print_text(problems: Sequence[Diagnostic], out: TextIO) -> None:
    if not out.isatty() or os.environ.get("NO_COLOR"):
        # The import of rich takes as long as everything else here, and only colour needs it.
        for problem in problems:
            print(visible(str(problem), "\n\t"), end="\n\n", file=out)
        return
    from rich.text import Text

    from reducer.screen import console

    screen = console(out)
    for problem in problems:
        text = Text(visible(str(problem), "\n\t"))
        text.highlight_regex(r"(?m)^\S.*?: error\[\w+\]:", "bold red")
        text.highlight_regex(r"(?m)^\S.*?: warning\[\w+\]:", "bold yellow")
        text.highlight_regex(r"(?m)\^+$", "bold red" if problem.severity == "error" else "bold yellow")
        text.highlight_regex(r"(?m)^  help:", "bold cyan")
        screen.print(text, soft_wrap=True)
        screen.print()


def _command(problem: Diagnostic) -> str:
    """Return a workflow command: https://docs.github.com/actions/reference/workflow-commands-for-github-actions."""
    location = problem.location
    properties = {
        "file": location.file,
        "line": location.line,
        "endLine": location.line,
        "col": location.column,
        "endColumn": location.column + problem.width,
        "title": f"{problem.code} {_name(problem)}",
    }
    written = ",".join(
        f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items()
    )
    message = problem.message + (f"\nhelp: {problem.help}" if problem.help else "")
    return visible(f"::{problem.severity} {written}::{_escaped(message)}")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _fields(problem: Diagnostic) -> dict[str, Any]:
    found = asdict(problem)
    return {
        **found.pop("location"),
        "severity": problem.severity,
        "name": _name(problem),
        **found,
        "fix": [edit._asdict() for edit in problem.fix],
    }


def _name(problem: Diagnostic) -> str:
    from reducer.rules.diagnostics import catalogue

    return catalogue()[problem.code].name
