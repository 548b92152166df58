"""JSON text read alike by every Python: to one depth, and with the same words and places for what is wrong with it.

Python 3.11 reads some 950 levels, fewer the deeper its caller stands; 3.13 reads 10,000, and 3.14 what the stack of the thread holds.
From 3.13 on a comma too many is told at the comma, and no longer at what follows it.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable
from json.decoder import JSONDecodeError
from typing import Any

DEEPEST = 256
"""Levels of nesting that are read: PydanticAI's own reader goes to 200, and any Python reads these wherever it is called."""

_BRIEF = 2 * DEEPEST
_TOKENS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_BLANKS = " \t\n\r"


def loads(text: str | bytes | bytearray, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Read a JSON text as `json.loads` does. Raises `RecursionError` past `DEEPEST` levels, `ValueError` for what is no JSON."""
    value = json.loads(text, parse_constant=parse_constant)
    if is_deep(value, len(text)):
        raise RecursionError(f"nested deeper than {DEEPEST} levels")
    return value


def is_deep(value: Any, length: int) -> bool:
    """Tell whether a value has more than `DEEPEST` levels, read from a text of `length` characters."""
    if length <= _BRIEF:
        return False
    # A level at a time at C speed, 2 to 13% of the reading: a text refers to nothing, an object to its values, perhaps its keys.
    level = [value]
    for _ in range(DEEPEST):
        level = gc.get_referents(*level)
        if not level:
            return False
    return any(type(item) is list or type(item) is dict for item in level)


def first_fault(error: JSONDecodeError) -> JSONDecodeError | None:
    """Give what is wrong first with a text, as Python 3.11 words and places it; None if it is nested too deep before that."""
    text, at = error.doc, error.pos
    if text.count("[", 0, at) + text.count("{", 0, at) > DEEPEST and _is_deep_before(text, at):
        return None
    return worded(error)


def worded(error: JSONDecodeError) -> JSONDecodeError:
    """Give a fault as Python 3.11 words and places it."""
    if not error.msg.startswith("Illegal trailing comma"):
        return error
    text, at = error.doc, error.pos + 1
    while text[at] in _BLANKS:
        at += 1
    return JSONDecodeError("Expecting value" if text[at] == "]" else "Expecting property name enclosed in double quotes", text, at)


def _is_deep_before(text: str, end: int) -> bool:
    depth = 0
    for token in _TOKENS.finditer(text, 0, end):
        if token[0] in "[{":
            depth += 1
            if depth > DEEPEST:
                return True
        elif token[0] in "]}":
            depth -= 1
    return False
