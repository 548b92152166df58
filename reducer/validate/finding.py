"""One thing that is found in a stored history, and how its place is written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from reducer.validate.codes import CODES, Severity

Path = tuple[str | int, ...]
"""Keys and indexes from the outermost value to a place."""

_LOOKED_AT = 300
_LONGEST = 60


class Finding(NamedTuple):
    """What is wrong at one place: `line` and `column` count from 1 in the file, columns in characters, 0 where they are not known."""

    code: str
    path: Path
    message: str
    line: int = 0
    column: int = 0

    @property
    def severity(self) -> Severity:
        """Tell whether it is an error or a warning."""
        return CODES[self.code].severity

    @property
    def place(self) -> str:
        """Write the path: `[3].parts[1].tool_call_id`, `@` for the whole."""
        return written(self.path)


def written(path: Sequence[str | int]) -> str:
    """Write a path as JMESPath does: `messages[3].parts[1].args`, keys that are no words in quotes; `@` for an empty one."""
    pieces: list[str] = []
    for step in path:
        if isinstance(step, int):
            pieces.append(f"[{step}]")
        else:
            pieces += ("." if pieces else "", step if step.isidentifier() else json.dumps(step, ensure_ascii=False))
    return "".join(pieces) or "@"


def nearest(name: Any, known: Iterable[str]) -> str:
    """Name the nearest of some names, as the end of a sentence; empty when none is near."""
    if not isinstance(name, str) or len(name) > 200:
        return ""
    few = [other for other, _ in zip(known, range(_LOOKED_AT), strict=False)]
    found = get_close_matches(name, few, 1, 0.6)
    return f"; did you mean `{found[0]}`?" if found else ""


def described(value: Any) -> str:
    """Say what a JSON value is, in few characters."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return f"the number {short(value)}"
    if isinstance(value, str):
        return f"the text {short(value)}" if value else "an empty text"
    if isinstance(value, list):
        return f"a list of {len(value):,}" if value else "an empty list"
    return "an object" if value else "an empty object"


def short(value: Any) -> str:
    """Write a text or number as JSON, cut to some sixty characters."""
    try:
        text = json.dumps(value[: _LONGEST + 1] if isinstance(value, str) else value, ensure_ascii=False)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "of very many digits"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
