"""Media items as PydanticAI stores them.

The kinds and fields are those of `ImageUrl`, `AudioUrl`, `VideoUrl`, `DocumentUrl`, `BinaryContent` and `UploadedFile`
in `pydantic_ai.messages`. Any optional field may be missing, because releases store different ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_Fields = Mapping[str, Callable[[Any], bool]]


def _is(*types: type) -> Callable[[Any], bool]:
    allowed = frozenset(types)
    return lambda value: type(value) in allowed


_TEXT = _is(str)
_TEXT_OR_NULL = _is(str, type(None))
_OPTIONAL: _Fields = {
    "kind": _TEXT,
    "media_type": _TEXT_OR_NULL,
    "_media_type": _TEXT_OR_NULL,
    "identifier": _TEXT_OR_NULL,
    "_identifier": _TEXT_OR_NULL,
    "vendor_metadata": _is(dict, type(None)),
}
_URL: tuple[_Fields, _Fields] = (
    {"url": _TEXT},
    {**_OPTIONAL, "force_download": lambda value: type(value) is bool or value == "allow-local"},
)
_FIELDS: Mapping[str, tuple[_Fields, _Fields]] = {
    "image-url": _URL,
    "audio-url": _URL,
    "video-url": _URL,
    "document-url": _URL,
    "binary": ({"data": _TEXT, "media_type": _TEXT}, _OPTIONAL),
    "uploaded-file": ({"file_id": _TEXT, "provider_name": _TEXT}, _OPTIONAL),
}
"""The required and the optional fields of each kind."""

KINDS = frozenset(_FIELDS)


def is_stored_media(item: Mapping[str, Any]) -> bool:
    """Return whether a stored object is a media item: it has a media kind, the fields of that kind, and no others."""
    kind = item.get("kind")
    if type(kind) is not str or kind not in _FIELDS:
        return False
    required, optional = _FIELDS[kind]
    return all(name in item and holds(item[name]) for name, holds in required.items()) and all(
        name in required or (name in optional and optional[name](value)) for name, value in item.items()
    )
