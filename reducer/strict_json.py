"""JSON with the same limit of nesting and the same errors in every version of Python.

Python 3.11 reads about 950 levels, fewer with a deeper call stack, 3.13 reads 10,000, and 3.14 what the stack of the
thread allows. Since 3.13 a trailing comma is reported at the comma and not behind it.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from json.decoder import JSONDecodeError
from typing import Any

DEEPEST = 256
"""Levels of nesting that are read: PydanticAI reads 200, and every Python reads 256 from any call stack."""


def loads(text: str | bytes | bytearray, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Return the value of a JSON text. Raises RecursionError beyond `DEEPEST` levels, ValueError for invalid JSON."""
    value = json.loads(text, parse_constant=parse_constant)
    if is_deep(value, len(text)):
        raise RecursionError(f"nested deeper than {DEEPEST} levels")
    return value


def is_deep(value: Any, length: int, levels: int = DEEPEST) -> bool:
    """Return whether a value from a text of `length` characters has more than so many `levels`."""
    if length <= 2 * levels:
        return False
    # One level at a time at C speed, 2 to 13% of the time of parsing. A text refers to nothing.
    level = [value]
    for _ in range(levels):
        level = gc.get_referents(*level)
        if not level:
            return False
    return any(type(item) is list or type(item) is dict for item in level)


def as_python_3_11(error: JSONDecodeError) -> JSONDecodeError:
    """Return an error with the message and the position that Python 3.11 reports."""
    if not error.msg.startswith("Illegal trailing comma"):
        return error
    text, at = error.doc, error.pos + 1
    while text[at] in " \t\n\r":
        at += 1
    return JSONDecodeError(
        "Expecting value" if text[at] == "]" else "Expecting property name enclosed in double quotes", text, at
    )
