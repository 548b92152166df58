"""Exceptions, problems in rule files as data, and words of messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, NamedTuple

_SIMILAR, _MISSPELT = 0.7, 0.8
"""The similarity of a name that was probably meant, and of one that was certainly meant."""
_MAX_NAME = 200
"""The number of characters in which names are compared; this takes quadratic time."""


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A position in a text file. `line` and `column` (in characters) start at 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Edit(NamedTuple):
    """A change to a text file: `text` replaces `width` characters at `line` and `column`, which start at 1."""

    line: int
    column: int
    width: int
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem at one location of a rule file.

    `code`: a key of `reducer/rules/diagnostics.toml`, `E` (error) or `W` (warning) and three digits.
    `excerpt` and `width`: the line, and the number of characters to underline.
    `fix`: edits that correct the problem, or none if it is not clear what the author intended.
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
        """The severity, as the code implies."""
        return "warning" if self.code.startswith("W") else "error"

    def __str__(self) -> str:
        lines = [f"{self.location}: {self.severity}[{self.code}]: {self.message}", *self.excerpt_lines()]
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)

    def excerpt_lines(self) -> list[str]:
        """Return the excerpt and a line with carets below it, or nothing if there is no excerpt."""
        if not self.excerpt:
            return []
        number = str(self.location.line)
        margin = " " * len(number)
        # Repeat tabs, so that a terminal shows the carets below the right characters.
        lead = "".join("\t" if c == "\t" else " " for c in self.excerpt[: self.location.column - 1])
        return [f"  {number} | {self.excerpt}", f"  {margin} | {lead}{'^' * self.width}"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 file`, `2,000 files`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def shortened(text: str, width: int = 60, tail: int = 0) -> str:
    """Shorten a text for the screen to at most `width` characters of its first line; `…` stands for the rest.

    The last `tail` characters of a longer text stay, so that texts that begin alike differ.
    """
    head = text[: width + 1].split("\n", 1)[0]
    if head == text and len(text) <= width:
        return text
    end = text[len(text) - tail :] if tail else ""
    return f"{head[: width - tail - 1]}…{end}"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the name in `known` that was probably meant, or an empty text.

    Upper and lower case are equal, and so are `-`, `_` and blanks. A name with the same letters comes first.
    """
    names: dict[str, str] = {}
    for name in known:
        names.setdefault(_folded(name), name)
    meant = _folded(word)
    if meant in names:
        return names[meant]
    exchanged = [name for name in names if sorted(name) == sorted(meant)]
    similar = exchanged or get_close_matches(meant, names, 1, _SIMILAR)
    return names[similar[0]] if similar else ""


def did_you_mean(name: str) -> str:
    """Ask whether a name was meant: the result of `nearest`, which may be empty."""
    return f"did you mean `{name}`?" if name else ""


def is_typo(word: str, name: str, known: Iterable[str]) -> bool:
    """Return whether `word` is a misspelling of `name` and of no other word in `known`.

    The first letter and the digits must be equal: `md4` and `crop` are not misspellings of `md5` and `drop`.
    """
    alike = word[:1] == name[:1] and re.findall(r"\d", word) == re.findall(r"\d", name)
    return alike and get_close_matches(word, {*known, name}, 2, _MISSPELT) == [name]


def _folded(name: str) -> str:
    return name[:_MAX_NAME].strip().casefold().replace("-", "_").replace(" ", "_")


def reason(error: Exception) -> str:
    """Return the reason of a failed read or write, without file name and error number."""
    return getattr(error, "strerror", None) or str(error)


class RuleError(ValueError):
    """Rule files cannot be used. `problems` contains a `Diagnostic` for every error, ordered by file and line."""

    def __init__(self, problems: tuple[Diagnostic, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))


class HistoryError(ValueError):
    """A text is not a history. The message names the file or position and explains what was expected."""


class FileError(ValueError):
    """A file cannot be read or written, or does not contain what is expected. The message names the file."""


class ArchiveError(OSError):
    """An archive cannot be used. The message names the file and the reason."""
