"""JSON values: what a tool return looks like to rules, how long it is for the model, and its one canonical text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from pydantic_core import CoreConfig, PydanticSerializationError, SchemaSerializer, to_json
from pydantic_core.core_schema import any_schema

MAX_DEPTH = 128
"""Levels of nesting that are looked at: a fixed bound and not the interpreter's, so that the caller's stack plays no part."""

MOST_CHARS = 1 << 26
"""Characters of a text that is read as JSON or for entities: about three seconds of scanning. A longer one is left as it is."""

PLAIN = frozenset({dict, list, str, int, float, bool, type(None)})
"""The types that JSON text becomes. A value of any other type is looked at as `shown` gives it."""

_ATOMIC_KINDS = frozenset({"uploaded-file", "binary"})
_SURROGATE = re.compile("[\ud800-\udfff]")


class Unreducible(Exception):
    """A content that is left as it was: too deep, or with a value that has no JSON form. Never leaves the package."""


def is_media(value: Any) -> bool:
    """Tell whether `value` is a media item (image, audio, document, upload), as an object or as stored JSON.

    PydanticAI marks them by `kind`: `image-url`, `audio-url`, `video-url`, `document-url`, `uploaded-file`, `binary`.
    """
    if type(value) is dict:
        kind = value.get("kind")
    elif type(value) in PLAIN:
        return False
    else:
        kind = getattr(value, "kind", None)
    return type(kind) is str and (kind.endswith("-url") or kind in _ATOMIC_KINDS)


def shown(value: Any) -> Any:
    """Give `value` as it is stored: a model, dataclass, tuple, enum or date as plain JSON types, NaN and infinity as null.

    A plain value comes back as the same object, containers among them unentered; a media item as itself.
    Raises `Unreducible` for an object that has no JSON form.
    """
    kind = type(value)
    if kind is float:
        return value if value - value == 0 else None
    if kind is dict:
        try:
            "".join(value)  # the fastest way to see a key that is no text: 0.15 µs for twelve keys
        except TypeError:
            return _jsonable(value, shallow=True)
        return value
    if kind in PLAIN or is_media(value):
        return value
    return _jsonable(value, shallow=isinstance(value, (list, tuple, dict)))


def _jsonable(value: Any, shallow: bool) -> Any:
    # A container of another type is opened one level, so that its media items keep their identity.
    if shallow and isinstance(value, dict):
        return {_key(key): item for key, item in value.items()}
    if shallow and type(value) is not str:
        return list(value)
    if hasattr(value, "__next__"):
        raise Unreducible(f"a {type(value).__name__} can be read once only")
    try:
        return _stored.to_python(value, mode="json")
    except (PydanticSerializationError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Unreducible(f"a {type(value).__name__} has no JSON form") from error


def _key(key: Any) -> str:
    return str(next(iter(_stored.to_python({key: None}, mode="json"))))


# What PydanticAI's own adapter does with a content: field names unless a model's configuration says `serialize_by_alias`.
_stored = SchemaSerializer(any_schema(), CoreConfig(ser_json_bytes="base64", ser_json_inf_nan="null"))


def stored_json(value: Any) -> bytes:
    """Write `value` as PydanticAI writes a content into a stored history: compact JSON as UTF-8, the same bytes.

    Raises `ValueError` (`PydanticSerializationError` among them) for what has no JSON form.
    """
    return _stored.to_json(value)


def plain(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Give `value` with every value in it as stored; the same object where nothing differs.

    Raises `Unreducible` past `depth` levels.
    """
    if depth < 0:
        raise Unreducible(f"deeper than {MAX_DEPTH} levels")
    value = shown(value)
    kind = type(value)
    if kind is dict:
        new = {key: item if type(item) is str else plain(item, depth - 1) for key, item in value.items()}
        return value if all(map(_same, new.values(), value.values())) else new
    if kind is list:
        items = [item if type(item) is str else plain(item, depth - 1) for item in value]
        return value if all(map(_same, items, value)) else items
    if kind not in PLAIN:
        return _jsonable(value, shallow=False)
    return value


def _same(a: object, b: object) -> bool:
    return a is b


def dump(value: Any) -> str:
    """Write `value` as compact JSON text, the one canonical form: no blanks, non-ASCII as it stands, lone surrogates escaped.

    Raises `ValueError` for NaN and infinity.
    """
    text = _encode(value)
    if not text.isascii() and _SURROGATE.search(text):
        text = _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return text


_encode: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False).encode


def chars(value: Any, bound: int | None = None, depth: int = MAX_DEPTH) -> int:
    """Count the characters that the model is shown for `value`: a text as it stands, anything else as compact JSON.

    Counting stops once it passes `bound`: the result is then some number above it. Raises `Unreducible` past `depth` levels.
    """
    if type(value) not in PLAIN:
        value = shown(value)
    if type(value) is str:
        return len(value)
    return _json_chars(value, float("inf") if bound is None else bound, depth)


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
    return len(to_json(value)) if "e-0" in text else len(text)  # 1e-07 is shown as 1e-7, 1e-05 as 0.00001


def _json_chars(value: Any, bound: float, depth: int) -> int:
    kind = type(value)
    if kind is str:
        return _text_chars(value)
    if kind is dict or kind is list:
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        items = value
        if kind is dict:
            value = shown(value)
            items = value.values()
        count = max(2, len(value) + 1)
        if kind is dict:
            for key in value:
                count += _text_chars(key) + 1
        for item in items:
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
    opened = shown(value)
    if type(opened) in PLAIN:
        return _json_chars(opened, bound, depth - 1)
    return len(_encode(_jsonable(opened, shallow=False)))
