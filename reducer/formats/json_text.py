"""JSON, JSON strings and JSON lines."""

from __future__ import annotations

import gc
import json
import math
from typing import Any, NoReturn

from reducer.formats.nodes import Bracketed
from reducer.values import MAX_DEPTH, dump

_BLANK = " \t\r\n"


def read_json(text: str) -> Any:
    """Return the object or list that a text as a whole encodes, None for any other text.

    Other texts include those that could not be written back without loss: duplicate keys, `NaN`, numbers out of range,
    more than `MAX_DEPTH` levels.
    """
    stripped = text.strip(_BLANK)
    if stripped[:1] not in ("{", "[") or stripped[-1:] not in ("}", "]"):
        return None
    try:
        value = _DECODER.decode(stripped)
    except (ValueError, RecursionError):
        return None
    return None if _is_deep(value, stripped) else value


def read_string(text: str) -> str | None:
    """Return the text that a JSON string encodes, None for any other text."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if type(value) is str else None


def read_json_lines(text: str) -> tuple[list[Bracketed], str, str] | None:
    """Return the lines of JSON lines, the line end between them, and the line ends after the last.

    There are at least two lines, and each is an object or list. Return None for any other text.
    """
    body = text.rstrip("\r\n")
    between = "\r\n" if "\r\n" in body else "\n"
    lines = body.split(between)
    if len(lines) < 2 or lines[0][-1:] not in ("}", "]"):
        return None
    items = []
    for line in lines:
        value = read_json(line)
        if value is None:
            return None
        items.append(Bracketed(value, source=line))
    return items, between, text[len(body) :]


def write_line(item: Any) -> str:
    """Return the line of an item: as it came if its value did not change. A marker among the items is a JSON string."""
    if type(item) is Bracketed:
        return item.source or dump(item.value)
    return dump(item)


def in_range(text: str) -> float:
    """Return the number that a text expresses. Raise `ValueError` for one that a float cannot hold."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is out of range")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate key")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _is_deep(value: Any, text: str) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    # Level by level at C speed: a container refers to its items, a scalar to nothing.
    level = [value]
    for _ in range(MAX_DEPTH):
        level = gc.get_referents(*level)
        if not level:
            return False
    return any(type(item) is list or type(item) is dict for item in level)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse, parse_float=in_range)
