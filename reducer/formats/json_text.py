"""JSON, JSON strings and JSON lines."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from reducer.formats.nodes import Bracketed, Format
from reducer.markers import is_repeat, read_item
from reducer.values import MAX_DEPTH, dump, is_deep

_BLANK = " \t\r\n"


def read_json(text: str, levels: int = MAX_DEPTH) -> Any:
    """Return the object or list that the whole text encodes, or None for any other text.

    Also return None if the value cannot be written back without loss: it contains a duplicate key, `NaN` or a number
    that is out of range, or is nested deeper than `levels`.
    """
    stripped = text.strip(_BLANK)
    if stripped[:1] not in ("{", "[") or stripped[-1:] not in ("}", "]"):
        return None
    value = _decoded(stripped)
    return None if is_deep(value, len(stripped), levels) else value


def read_string(text: str) -> str | None:
    """Return the text that a JSON string encodes, or None if the text is not a JSON string."""
    value = _decoded(text)
    return value if type(value) is str else None


def _decoded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def read_json_lines(text: str) -> tuple[list[Bracketed | str], Format] | None:
    """Return the items and the format of JSON lines: two or more lines, each an object or list. None for other text.

    The last lines can also be the markers of an earlier pass, as JSON strings.
    """
    body = text.rstrip("\r\n")
    between = "\r\n" if "\r\n" in body else "\n"
    lines = body.split(between)
    if len(lines) < 2 or lines[0][-1:] not in ("}", "]"):
        return None
    items: list[Bracketed | str] = []
    for line in lines:
        value = read_json(line, MAX_DEPTH - 1)
        if value is not None:
            items.append(Bracketed(value, source=line))
            continue
        marker = read_string(line) if len(items) >= len(lines) - 2 else None
        if marker is None or not (is_repeat(marker) or _is_last(marker, len(items), lines)):
            return None
        items.append(marker)
    after = text[len(body) :]
    return items, Format("JSON lines", lambda items: between.join(map(_line, items)) + after, least=2)


def _is_last(marker: str, at: int, lines: list[str]) -> bool:
    """Return whether a text is the last line and counts items, whichever entities the rule knows."""
    return at == len(lines) - 1 and read_item(marker, lambda name: True) is not None


def _line(item: Any) -> str:
    # A marker among the items is a JSON string.
    return item.source or dump(item.value) if type(item) is Bracketed else dump(item)


def in_range(text: str) -> float:
    """Return the number that a text expresses. Raise `ValueError` if a float cannot represent it."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is out of range")
    return number


class DuplicateKey(ValueError):
    """An object contains a duplicate key."""


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object with these members. Raise `DuplicateKey`."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise DuplicateKey
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=distinct, parse_constant=_refuse, parse_float=in_range)
