"""Texts that hold JSON, read as what they say."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

_TOO_LARGE = re.compile(r"[0-9]{309}|[eE]\+?0*[1-9][0-9]{2}")


def decode(text: str) -> Any:
    """Read a text that as a whole is a JSON object or list; any other text comes back as it is.

    Other is also what could not be written back without loss: duplicate keys, NaN, numbers out of range, deeper than the interpreter reads.
    """
    stripped = text.strip(" \t\r\n")
    if stripped[:1] not in ("{", "[") or stripped[-1:] not in ("}", "]"):
        return text
    try:
        return (_EXACT if _TOO_LARGE.search(stripped) else _PLAIN).decode(stripped)
    except (ValueError, RecursionError):
        return text


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
