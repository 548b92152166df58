"""Corrects misspelt keys, actions and entity types, and missing quotes in rule files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from reducer.errors import Diagnostic, Edit
from reducer.rules.compile import compile_rules

_BREAK = re.compile("(\r\n|\r|\n)")


def fixed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Apply the fixes of all errors to rule files, which are given and returned by name.

    Edits that neither reduce the number of errors nor make more of a file valid YAML are not applied. Fixing the
    result again changes nothing.
    """
    texts = dict(files)
    problems = compile_rules(texts.items())[1]
    while True:
        # Apply one edit per line at a time, because it can change the columns of the next one.
        edits = {(p.location.file, edit.line): edit for p in problems if p.severity == "error" for edit in p.fix}
        edited = dict(texts)
        for (name, _), edit in edits.items():
            edited[name] = _edited(edited[name], edit)
        remaining = compile_rules(edited.items())[1]
        if _rank(remaining) >= _rank(problems):
            return texts
        texts, problems = edited, remaining


def _rank(problems: Sequence[Diagnostic]) -> tuple[int, int, int]:
    """Rank problems: invalid YAML is worse than any other error, because it hides the errors below it."""
    errors = [problem for problem in problems if problem.severity == "error"]
    unreadable = [problem for problem in errors if "E030" <= problem.code < "E050"]
    return len(unreadable), -sum(problem.location.line for problem in unreadable), len(errors)


def _edited(data: bytes, edit: Edit) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    pieces = _BREAK.split(text.removeprefix(mark))
    row, start = 2 * (edit.line - 1), edit.column - 1
    pieces[row] = pieces[row][:start] + edit.text + pieces[row][start + edit.width :]
    return (mark + "".join(pieces)).encode("utf-8", "surrogateescape")
