"""Contents of tool returns as they are stored: decoded from JSON, and encoded again after they changed."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from reducer.strict_json import is_deep

_TOO_DEEP = "it is nested too deep to be read"
NO_CONTENT = "its content is no text, list or object"

_SURROGATE = re.compile("[\ud800-\udfff]")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


class _RepeatedKey(ValueError):
    pass


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RepeatedKey
    return value


_strict = json.JSONDecoder(object_pairs_hook=_distinct).decode
_lenient = json.JSONDecoder().decode


def decode(piece: bytes) -> tuple[Any, str]:
    """Decode a content; return it with the reason why rules never apply to it, empty if they do.

    A content that is too deep or has a number that is too long is None.
    """
    text = piece.decode()
    why = ""
    try:
        try:
            value = _strict(text)
        except _RepeatedKey:
            value, why = _lenient(text), "an object in it has the same key twice"
        if is_deep(value, len(text)):
            return None, _TOO_DEEP
    except RecursionError:
        return None, _TOO_DEEP
    except ValueError:
        return None, "a number in it has more digits than can be read"
    return value, why if type(value) in (str, list, dict) else NO_CONTENT


def encode(value: Any) -> bytes:
    """Encode a content as PydanticAI does: compact, non-ASCII as it is, lone surrogates as escapes."""
    try:
        return to_json(value, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError):
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", _encode(value)).encode()


def can_encode(new: Any, encoded: bytes, original: bytes) -> bool:
    """Tell whether a changed content keeps its numbers: one such as 1e400 is read as infinity."""
    return type(new) is str or b"Infinity" not in encoded or b"Infinity" in original
