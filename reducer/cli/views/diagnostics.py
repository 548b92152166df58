"""Problems of rule files as text, as JSON, and as GitHub workflow commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from reducer.cli.views.plain import plain, print_json
from reducer.errors import Diagnostic
from reducer.rules.diagnostics import catalogue
from reducer.screen import print_problem, visible

FORMATS = ("text", "json", "github")


def print_problems(problems: Sequence[Diagnostic], format: str, out: TextIO) -> None:
    """Print problems in one of `FORMATS`, in the given order."""
    if format == "json":
        print_json({"problems": list(map(_as_json, problems))}, out)
        return
    for problem in problems:
        if format == "github":
            print(_command(problem), file=out)
        else:
            print_problem(f"{problem}\n", out)


def _command(problem: Diagnostic) -> str:
    """Return a workflow command: https://docs.github.com/actions/reference/workflow-commands-for-github-actions."""
    at = problem.location
    file = at.file.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    where = f"file={file},line={at.line},endLine={at.line},col={at.column},endColumn={at.column + problem.width}"
    message = f"{problem.message}\nhelp: {problem.help}" if problem.help else problem.message
    escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(f"::{problem.severity} {where},title={problem.code} {catalogue()[problem.code].name}::{escaped}")


def _as_json(problem: Diagnostic) -> dict[str, Any]:
    fields = plain(problem)
    name = catalogue()[problem.code].name
    return {**fields.pop("location"), "severity": problem.severity, "name": name, **fields}
