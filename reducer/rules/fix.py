"""Corrects rule files: misspelt keys, actions and entity types, and missing quotes. Everything else stays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from reducer.errors import Diagnostic, Edit
from reducer.rules.compile import compile_rules

_BREAK = re.compile("(\r\n|\r|\n)")


def fixed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return rule files, by their names, with every error corrected whose `fix` is known.

    Edits are made only if the files have fewer errors after them, or if more of a file becomes readable YAML.
    Correcting the result again changes nothing.
    """
    texts = dict(files)
    problems = compile_rules(texts.items())[1]
    while True:
        # One edit of a line at a time: the next one may be at another column after it.
        edits = {(p.location.file, edit.line): edit for p in problems if p.severity == "error" for edit in p.fix}
        tried = dict(texts)
        for (name, _), edit in edits.items():
            tried[name] = _edited(tried[name], edit)
        found = compile_rules(tried.items())[1]
        if _rank(found) >= _rank(problems):
            return texts
        texts, problems = tried, found


def _rank(problems: Sequence[Diagnostic]) -> tuple[int, int, int]:
    """Rank problems: a text that is not YAML is worse than any other error, and hides the errors below it."""
    errors = [problem for problem in problems if problem.severity == "error"]
    unread = [problem for problem in errors if "E030" <= problem.code < "E050"]
    return len(unread), -sum(problem.location.line for problem in unread), len(errors)


def _edited(data: bytes, edit: Edit) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    pieces = _BREAK.split(text.removeprefix(mark))
    row, start = 2 * (edit.line - 1), edit.column - 1
    pieces[row] = pieces[row][:start] + edit.text + pieces[row][start + edit.width :]
    return (mark + "".join(pieces)).encode("utf-8", "surrogateescape")
