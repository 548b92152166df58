"""Corrects rule files: misspelt keys, actions and entity types, missing quotes, and mistakes that samples prove."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from reducer.errors import Diagnostic, Edit

Check: TypeAlias = Callable[[Mapping[str, bytes]], Sequence[Diagnostic]]
"""Returns the problems of rule files by name."""
_BREAK = re.compile("(\r\n|\r|\n)")


def fixed(files: Mapping[str, bytes], check: Check) -> dict[str, bytes]:
    """Apply the fixes of the problems that `check` finds in rule files, which are given and returned by name.

    Edits that neither reduce the number of problems nor make more of a file valid YAML are not applied. Fixing the
    result again changes nothing.
    """
    texts = dict(files)
    problems = check(texts)
    while True:
        changed = dict(texts)
        lines: set[tuple[str, int]] = set()
        for problem in reversed(problems):
            name = problem.location.file
            for edit in problem.fix:
                if (name, edit.line) not in lines:  # an edit can change the columns of the next one in its line
                    lines.add((name, edit.line))
                    changed[name] = edited(changed[name], edit)
        remaining = check(changed) if lines else problems
        if _rank(remaining) >= _rank(problems):
            return texts
        texts, problems = changed, remaining


def _rank(problems: Sequence[Diagnostic]) -> tuple[int, int, int, int]:
    """Rank problems: invalid YAML is worse than any other error, because it hides the errors below it."""
    errors = warnings = invalid = lines = 0
    for problem in problems:
        if problem.severity == "warning" and problem.code != "W080":  # a fix must not remove everything
            warnings += bool(problem.fix)
        else:
            errors += 1
            if "E030" <= problem.code < "E050":
                invalid += 1
                lines += problem.location.line
    return invalid, -lines, errors, warnings


def edited(data: bytes, edit: Edit) -> bytes:
    """Apply an edit to the text of a rule file."""
    pieces = _BREAK.split(data.decode("utf-8", "surrogateescape"))
    line = pieces[2 * (edit.line - 1)]
    start = edit.column - 1 + line.startswith("\ufeff")
    pieces[2 * (edit.line - 1)] = line[:start] + edit.text + line[start + edit.width :]
    return "".join(pieces).encode("utf-8", "surrogateescape")
