"""JSON values: how they are read and written, how rules see a content, and how many characters the model sees."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from types import NoneType
from typing import Any

from pydantic_core import CoreConfig, PydanticSerializationError, SchemaSerializer
from pydantic_core.core_schema import any_schema

MAX_DEPTH = 128
"""Maximum levels of nesting in a content, fixed so that results do not depend on the call stack."""

MAX_JSON_DEPTH = 256
"""Maximum levels of nesting in JSON. PydanticAI reads 200; every Python reads 256 from any call stack."""

MAX_TEXT_CHARS = 1 << 26
"""Maximum length of a text that is parsed or scanned for entities, which takes about three seconds."""

PLAIN = frozenset({dict, list, str, int, float, bool, NoneType})
"""The types of parsed JSON. `shown` converts any other type for rules."""
_SCALARS = frozenset({str, int, bool, NoneType})

# The media items of `pydantic_ai.messages`: the required texts of each kind, and the types of all other fields, which
# differ between releases.
_MEDIA = {
    **dict.fromkeys(("image-url", "audio-url", "video-url", "document-url"), ("url",)),
    "binary": ("data", "media_type"),
    "uploaded-file": ("file_id", "provider_name"),
}
_MEDIA_FIELDS = {
    "kind": frozenset({str}),
    **dict.fromkeys(("media_type", "_media_type", "identifier", "_identifier"), frozenset({str, NoneType})),
    "vendor_metadata": frozenset({dict, NoneType}),
    "force_download": frozenset({bool}),
}
_ALLOWED = ("force_download", "allow-local")


class Unreducible(Exception):
    """A content stays unchanged because it is too deep or contains a value without a JSON form. For internal use."""


def loads(text: str | bytes | bytearray, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Return the value of a JSON text, with the same limit of nesting in every version of Python.

    The limit of `json` depends on the version and the call stack: about 950 levels in Python 3.11 and 10,000 in 3.13.
    Raises RecursionError above `MAX_JSON_DEPTH` levels and ValueError for invalid JSON.
    """
    value = json.loads(text, parse_constant=parse_constant)
    if is_deep(value, len(text)):
        raise RecursionError(f"nested deeper than {MAX_JSON_DEPTH} levels")
    return value


def is_deep(value: Any, length: int, levels: int = MAX_JSON_DEPTH) -> bool:
    """Return whether a value that was read from a text of `length` characters has more than `levels` levels."""
    if length <= 2 * levels:
        return False
    # Visit one level at a time at C speed, in 2 to 13% of the time for parsing. Texts and numbers have no referents.
    level = [value]
    for _ in range(levels):
        level = gc.get_referents(*level)
        if not level:
            return False
    return any(type(item) is list or type(item) is dict for item in level)


def is_media(value: Any) -> bool:
    """Return whether a value is a media item (image, audio, document, upload), as stored JSON or as an object.

    An object of any class is a media item if its stored JSON is one.
    """
    kind = type(value)
    if kind is dict:
        return _is_stored_media(value)
    if kind in PLAIN:
        return False
    name = getattr(value, "kind", None)
    if not isinstance(name, str) or name not in _MEDIA:
        return False
    # Recognise PydanticAI's own items by their class, to avoid encoding their bytes.
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
    for name in required:
        if type(item.get(name)) is not str:
            return False
    for name, value in item.items():
        is_text = type(value) is str and (name in required or (name, value) == _ALLOWED)
        if not is_text and type(value) not in _MEDIA_FIELDS.get(name, ()):
            return False
    return True


def shown(value: Any) -> Any:
    """Convert one value to the JSON types that PydanticAI stores; NaN and infinity become null.

    Returns the same object for plain values, whose items are not converted, and for media items.
    Raises `Unreducible` for an object that has no JSON form.
    """
    kind = type(value)
    if kind is float:
        return value if value - value == 0 else None
    if kind is dict:
        try:
            "".join(value)  # the fastest check that all keys are texts
            return value
        except TypeError:
            return {_key(key): item for key, item in value.items()}
    if kind in PLAIN or is_media(value):
        return value
    if hasattr(value, "__plain__"):
        return value.__plain__()
    # Convert only one level of other containers, so that media items in them keep their identity.
    if isinstance(value, dict):
        return shown(dict(value))
    return list(value) if isinstance(value, (list, tuple)) else _jsonable(value)


def _jsonable(value: Any) -> Any:
    if hasattr(value, "__next__"):
        raise Unreducible(f"a {type(value).__name__} can be read only once")
    try:
        return _stored.to_python(value, mode="json")
    except (PydanticSerializationError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Unreducible(f"a {type(value).__name__} has no JSON form") from error


def _key(key: Any) -> str:
    return str(next(iter(_stored.to_python({key: None}, mode="json"))))


# Same settings as PydanticAI's adapter: field names, unless the configuration of a model sets `serialize_by_alias`.
_stored = SchemaSerializer(any_schema(), CoreConfig(ser_json_bytes="base64", ser_json_inf_nan="null"))


def stored_json(value: Any) -> bytes:
    """Return the bytes that PydanticAI stores for a content: compact UTF-8 JSON. Raises `ValueError`."""
    return _stored.to_json(value)


def leaves(value: Any, opened: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield every key, and every value that is neither a list nor an object, in order; contents may be deep.

    `opened` is applied to each value first: it can return what a text contains, or leave out parts of an object.
    """
    waiting = [value]
    while waiting:
        item = opened(waiting.pop())
        if isinstance(item, dict):
            yield from item
            waiting += reversed(item.values())
        elif isinstance(item, (list, tuple)):
            waiting += reversed(item)
        else:
            yield item


def plain(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Convert a value and everything in it as `shown` does; return the same object if nothing changes.

    Raises `Unreducible` above `depth` levels.
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
    """Return the canonical JSON text of a value: without spaces, with only lone surrogates escaped.

    Raises `ValueError` for NaN and infinity, and `Unreducible` for an integer with more digits than Python writes.
    """
    return escaped(_json(value))


def _json(value: Any) -> str:
    try:
        return _encode(value)
    except ValueError as error:
        if "digits" in str(error):
            raise Unreducible("an integer with more digits than Python writes") from error
        raise


def escaped(text: str) -> str:
    """Escape the lone surrogates in a text as JSON does, so that it can be encoded."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


_encode: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
).encode


def chars(value: Any) -> int:
    """Count the characters that the model sees: those of a text, or of the compact JSON of any other value.

    Raises `Unreducible` above `MAX_DEPTH` levels, and for a value without a JSON form.
    """
    value = plain(value)
    if type(value) is str:
        return len(value)
    try:
        return len(_stored.to_json(value).decode())
    except PydanticSerializationError:
        return len(_json(value))  # a lone surrogate is one character


def readable_part(content: Any, hidden: list[tuple[Any, Any]]) -> Any:
    """Return a content with a media item, which no step changes, in place of each item that cannot be read.

    Adds each media item to `hidden`, with the item that it replaces.
    """

    def change(item: Any) -> Any:
        try:
            dump(plain(item))
            return item
        except (Unreducible, RecursionError):
            hidden.append(({"kind": "binary", "data": "", "media_type": ""}, item))
            return hidden[-1][0]

    return with_items(content, change)


def with_items(value: Any, change: Callable[[Any], Any], keys: int = 8) -> Any:
    """Return a value with `change(item)` for every item of a list and every other value below at most `keys` keys."""
    if type(value) is dict and keys and all(type(key) is str for key in value) and not is_media(value):
        return {key: with_items(item, change, keys - 1) for key, item in value.items()}
    return type(value)(map(change, value)) if type(value) in (list, tuple) else change(value)
