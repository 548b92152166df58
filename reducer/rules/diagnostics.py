"""Diagnostics of a rule file with positions and excerpts; `diagnostics.toml` describes their codes."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from reducer.errors import Diagnostic, Edit, Location

MAX_DIAGNOSTICS = 100
"""The maximum number of diagnostics per file."""
_EXCERPT = 200
_MAX_COLUMN = 1000
UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Characters that YAML or a terminal cannot show."""


class Entry(NamedTuple):
    """A kind of problem: its cause in one sentence, the default advice, and a wrong and a right example."""

    name: str
    cause: str
    help: str = ""
    wrong: str = ""
    right: str = ""


@cache
def catalogue() -> Mapping[str, Entry]:
    """Return all kinds of problems by code."""
    text = files("reducer.rules").joinpath("diagnostics.toml").read_text(encoding="utf-8")
    return {code: Entry(**entry) for code, entry in tomllib.loads(text).items()}


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters in a line; `line` and `column` count from 1."""

    line: int
    column: int
    width: int

    def edit(self, text: str) -> tuple[Edit, ...]:
        """Return the fix that replaces this range with `text`."""
        return (Edit(self.line, self.column, self.width, text),)


@dataclass(frozen=True, slots=True)
class Report:
    """Collects at most `MAX_DIAGNOSTICS` diagnostics of a rule file; `source` is the number of the file's source."""

    file: str
    lines: tuple[str, ...]
    problems: list[Diagnostic] = field(default_factory=list)
    source: int = 0

    def add(self, span: Span, code: str, message: str, advice: str = "", fix: tuple[Edit, ...] = ()) -> None:
        """Add a diagnostic at a span; without `help`, use the default advice of its code."""
        if len(self.problems) == MAX_DIAGNOSTICS:
            return
        row = min(span.line, len(self.lines))  # libyaml can place an empty value below the last line
        line = self.lines[row - 1]
        column = min(span.column, len(line) + 1)
        shown = line[: max(_EXCERPT, column + 20)] if column <= _MAX_COLUMN else ""
        self.problems.append(
            Diagnostic(
                Location(self.file, row, column),
                code,
                message,
                advice or (catalogue()[code].help if code else ""),
                excerpt=UNREADABLE.sub("\ufffd", shown),
                width=max(1, min(span.width, len(line) - column + 1)),
                fix=fix,
            )
        )

    @property
    def has_errors(self) -> bool:
        """Whether a problem is an error."""
        return any(problem.severity == "error" for problem in self.problems)

    def in_order(self) -> list[Diagnostic]:
        """Return the diagnostics ordered by position; the first error at a position causes the others there."""
        causes: dict[Location, Diagnostic] = {}
        for problem in self.problems:
            if problem.severity == "error":
                causes.setdefault(problem.location, problem)
        shown = (problem for problem in self.problems if causes.get(problem.location, problem) is problem)
        return sorted(shown, key=lambda problem: problem.location)


def quoted(text: str) -> str:
    """Put a text in quotes, without escapes if possible."""
    if not {'"', "\\"} & set(text):
        return f'"{text}"'
    return json.dumps(text, ensure_ascii=False) if "'" in text else f"'{text}'"


def written(value: Any) -> str:
    """Write a value as one line of YAML, and a text as JSON if YAML doubles its quotes."""
    if isinstance(value, dict) and value:
        return f"{{{', '.join(f'{written(key)}: {written(item)}' for key, item in value.items())}}}"
    if isinstance(value, list) and value:
        return f"[{', '.join(map(written, value))}]"
    # A list in brackets is always one line; without it, PyYAML ends plain scalars with `...`.
    line = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=1 << 30).strip()[1:-1]
    return json.dumps(value, ensure_ascii=False) if "''" in line else line
