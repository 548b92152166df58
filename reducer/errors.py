"""Errors, and problems of rule files as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A position in a text file: `line` and `column` count from 1, columns in characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Edit(NamedTuple):
    """A change of a text file: replace the `width` characters from `column` in `line` (both from 1) with `text`."""

    line: int
    column: int
    width: int
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem at one location: `excerpt` is the line, `width` the number of characters under the caret.

    `code` is a key of `reducer/rules/diagnostics.toml`: `E` for errors or `W` for warnings, and three digits. `fix`
    corrects the problem as the author intends, and is empty if the intention is not certain.
    """

    location: Location
    code: str
    message: str
    help: str = ""
    excerpt: str = ""
    width: int = 1
    fix: tuple[Edit, ...] = ()

    @property
    def severity(self) -> Literal["error", "warning"]:
        """Return whether the problem is an error or a warning."""
        return "warning" if self.code.startswith("W") else "error"

    def __str__(self) -> str:
        lines = [f"{self.location}: {self.severity}[{self.code}]: {self.message}", *self.excerpt_lines()]
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)

    def excerpt_lines(self) -> list[str]:
        """Return the excerpt and the caret below it, or nothing without an excerpt."""
        if not self.excerpt:
            return []
        number = str(self.location.line)
        margin = " " * len(number)
        # A tab stays a tab below the line, so that the terminal puts the caret under the character.
        lead = "".join("\t" if c == "\t" else " " for c in self.excerpt[: self.location.column - 1])
        return [f"  {number} | {self.excerpt}", f"  {margin} | {lead}{'^' * max(1, self.width)}"]


class RuleError(ValueError):
    """Rule files that cannot be used: `problems` has a `Diagnostic` for every error, ordered by file and line."""

    def __init__(self, problems: tuple[Diagnostic, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))


class HistoryError(ValueError):
    """A text that is not a history: the message names the file or position and what was expected."""


class ArchiveError(OSError):
    """An archive that cannot be used: the message names the file and the reason."""
