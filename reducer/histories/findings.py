"""What `validate` finds: its codes, its findings, and their lines and columns in the file."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from importlib.resources import files
from typing import Any, Literal, NamedTuple

Path = tuple[str | int, ...]
"""Keys and indexes from the outermost value to a place."""

Severity = Literal["error", "warning"]

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[][{}:,]|[^] \t\n\r"[{}:,]+', re.DOTALL)
DEEPEST = 200
"""Levels of nesting that PydanticAI's parser accepts."""
_LONGEST = 60
_NAMES = 100


class Code(NamedTuple):
    """One kind of finding. `refused_by` names who refuses the history; it is empty if nobody does."""

    severity: Severity
    meaning: str
    refused_by: str = ""


def _codes() -> dict[str, Code]:
    data = json.loads((files("reducer.histories") / "codes.json").read_text("utf-8"))
    return {name: Code(*fields) for name, fields in data.items()}


CODES = _codes()
"""Every code by its name. A code keeps its meaning."""


class Finding(NamedTuple):
    """What is wrong at one place. `line` and `column` count from 1, columns in characters; 0 means not known yet."""

    code: str
    path: Path
    message: str
    line: int = 0
    column: int = 0

    @property
    def severity(self) -> Severity:
        """Return `error` or `warning`."""
        return CODES[self.code].severity


def path_text(path: Sequence[str | int]) -> str:
    """Return a path in JMESPath: `messages[3].parts[1].args`; `@` for the whole."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{_field(step)}" for step in path]
    return "".join(steps).removeprefix(".") or "@"


def _field(key: str) -> str:
    return key if key.isidentifier() else json.dumps(key, ensure_ascii=False)


def locate(text: str, findings: Sequence[Finding], first_line: int = 1) -> list[Finding]:
    """Return the findings in the order of the text, each with its line and column.

    A finding at a path that is not in the text, such as a missing key, gets the position of the enclosing value.
    """
    if not findings:
        return []
    wanted = {path[:end] for _, path, *_ in findings for end in range(len(path) + 1)}
    starts = {path: start for path, start in values(text, max(map(len, wanted))) if path in wanted}
    breaks = [newline.start() for newline in re.finditer("\n", text)]

    def located(finding: Finding) -> Finding:
        if finding.line:
            return finding
        path = finding.path
        start = next((starts[path[:end]] for end in range(len(path), -1, -1) if path[:end] in starts), 0)
        line = bisect_left(breaks, start)
        return finding._replace(line=first_line + line, column=start - (breaks[line - 1] if line else -1))

    return sorted(map(located, findings), key=lambda finding: (finding.line, finding.column))


def values(text: str, depth: int = DEEPEST) -> Iterator[tuple[Path, int]]:
    """Yield the path and the offset of each value of a JSON text in order, down to `depth` levels. Raises nothing."""
    path: list[str | int | None] = []  # None while the next token is a key
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == ":" or (mark in "]}," and not path):
            continue
        if mark in "]}":
            path.pop()
        elif mark == ",":
            step = path[-1]
            path[-1] = step + 1 if isinstance(step, int) else None
        elif path and path[-1] is None:
            path[-1] = _key(mark)
        else:
            if len(path) <= depth:
                yield tuple(path), token.start()  # type: ignore[arg-type]
            if mark in "[{":
                path.append(0 if mark == "[" else None)


def _key(mark: str) -> str:
    try:
        return str(json.loads(mark)) if "\\" in mark else mark[1:-1]
    except ValueError:
        return mark


def described(value: Any) -> str:
    """Describe a JSON value in a few words."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return f"the number {short(value)}"
    if isinstance(value, str):
        return f"the text {short(value)}" if value else "an empty text"
    if isinstance(value, list):
        return f"a list of {len(value):,}" if value else "an empty list"
    return "an object" if value else "an empty object"


def short(value: Any) -> str:
    """Return a text or a number as JSON of at most sixty characters."""
    text = json.dumps(value[: _LONGEST + 1] if isinstance(value, str) else value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def suggestion(name: Any, known: Iterable[str]) -> str:
    """Return the known name that is most similar as the end of a message; empty if none is similar."""
    if not isinstance(name, str) or len(name) > 200:
        return ""
    candidates = [other for other, _ in zip(known, range(_NAMES), strict=False)]
    similar = get_close_matches(name, candidates, 1, 0.6)
    return f"; did you mean `{similar[0]}`?" if similar else ""
