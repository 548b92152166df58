"""Laws of a reduced content, checked with the standard library alone."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from tests.helpers import reduced

_MARKER = re.compile(r"…\[[1-9][0-9]* more (?:characters|items)")

Read = Callable[[str], Any]


def characters(content: Any) -> int:
    """Count the characters of a content as compact JSON, or of a text as it is."""
    if isinstance(content, str):
        return len(content)
    return len(json.dumps(content, ensure_ascii=False, separators=(",", ":")))


def stays_reduced(rule: dict[str, Any], result: Any) -> None:
    """Check law 5, also after a JSON round trip."""
    assert reduced(rule, result) == result
    assert reduced(rule, json.loads(json.dumps(result))) == result


def read_lines(text: str) -> list[Any]:
    """Read JSON lines. Raises `ValueError` for any other text."""
    values = [json.loads(line) for line in text.split("\n")]
    if len(values) < 2 or not all(isinstance(value, (dict, list)) for value in values):
        raise ValueError("no JSON lines")
    return values


def _read_json(text: str) -> Any:
    value = json.loads(text)
    if not isinstance(value, (dict, list)):
        raise ValueError("no object and no list")
    return value


def _read_python(text: str) -> Any:
    value = ast.literal_eval(text)
    if not isinstance(value, (dict, list, tuple)):
        raise ValueError("no container")
    return value


def reader(text: str) -> Read | None:
    """Return what reads the format of a text; None for plain text."""
    for read in (_read_json, read_lines, _read_python):
        try:
            read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return read
    return None


def check_subset(old: Any, new: Any, read: Read | None = None) -> None:
    """Check laws 2 and 4 down to texts in texts, each in the format it came in.

    `read` reads the whole content where its format is known.
    """
    assert is_subset(old, new, read), (old, new)


def is_subset(old: Any, new: Any, read: Read | None = None) -> bool:
    """Return whether `new` is `old` without some keys, items and ranges of text, with markers in their places."""
    if type(old) is not type(new):
        return False
    if isinstance(old, str):
        return old == new or _is_cut(old, new) or _is_subset_within(old, new, read or reader(old))
    if isinstance(old, dict):
        return [key for key in old if key in new] == list(new) and all(
            is_subset(old[key], item) for key, item in new.items()
        )
    if isinstance(old, (list, tuple)):
        has_marker = bool(new) and isinstance(new[-1], str) and _MARKER.match(new[-1]) is not None
        return _is_subsequence(old, new) or (has_marker and _is_subsequence(old, new[:-1]))
    return bool(old == new)


def _is_cut(old: str, new: str) -> bool:
    if new == "":
        return True
    starts = [match.start() for match in _MARKER.finditer(new)]
    return any(old.startswith((new[:start], new[:start].removesuffix(" "))) for start in starts)


def _is_subset_within(old: str, new: str, read: Read | None) -> bool:
    if read is None:
        return False
    try:
        return is_subset(read(old), read(new))
    except (ValueError, SyntaxError):
        return False


def _is_subsequence(old: Any, new: Any) -> bool:
    at = 0
    for item in new:
        while at < len(old) and not is_subset(old[at], item):
            at += 1
        at += 1
        if at > len(old):
            return False
    return True
