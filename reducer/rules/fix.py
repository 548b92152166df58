"""Corrects rule files: misspelt keys, actions and entity types, and missing quotes. Everything else stays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from reducer.errors import Diagnostic, Edit
from reducer.rules.read import compile_rules

_BREAK = re.compile("(\r\n|\r|\n)")
_MAX_ROUNDS = 100
_BOM = "\ufeff"


def fixed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return rule files, by their names, with every error corrected whose `fix` is known.

    An edit is made only if the files have fewer errors after it, or if more of a file becomes readable YAML.
    Correcting the result again changes nothing.
    """
    texts = dict(files)
    problems = compile_rules(texts.items())[1]
    refused: set[tuple[str, Edit]] = set()
    for _ in range(_MAX_ROUNDS):
        edit = next((edit for edit in _edits(problems) if edit not in refused), None)
        if edit is None:
            break
        name, change = edit
        tried = {**texts, name: _edited(texts[name], change)}
        found = compile_rules(tried.items())[1]
        if _rank(found) < _rank(problems):
            texts, problems, refused = tried, found, set()
        else:
            refused.add(edit)
    return texts


def _edits(problems: Sequence[Diagnostic]) -> list[tuple[str, Edit]]:
    errors = (problem for problem in problems if problem.severity == "error")
    return [(problem.location.file, edit) for problem in errors for edit in problem.fix]


def _rank(problems: Sequence[Diagnostic]) -> tuple[int, int, int]:
    """Rank problems: a text that is not YAML is worse than any other error, and hides the errors below it."""
    errors = [problem for problem in problems if problem.severity == "error"]
    unread = [problem for problem in errors if "E030" <= problem.code < "E050"]
    return len(unread), -sum(problem.location.line for problem in unread), len(errors)


def _edited(data: bytes, edit: Edit) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    mark = _BOM if text.startswith(_BOM) else ""
    pieces = _BREAK.split(text.removeprefix(mark))
    row, start = 2 * (edit.line - 1), edit.column - 1
    pieces[row] = pieces[row][:start] + edit.text + pieces[row][start + edit.width :]
    return (mark + "".join(pieces)).encode("utf-8", "surrogateescape")
