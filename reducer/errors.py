"""What can be wrong with a rule file or a history, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a text file: `line` and `column` count from 1, columns in characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Edit(NamedTuple):
    """A change of a text file: the `width` characters from `column` on in `line` (both from 1) become `text`."""

    line: int
    column: int
    width: int
    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong at one location: `snippet` is the line as it stands, `width` the characters under the caret.

    `code` is one of `reducer.catalogue`: `E` for errors, `W` for warnings, and three digits. `fix` mends it, where that is safe to do unasked.
    """

    location: Location
    code: str
    message: str
    help: str = ""
    snippet: str = ""
    width: int = 1
    fix: tuple[Edit, ...] = ()

    @property
    def severity(self) -> Literal["error", "warning"]:
        """Tell whether it is an error or a warning."""
        return "warning" if self.code.startswith("W") else "error"

    def __str__(self) -> str:
        lines = [f"{self.location}: {self.severity}[{self.code}]: {self.message}", *self.pointed()]
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)

    def pointed(self) -> list[str]:
        """Write the line as it stands and the caret under it; nothing where it is not known."""
        if not self.snippet:
            return []
        number = str(self.location.line)
        margin = " " * len(number)
        # A tab stays a tab under the line, so that the caret stands where the reader's terminal puts the character.
        lead = "".join("\t" if c == "\t" else " " for c in self.snippet[: self.location.column - 1])
        return [f"  {number} | {self.snippet}", f"  {margin} | {lead}{'^' * max(1, self.width)}"]


class RuleError(ValueError):
    """Rule files that cannot be used: `problems` holds every one that was found, in the order of files and lines."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))


class HistoryError(ValueError):
    """A text that is no history: the message names the file or place and what was expected."""


class ArchiveError(OSError):
    """An archive that cannot be used: the message names the file and why."""
