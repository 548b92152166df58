"""The findings of `validate`: their codes, and their lines and columns in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import msgspec

Path = tuple[str | int, ...]
"""The keys and indexes that lead from the outermost value to a place."""

Severity = Literal["error", "warning"]

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[][{}:,]|[^] \t\n\r"[{}:,]+', re.DOTALL)
_MAX_CHARS = 60


class Code(NamedTuple):
    """A kind of finding. `refused_by` names the programs that refuse the history, if any."""

    severity: Severity
    meaning: str
    refused_by: str = ""


CODES = msgspec.json.decode((files("reducer.histories") / "codes.json").read_bytes(), type=dict[str, Code])
"""Every code by its name. The meaning of a code never changes."""


class Finding(NamedTuple):
    """A problem at one place. `line` and `column` (in characters) count from 1; 0 means not located yet."""

    code: str
    path: Path
    message: str
    line: int = 0
    column: int = 0

    @property
    def severity(self) -> Severity:
        """Return `error` or `warning`."""
        return CODES[self.code].severity


def locate(data: bytes, findings: Sequence[Finding], first_line: int = 1) -> list[Finding]:
    """Return the findings in the order of a JSON text, each with its line and column.

    A finding at a missing path, such as that of a missing key, gets the position of the enclosing value.
    """
    wanted = {path[:end] for _, path, *_ in findings for end in range(len(path) + 1)}
    if not wanted:
        return []
    starts = {path: start for path, start in values(data, max(map(len, wanted))) if path in wanted}
    placed = []
    for finding in findings:
        enclosing = (finding.path[:end] for end in range(len(finding.path), -1, -1))
        placed.append((next((starts[path] for path in enclosing if path in starts), 0), finding))
    located = []
    at, line, column = 0, first_line, 1
    for start, finding in sorted(placed, key=lambda one: one[0]):
        between = data[at:start].decode(errors="replace")
        line += between.count("\n")
        column = len(between) - between.rfind("\n") if "\n" in between else column + len(between)
        at = start
        located.append(finding._replace(line=line, column=column))
    return located


def values(data: bytes, depth: int = 200) -> Iterator[tuple[Path, int]]:
    """Yield the path and the byte offset of each value of a JSON text, down to `depth` levels. Never raise."""
    path: list[str | int | None] = []  # ends with None if the next token is a key
    for token in _TOKEN.finditer(data):
        mark = token[0]
        if mark == b":" or (mark in b"]}," and not path):
            continue
        if mark in b"]}":
            path.pop()
        elif mark == b",":
            step = path[-1]
            path[-1] = step + 1 if isinstance(step, int) else None
        elif path and path[-1] is None:
            path[-1] = _key(mark)
        else:
            if len(path) <= depth:
                yield tuple(path), token.start()  # type: ignore[arg-type]
            if mark in b"[{":
                path.append(0 if mark == b"[" else None)


def _key(mark: bytes) -> str:
    try:
        return str(json.loads(mark))
    except ValueError:
        return mark.decode(errors="replace")


def described(value: Any) -> str:
    """Describe a JSON value for a message."""
    if isinstance(value, str):
        return f"the text {short(value)}" if value else "an empty text"
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value):,}" if value else "an empty list"
    return short(value) if value is None or isinstance(value, bool) else f"the number {short(value)}"


def short(value: Any) -> str:
    """Return a scalar as JSON, shortened to 60 characters."""
    text = json.dumps(value[: _MAX_CHARS + 1] if isinstance(value, str) else value, ensure_ascii=False)
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS - 1]}…"
