"""Rule files with their safe corrections made: at the place of each mistake, everything else as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from reducer.errors import Edit, Problem
from reducer.rule.read import compile_rules

_BREAK = re.compile("(\r\n|\r|\n)")
_ALONE = 20
"""Corrections that are tried one by one, each with a check of all files."""
_BOM = "\ufeff"


def fixed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Give rule files by their names with the errors corrected whose `fix` is known, and no other change.

    A correction is made only if there are fewer problems after it, or they begin further down, so that a file never gets worse; files without
    errors stay. What is given
    is a fixed point.
    """
    texts = dict(files)
    problems = _problems(texts)
    while True:
        # All at once, as a rule; one by one where together they do not help.
        fixes = [problem for problem in problems if problem.fix and problem.severity == "error"]
        for chosen in ([fixes] if len(fixes) > 1 else []) + [[problem] for problem in fixes[:_ALONE]]:
            tried = _applied(texts, chosen)
            found = _problems(tried)
            if _weight(found) < _weight(problems):
                texts, problems = tried, found
                break
        else:
            return texts


def _problems(texts: Mapping[str, bytes]) -> tuple[Problem, ...]:
    return compile_rules(texts.items())[1]


def _weight(problems: Sequence[Problem]) -> tuple[int, int, int, int]:
    errors = [problem for problem in problems if problem.severity == "error"]
    # A path that is read at last may have a mistake of its own, which its missing quotes hid.
    unread = [problem for problem in errors if problem.code < "E050"]
    # Of a file only so many findings are told: those behind them come when the first are gone.
    first = sum(min(problem.location.line for problem in found) for found in _by_file(unread))
    return len(errors), len(unread), -first, len(problems) - len(errors)


def _by_file(problems: Sequence[Problem]) -> Iterable[list[Problem]]:
    files: dict[str, list[Problem]] = {}
    for problem in problems:
        files.setdefault(problem.location.file, []).append(problem)
    return files.values()


def _applied(texts: Mapping[str, bytes], problems: Iterable[Problem]) -> dict[str, bytes]:
    edits: dict[str, list[Edit]] = {}
    for problem in problems:
        made = edits.setdefault(problem.location.file, [])
        if not any(_meet(edit, other) for edit in problem.fix for other in made):
            made += problem.fix
    return {name: _edited(text, edits[name]) if name in edits else text for name, text in texts.items()}


def _meet(a: Edit, b: Edit) -> bool:
    return a.line == b.line and a.column <= b.column + b.width and b.column <= a.column + a.width


def _edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    mark = _BOM if text.startswith(_BOM) else ""
    pieces = _BREAK.split(text.removeprefix(mark))
    for edit in sorted(edits, reverse=True):
        row, start = 2 * (edit.line - 1), edit.column - 1
        pieces[row] = pieces[row][:start] + edit.text + pieces[row][start + edit.width :]
    return (mark + "".join(pieces)).encode("utf-8", "surrogateescape")
