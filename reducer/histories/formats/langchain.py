"""LangChain messages: `{"type": ..., "data": {...}}` by `messages_to_dict`, `{"lc": 1, "kwargs": {...}}` by `dumps`.

The state of LangGraph contains messages with the same fields, but not in `data` or `kwargs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import One, Path, Some, ToolCall, ToolReturn, Turn, numbered, texts, tool_returns
from reducer.histories.source import Json, Source

NAME = "langchain"
EXPECTED = "a list of LangChain messages, each an object with `type` and `data`, or with `lc` and `kwargs`"
HINTS = (b'kwargs"',)
_KINDS = ("human", "ai", "system", "tool", "function", "chat")


class Call(Struct, gc=False):
    """A tool call."""

    name: Any = None
    args: Json = UNSET
    id: Any = None


class Data(Struct, gc=False):
    """The fields of a message. An invalid call has arguments that are not JSON."""

    type: Any = None
    content: Json = UNSET
    tool_calls: Some[Call] = None
    invalid_tool_calls: Some[Call] = None
    tool_call_id: Any = None
    name: Any = None
    status: Any = None


class LangChainMessage(Struct, gc=False):
    """A message. Its `id` ends with its class, as in `["langchain", "schema", "messages", "ToolMessage"]`."""

    type: Any = None
    data: One[Data] = None
    lc: Any = None
    id: Any = None
    kwargs: One[Data] = None
    content: Json = UNSET
    tool_calls: Some[Call] = None
    invalid_tool_calls: Some[Call] = None
    tool_call_id: Any = None
    name: Any = None
    status: Any = None


MESSAGE = LangChainMessage


def _fields(message: LangChainMessage) -> tuple[Path, Data, str]:
    """Return the path to the fields of a message, the fields, and its kind, such as `tool`."""
    key, data = ("data", message.data) if message.lc is None else ("kwargs", message.kwargs)
    path: Path = (key,)
    if message.content is not UNSET:
        path, data = (), _own_fields(message)
    if type(data) is not Data:
        return path, Data(), ""
    kind = data.type or message.type
    if message.lc and not data.type and type(message.id) is list and message.id:
        kind = message.id[-1]
    # A chunk of a stream is an `AIMessageChunk`.
    return path, data, kind.removesuffix("Chunk").removesuffix("Message").lower() if type(kind) is str else ""


def _own_fields(message: LangChainMessage) -> Data:
    return Data(
        message.type,
        message.content,
        message.tool_calls,
        message.invalid_tool_calls,
        message.tool_call_id,
        message.name,
        message.status,
    )


def recognises(message: LangChainMessage, source: Source, strict: bool) -> bool:
    path, data, kind = _fields(message)
    if strict or not path:
        return kind in _KINDS and data.content is not UNSET
    return bool(kind)


def read(message: LangChainMessage, source: Source) -> Iterator[Turn | ToolReturn]:
    path, data, kind = _fields(message)
    if kind == "tool":
        why = "" if data.status in (None, "success") else f"its outcome is {data.status}"
        fields = {"call_id": data.tool_call_id, "name": data.name, "untouched": why, "at": (*path, "tool_call_id")}
        yield from tool_returns(data.content, source, **fields)
    elif kind == "ai":
        response = Turn(True, texts(data.content, source))
        for name, listed in (("tool_calls", data.tool_calls), ("invalid_tool_calls", data.invalid_tool_calls)):
            for number, call in numbered(listed, Call):
                response.calls.append(ToolCall(call.name, call.id, call.args, at=(*path, name, number, "id")))
        yield response
    else:
        yield Turn(False, [data.content])
