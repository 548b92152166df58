"""JSON values: contents as rules see them, their length for the model, and their canonical text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from types import NoneType
from typing import Any

from pydantic_core import CoreConfig, PydanticSerializationError, SchemaSerializer, to_json
from pydantic_core.core_schema import any_schema

MAX_DEPTH = 128
"""Levels of nesting that rules see: a fixed bound, so that the call stack has no influence."""

MOST_CHARS = 1 << 26
"""Characters of the longest text that is parsed or scanned for entities, which takes about three seconds."""

PLAIN = frozenset({dict, list, str, int, float, bool, NoneType})
"""The types of parsed JSON. For any other type rules see what `shown` returns."""
_SCALARS = frozenset({str, int, bool, NoneType})

# The media items of `pydantic_ai.messages`: the texts that each kind requires, and the types of the fields that any
# item can have. Releases store different ones.
_MEDIA = {
    **dict.fromkeys(("image-url", "audio-url", "video-url", "document-url"), ("url",)),
    "binary": ("data", "media_type"),
    "uploaded-file": ("file_id", "provider_name"),
}
_OPTIONAL_TEXT = frozenset({str, NoneType})
_MEDIA_FIELDS = {
    "kind": frozenset({str}),
    **dict.fromkeys(("media_type", "_media_type", "identifier", "_identifier"), _OPTIONAL_TEXT),
    "vendor_metadata": frozenset({dict, NoneType}),
}


class Unreducible(Exception):
    """A content that stays unchanged: too deep, or with a value that has no JSON form. The API never raises it."""


def is_media(value: Any) -> bool:
    """Return whether a value is a media item (image, audio, document, upload), as an object or as stored JSON.

    An object of any class is a media item if it is stored as one.
    """
    kind = type(value)
    if kind is dict:
        return _is_stored_media(value)
    if kind in PLAIN:
        return False
    name = getattr(value, "kind", None)
    if not isinstance(name, str) or name not in _MEDIA:
        return False
    # The class shows it for PydanticAI's own items: do not encode their bytes.
    if any(base.__module__ == "pydantic_ai.messages" for base in kind.__mro__):
        return True
    try:
        stored = _jsonable(value)
    except Unreducible:
        return False
    return type(stored) is dict and _is_stored_media(stored)


def _is_stored_media(item: dict[str, Any]) -> bool:
    kind = item.get("kind")
    if type(kind) is not str or kind not in _MEDIA:
        return False
    required = _MEDIA[kind]
    return all(type(item.get(name)) is str for name in required) and all(
        name in required
        or type(value) in _MEDIA_FIELDS.get(name, ())
        or (name == "force_download" and required == ("url",) and (type(value) is bool or value == "allow-local"))
        for name, value in item.items()
    )


def shown(value: Any) -> Any:
    """Return a value as it is stored: a model, dataclass, tuple, enum or date as JSON types, NaN and infinity as null.

    Returns the same object for a plain value, without entering containers, and for a media item.
    Raises `Unreducible` for an object that has no JSON form.
    """
    kind = type(value)
    if kind is float:
        return value if value - value == 0 else None
    if kind is dict:
        try:
            "".join(value)  # the fastest check that all keys are texts: 0.15 µs for twelve keys
        except TypeError:
            return {_key(key): item for key, item in value.items()}
        return value
    if kind in PLAIN or is_media(value):
        return value
    if hasattr(value, "__plain__"):
        return value.__plain__()
    # Convert one level of a container of another type, so that its media items keep their identity.
    if isinstance(value, dict):
        return {_key(key): item for key, item in value.items()}
    return list(value) if isinstance(value, (list, tuple)) else _jsonable(value)


def _jsonable(value: Any) -> Any:
    if hasattr(value, "__next__"):
        raise Unreducible(f"a {type(value).__name__} can be read once only")
    try:
        return _stored.to_python(value, mode="json")
    except (PydanticSerializationError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Unreducible(f"a {type(value).__name__} has no JSON form") from error


def _key(key: Any) -> str:
    return str(next(iter(_stored.to_python({key: None}, mode="json"))))


# What PydanticAI's own adapter does with a content: field names unless a model's configuration says
# `serialize_by_alias`.
_stored = SchemaSerializer(any_schema(), CoreConfig(ser_json_bytes="base64", ser_json_inf_nan="null"))


def stored_json(value: Any) -> bytes:
    """Return the bytes that PydanticAI stores for a content: compact JSON in UTF-8.

    Raises `ValueError` (`PydanticSerializationError` is one) for a value without a JSON form.
    """
    return _stored.to_json(value)


def plain(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a value with everything in it as stored, the same object if nothing differs.

    Raises `Unreducible` beyond `depth` levels.
    """
    if depth < 0:
        raise Unreducible(f"deeper than {MAX_DEPTH} levels")
    value = shown(value)
    kind = type(value)
    if kind is not dict and kind is not list:
        return value if kind in PLAIN else _jsonable(value)
    new = None
    for key, item in value.items() if kind is dict else enumerate(value):
        if type(item) not in _SCALARS:
            stored = plain(item, depth - 1)
            if stored is not item:
                new = value.copy() if new is None else new
                new[key] = stored
    return value if new is None else new


def dump(value: Any) -> str:
    """Return the canonical JSON text of a value: no spaces, non-ASCII characters as they are, lone surrogates escaped.

    Raises `ValueError` for NaN and infinity.
    """
    return escaped(_encode(value))


def escaped(text: str) -> str:
    """Return a text with its lone surrogates as JSON escapes, so that it can be encoded."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


_encode: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
).encode


def chars(value: Any, bound: float = float("inf")) -> int:
    """Return the number of characters that the model sees: those of a text, or of anything else as compact JSON.

    Counting stops beyond `bound`, with some number above it. Raises `Unreducible` beyond `MAX_DEPTH` levels.
    """
    if type(value) not in PLAIN:
        value = shown(value)
    return len(value) if type(value) is str else _json_chars(value, bound, MAX_DEPTH)


_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_LONG_ESCAPES = re.compile(r"[\x00-\x07\x0b\x0e-\x1f]")


def _text_chars(text: str) -> int:
    count = len(text) + 2
    if not text.isalnum() and _ESCAPED.search(text):
        count += len(_ESCAPED.findall(text)) + 4 * len(_LONG_ESCAPES.findall(text))
    return count


def _number_chars(value: float) -> int:
    if value - value != 0:
        return 4  # null
    try:
        text = repr(value)
    except ValueError as error:
        raise Unreducible("a number of more digits than Python writes") from error
    return len(to_json(value)) if "e-0" in text else len(text)  # JSON has 1e-7 for 1e-07, and 0.00001 for 1e-05


def _json_chars(value: Any, bound: float, depth: int) -> int:
    kind = type(value)
    if kind is str:
        return _text_chars(value)
    if kind is dict or kind is list:
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        value = shown(value)
        count = max(2, len(value) + 1)
        if kind is dict:
            for key in value:
                count += _text_chars(key) + 1
        for item in value.values() if kind is dict else value:
            count += _text_chars(item) if type(item) is str else _json_chars(item, bound - count, depth - 1)
            if count > bound:
                break
        return count
    if value is None or value is True:
        return 4
    if value is False:
        return 5
    if kind is int or kind is float:
        return _number_chars(value)
    stored = shown(value)
    if type(stored) in PLAIN:
        return _json_chars(stored, bound, depth - 1)
    return len(_encode(_jsonable(stored)))
