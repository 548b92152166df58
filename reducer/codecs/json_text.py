"""Texts that hold JSON, read as what they say."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from reducer.reading import is_deep

_TOO_LARGE = re.compile(r"[0-9]{309}|[eE]\+?0*[1-9][0-9]{2}")
_BLANK = " \t\r\n"


def read_json(text: str) -> Any:
    """Read a text that as a whole is a JSON object or list; any other text comes back as it is.

    Other is also what could not be written back without loss: duplicate keys, NaN, numbers out of range, deeper than `reading.DEEPEST`.
    """
    stripped = text.strip(_BLANK)
    if stripped[:1] not in ("{", "[") or stripped[-1:] not in ("}", "]"):
        return text
    try:
        value = (_EXACT if _TOO_LARGE.search(stripped) else _PLAIN).decode(stripped)
    except (ValueError, RecursionError):
        return text
    return text if is_deep(value, len(stripped)) else value


def read_quoted(text: str) -> str:
    """Read a text that as a whole is a JSON string; any other text comes back as it is."""
    try:
        said = _PLAIN.decode(text)
    except (ValueError, RecursionError):
        return text
    return said if type(said) is str else text


def read_lines(text: str) -> tuple[list[Any], list[str], str, str] | None:
    """Read JSON lines, at least two, each an object or list: their values, their texts, what is between them, and what is after the last."""
    body = text.rstrip("\r\n")
    between = "\r\n" if "\r\n" in body else "\n"
    lines = body.split(between)
    if len(lines) < 2 or lines[0][-1:] not in ("}", "]"):
        return None
    values = []
    for line in lines:
        value = read_json(line)
        if value is line:
            return None
        values.append(value)
    return values, lines, between, text[len(body) :]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _in_range(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(f"{text} is out of range")
    return number


_PLAIN = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)
_EXACT = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse, parse_float=_in_range)
