"""Wrappers of MCP: the content blocks of a tool call, and its whole result, as PydanticAI's MCP client maps them.

`read_mcp` returns what the client makes of a wrapper: the structure if there is one and all blocks are texts, the value
of one block, or a list of the values of several. The values of text blocks are JSON or texts; images, audio and
resources are media items, which no step changes. Writing puts a reduced value into all of its copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, ValidationError, convert

from reducer import markers
from reducer.formats.json_text import read_json
from reducer.formats.nodes import Block, Format
from reducer.values import Unreducible, dump, plain, shown

KEYS = frozenset({"content", "structuredContent", "isError", "_meta"})
"""The keys of the result of a tool call. An object with any other key is data."""
_WRITTEN = {"meta": "_meta", "mime_type": "mimeType"}


class _Block(Struct, tag_field="type", forbid_unknown_fields=True, kw_only=True, rename=_WRITTEN):
    """The fields that a content block of any type can have."""

    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None


class _Text(_Block, tag="text"):
    text: str


class _Image(_Block, tag="image"):
    data: str
    mime_type: str


class _Audio(_Image, tag="audio"):
    pass


class _Resource(_Block, tag="resource"):
    resource: dict[str, Any]


class _Link(_Block, tag="resource_link"):
    uri: str
    name: str
    title: Any = None
    description: Any = None
    mime_type: Any = None
    size: Any = None
    icons: Any = None


_TYPES = frozenset({"text", "image", "audio", "resource", "resource_link"})
_BLOCKS = list[_Text | _Image | _Audio | _Resource | _Link]
_NAME = "MCP content"


def read_mcp(value: Any) -> tuple[Any, Format] | None:
    """Return the value that a wrapper contains and the notation that writes it back, or None for other values.

    The items of a value may be live objects.
    """
    if type(value) is list:
        if not value or not _may_be_block(value[0]):
            return None
        blocks = _stored(value)
        return _read_blocks(blocks) if _are_blocks(blocks) else None
    if type(value) is not dict or "content" not in value or not value.keys() <= KEYS:
        return None
    result = _stored(value)
    if type(result) is not dict or not _are_blocks(result["content"]):
        return None
    return _read_result(result, result["content"])


def unwrapped(value: Any) -> Any:
    """Return the value that a wrapper contains in plain JSON types, or any other value unchanged."""
    structure = read_json(value) if type(value) is str else value
    found = read_mcp(structure)
    return value if found is None else plain(found[0])


def is_error(value: Any) -> bool:
    """Return whether a value is the result of a tool call that failed, which the client never returns."""
    return type(value) is dict and value.get("isError") is True


def _may_be_block(item: Any) -> bool:
    try:
        item = shown(item)
        kind = shown(item.get("type")) if type(item) is dict else None
    except Unreducible:
        return False
    return type(kind) is str and kind in _TYPES


def _stored(value: Any) -> Any:
    try:
        return plain(value)
    except (Unreducible, RecursionError):
        return None


def _are_blocks(blocks: Any) -> bool:
    """Return whether a value is a list of content blocks, which have the fields of their types and no others."""
    try:
        convert(blocks, _BLOCKS)
        return True
    except ValidationError:
        return False


# --- content blocks


def _read_blocks(blocks: list[dict[str, Any]]) -> tuple[Any, Format]:
    if len(blocks) == 1:
        return _read_one(blocks[0])
    values = [*map(_value_of, blocks)]
    if _may_be_marker(blocks[-1]):
        values[-1] = blocks[-1]["text"]
    media = [(value, block) for value, block in zip(values, blocks, strict=True) if type(value) is dict]

    def block_of(item: Any) -> Any:
        if type(item) is Block:
            return item.block
        if type(item) is dict:
            return next((block for value, block in media if value is item), item)
        return item if type(item) is not str else {"type": "text", "text": item}

    # A single block would be read as its value.
    return values, Format(_NAME, lambda items: list(map(block_of, items)), least=2)


def _read_one(block: dict[str, Any]) -> tuple[Any, Format]:
    if block["type"] != "text":
        return _media_of(block), Format(_NAME, lambda _: [block])
    return block["text"], Format(_NAME, lambda text: [{**block, "text": text}])


def _value_of(block: dict[str, Any]) -> Any:
    if block["type"] != "text":
        return _media_of(block)
    text = block["text"]
    value = read_json(text) if text[:1] in ("[", "{") else None
    return Block(text if value is None else value, block)


def _may_be_marker(block: dict[str, Any]) -> bool:
    """Return whether a block can be the marker of an earlier pass, as `block_of` writes it."""
    return list(block) == ["type", "text"] and block["text"][:2] == markers.PREFIX


def _media_of(block: dict[str, Any]) -> dict[str, Any]:
    """Return the media item of an image or a sound as the client stores it, or one in place of a resource."""
    data, media_type = block.get("data"), block.get("mimeType")
    if type(data) is not str or type(media_type) is not str:
        data, media_type = dump(block), "application/json"
    return {"kind": "binary", "data": data, "media_type": media_type}


# --- results of tool calls


def _read_result(result: dict[str, Any], blocks: list[dict[str, Any]]) -> tuple[Any, Format] | None:
    structure = result.get("structuredContent")
    are_texts = all(block["type"] == "text" for block in blocks)
    if structure and type(structure) is dict and are_texts:
        return _read_structure(result, blocks, structure)
    if not blocks:
        return None
    value, inner = _read_blocks(blocks)
    return value, Format(_NAME, lambda new: {**result, "content": inner.write(new)}, least=inner.least)


def _read_structure(
    result: dict[str, Any], blocks: list[dict[str, Any]], structure: dict[str, Any]
) -> tuple[Any, Format]:
    """Read a result with a structure, whose texts may be copies of it."""
    is_wrapped = structure.keys() == {"result"}  # the SDK of MCP wraps everything but objects
    value = structure["result"] if is_wrapped else structure

    def write(new: Any) -> dict[str, Any]:
        whole = {"result": new} if is_wrapped else new
        return {**result, "content": _with_copies(blocks, structure, value, new), "structuredContent": whole}

    return value, Format(_NAME, write)


def _with_copies(
    blocks: Sequence[dict[str, Any]], structure: dict[str, Any], value: Any, new: Any
) -> list[dict[str, Any]]:
    """Return the text blocks with a reduced value in those that are copies of it.

    A block is a copy of the structure, of the value in it, or of one item of the value. Other blocks stay.
    """
    if type(value) is list and len(value) == len(blocks) and all(map(_is_copy_of_item, blocks, value)):
        return [{"type": "text", "text": _text_of(item)} for item in new]
    written = []
    for block in blocks:
        text = block["text"]
        if _is_copy(text, value):
            text = _text_of(new)
        elif _is_copy(text, structure):
            text = dump({"result": new})
        written.append({**block, "text": text})
    return written


def _is_copy_of_item(block: dict[str, Any], item: Any) -> bool:
    return block.keys() == {"type", "text"} and _is_copy(block["text"], item)


def _is_copy(text: str, value: Any) -> bool:
    found = read_json(text)
    return text == _text_of(value) or (found is not None and dump(found) == dump(value))


def _text_of(item: Any) -> str:
    return item if type(item) is str else dump(item)
