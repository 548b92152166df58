"""What PydanticAI's messages and parts are made of: the kinds of each side, their fields, and what these can hold.

Taken from `pydantic_ai.messages` of 2.68.0, together with the kinds and fields that only earlier versions wrote; each was tried by loading. A field
that is not named here can hold anything: every version takes unknown ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

REQUEST_KINDS = (
    "system-prompt", "user-prompt", "tool-return", "retry-prompt", "retry-feedback", "speech", "compaction", "tool-availability-delta",
    "capability-load-delta", "model-settings-delta", "instruction-delta", "instruction-baseline",
)  # fmt: skip
RESPONSE_KINDS = ("text", "thinking", "tool-call", "builtin-tool-call", "builtin-tool-return", "file", "compaction", "speech")
ITEM_KINDS = ("image-url", "audio-url", "video-url", "document-url", "binary", "uploaded-file", "text-content", "structured-content", "cache-point")
"""What may stand in the list that a user prompt has as content, besides texts."""

OUTCOMES = ("success", "failed", "denied", "interrupted", "retried")


class Field(NamedTuple):
    """What a field can hold: the types that JSON gives, in words, and whether it must be there."""

    expected: str
    holds: Callable[[Any], bool]
    required: bool = False
    values: tuple[str, ...] = ()


def _is(*types: type) -> Callable[[Any], bool]:
    allowed = frozenset(types)
    return lambda value: type(value) in allowed


def _anything(value: Any) -> bool:
    return True


_NULL = type(None)
TEXT = Field("a text", _is(str))
THE_TEXT = Field("a text", _is(str), True)
TEXT_OR_NULL = Field("a text or null", _is(str, _NULL))
OBJECT_OR_NULL = Field("an object or null", _is(dict, _NULL))
ANY = Field("any value", _anything, True)
TIME = Field("a timestamp", _is(str, int, float))
TIME_OR_NULL = Field("a timestamp or null", _is(str, int, float, _NULL))
ARGS = Field("a text, an object or null", _is(str, dict, _NULL))

_PROVIDER: Mapping[str, Field] = {"id": TEXT_OR_NULL, "provider_name": TEXT_OR_NULL, "provider_details": OBJECT_OR_NULL}
_CALL: Mapping[str, Field] = {"tool_name": THE_TEXT, "args": ARGS, "tool_call_id": TEXT, **_PROVIDER}
_RETURN: Mapping[str, Field] = {"tool_name": THE_TEXT, "content": ANY, "tool_call_id": TEXT, "timestamp": TIME}
_OUTCOME = Field("one of " + ", ".join(OUTCOMES), _is(str), values=OUTCOMES)

PART_FIELDS: Mapping[str, Mapping[str, Field]] = {
    "system-prompt": {"content": THE_TEXT, "timestamp": TIME, "dynamic_ref": TEXT_OR_NULL},
    "user-prompt": {"content": Field("a text or a list", _is(str, list), True), "timestamp": TIME},
    "tool-return": {**_RETURN, "outcome": _OUTCOME},
    "retry-prompt": {
        "content": Field("a text or a list of errors", _is(str, list), True),
        "tool_name": TEXT_OR_NULL,
        "tool_call_id": TEXT,
        "timestamp": TIME,
    },
    "text": {"content": THE_TEXT, **_PROVIDER},
    "thinking": {"content": THE_TEXT, "signature": TEXT_OR_NULL, **_PROVIDER},
    "tool-call": _CALL,
    "builtin-tool-call": _CALL,
    "builtin-tool-return": {**_RETURN, "provider_name": TEXT_OR_NULL},
    "file": {"content": Field("an object", _is(dict), True), "id": TEXT_OR_NULL},
    "speech": {"speaker": ANY},
    "retry-feedback": {"content": ANY, "retry": ANY},
    "model-settings-delta": {"settings": ANY},
    "instruction-delta": {"id": ANY, "content": ANY},
    "instruction-baseline": {"instructions": ANY},
}
"""The fields of each kind of part. Of the kinds that came with 2.x only those that must be there."""

TOOL_KINDS: Mapping[str, str] = {"tool-search": "search_tools", "capability-load": "load_capability"}
"""The tool that a call or return with this `tool_kind` must name."""

_REASONS = ("stop", "length", "content_filter", "tool_call", "error")
_SHARED: Mapping[str, Field] = {"run_id": TEXT_OR_NULL, "conversation_id": TEXT_OR_NULL, "metadata": OBJECT_OR_NULL}
MESSAGE_FIELDS: Mapping[str, Mapping[str, Field]] = {
    "request": {
        "timestamp": TIME_OR_NULL, "instructions": TEXT_OR_NULL, **_SHARED,
        "state": Field("complete or interrupted", _is(str), values=("complete", "interrupted")),
    },
    "response": {
        "timestamp": TIME, "usage": Field("an object", _is(dict)), "model_name": TEXT_OR_NULL, **_SHARED,
        "provider_name": TEXT_OR_NULL, "provider_url": TEXT_OR_NULL, "provider_details": OBJECT_OR_NULL, "provider_response_id": TEXT_OR_NULL,
        "vendor_id": TEXT_OR_NULL, "vendor_details": OBJECT_OR_NULL,
        "finish_reason": Field("one of " + ", ".join(_REASONS) + ", or null", _is(str, _NULL), values=_REASONS),
        "state": Field("one of complete, incomplete, suspended, interrupted", _is(str), values=("complete", "incomplete", "suspended", "interrupted")),
    },
}  # fmt: skip

ITEM_FIELDS: Mapping[str, tuple[str, ...]] = {
    **{kind: ("url",) for kind in ITEM_KINDS if kind.endswith("-url")},
    "binary": ("data", "media_type"),
    "uploaded-file": ("file_id", "provider_name"),
    "text-content": ("content",),
}
"""The texts that an item of a user prompt must have."""

COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "requests")
"""Whole numbers of `usage` that are never null; `request_tokens` and `response_tokens` of earlier versions may be."""
