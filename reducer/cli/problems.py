"""Problems of rule files, written for people and for programs: text, JSON, GitHub's workflow commands, SARIF."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from reducer.errors import Edit, Problem
from reducer.screen import visible

FORMATS = ("text", "json", "github", "sarif")
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def print_problems(problems: Sequence[Problem], format: str, out: TextIO) -> None:
    """Print problems in one of `FORMATS`, each in the order in which it is given."""
    if format == "text":
        _print_text(problems, out)
    elif format == "github":
        for problem in problems:
            print(_command(problem), file=out)
    else:
        import json

        shown = _sarif(problems) if format == "sarif" else {"problems": [_fields(problem) for problem in problems]}
        print(json.dumps(shown, indent=2), file=out)


def _print_text(problems: Sequence[Problem], out: TextIO) -> None:
    if not out.isatty() or os.environ.get("NO_COLOR"):
        # Without colour there is no need for rich, whose import takes as long as everything else here.
        for problem in problems:
            print(visible(str(problem), "\n\t"), end="\n\n", file=out)
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


def _command(problem: Problem) -> str:
    """Write a workflow command: https://docs.github.com/actions/reference/workflow-commands-for-github-actions."""
    place = problem.location
    properties = {
        "file": place.file,
        "line": place.line,
        "endLine": place.line,
        "col": place.column,
        "endColumn": place.column + problem.width,
        "title": f"{problem.code} {_entries()[problem.code].name}",
    }
    written = ",".join(f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items())
    message = problem.message + (f"\nhelp: {problem.help}" if problem.help else "")
    return visible(f"::{problem.severity} {written}::{_escaped(message)}")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _fields(problem: Problem) -> dict[str, Any]:
    return {
        "file": problem.location.file,
        "line": problem.location.line,
        "column": problem.location.column,
        "width": problem.width,
        "severity": problem.severity,
        "code": problem.code,
        "name": _entries()[problem.code].name,
        "message": problem.message,
        "help": problem.help,
        "snippet": problem.snippet,
        "fix": [edit._asdict() for edit in problem.fix],
    }


def _sarif(problems: Sequence[Problem]) -> dict[str, Any]:
    """Give a log as SARIF 2.1.0 has it (OASIS), with the rules that its results name."""
    entries = _entries()
    codes = list(dict.fromkeys(problem.code for problem in problems))
    rules = [
        {
            "id": code,
            "name": "".join(part.capitalize() for part in entries[code].name.split("-")),
            "shortDescription": {"text": entries[code].name.replace("-", " ")},
            "fullDescription": {"text": entries[code].cause},
            "help": {"text": _help(code)},
            "defaultConfiguration": {"level": "warning" if code.startswith("W") else "error"},
        }
        for code in codes
    ]
    results = [
        {
            "ruleId": problem.code,
            "ruleIndex": codes.index(problem.code),
            "level": problem.severity,
            "message": {"text": problem.message + (f"\nhelp: {problem.help}" if problem.help else "")},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(problem), "region": _region(problem)}}],
            **({"fixes": [_fix(problem)]} if problem.fix else {}),
        }
        for problem in problems
    ]
    driver = {"name": "reducer", "rules": rules}
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}]}


def _help(code: str) -> str:
    entry = _entries()[code]
    examples = [f"{title}:\n{example.removeprefix('#!' + chr(10))}" for title, example in (("Wrong", entry.wrong), ("Right", entry.right)) if example]
    return visible("\n\n".join([entry.cause, *examples]), "\n\t")


def _artifact(problem: Problem) -> dict[str, str]:
    from urllib.parse import quote

    path = os.path.abspath(problem.location.file) if os.path.isabs(problem.location.file) else problem.location.file
    written = quote(path.replace(os.sep, "/"), errors="surrogatepass")
    return {"uri": f"file://{written}" if os.path.isabs(path) else written}


def _region(problem: Problem) -> dict[str, Any]:
    place = problem.location
    region: dict[str, Any] = {"startLine": place.line, "startColumn": place.column, "endLine": place.line, "endColumn": place.column + problem.width}
    return {**region, "snippet": {"text": visible(problem.snippet, "\t")}} if problem.snippet else region


def _fix(problem: Problem) -> dict[str, Any]:
    def replacement(edit: Edit) -> dict[str, Any]:
        deleted = {"startLine": edit.line, "startColumn": edit.column, "endLine": edit.line, "endColumn": edit.column + edit.width}
        return {"deletedRegion": deleted, "insertedContent": {"text": edit.text}}

    return {
        "description": {"text": problem.help or "correct it"},
        "artifactChanges": [{"artifactLocation": _artifact(problem), "replacements": [replacement(edit) for edit in problem.fix]}],
    }


def _entries() -> Mapping[str, Any]:
    from reducer.catalogue import CATALOGUE

    return CATALOGUE
