"""Contents of Google's Gemini API: `{"role": ..., "parts": [...]}`, with `functionCall` and `functionResponse`."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import One, Some, ToolCall, ToolReturn, Turn, numbered
from reducer.histories.source import Json, Source

NAME = "gemini"
EXPECTED = "a list of Gemini contents, each an object with `parts`"
HINTS = (b'parts"',)
_ROLES = (None, "user", "model", "function", "tool")
_CALLS = ("functionCall", "function_call")
_RESPONSES = ("functionResponse", "function_response")
_RESULTS = ("return_value", "output", "result")
"""Keys in which clients put a result that is not an object."""


class Function(Struct, gc=False):
    """The call of a function with `args`, or its `response`. Vertex AI uses no ids."""

    id: Any = None
    name: Any = None
    args: Json = UNSET
    response: Json = UNSET


class Part(Struct, gc=False):
    """A part of any kind. Parts of other formats have a type."""

    type: Any = None
    text: Json = UNSET
    thought: Any = None
    functionCall: One[Function] = None  # noqa: N815
    function_call: One[Function] = None
    functionResponse: One[Function] = None  # noqa: N815
    function_response: One[Function] = None


class GeminiContent(Struct, gc=False):
    """A message of the user or the model. Those of other formats have an id or a kind."""

    id: Any = None
    kind: Any = None
    role: Any = None
    parts: Some[Part] = None


MESSAGE = GeminiContent


def recognises(message: GeminiContent, source: Source, strict: bool) -> bool:
    is_other = message.id is not None or message.kind is not None
    if is_other or message.role not in _ROLES or type(message.parts) not in (list, Part):
        return False
    listed = numbered(message.parts, Part)
    if any(part.type is not None for _, part in listed):
        return False
    return not strict or any(source.mark(part.text) == '"' or any(_functions(part)) for _, part in listed)


def _functions(part: Part) -> list[tuple[str, Function]]:
    """Return the calls and responses in a part with their keys."""
    found = []
    for key in (*_CALLS, *_RESPONSES):
        function = getattr(part, key)
        if type(function) is Function:
            found.append((key, function))
    return found


def read(message: GeminiContent, source: Source) -> list[Turn | ToolReturn]:
    is_response = message.role == "model"
    turn = Turn(is_response, [])
    found: list[Turn | ToolReturn] = []
    for number, part in numbered(message.parts, Part):
        if source.mark(part.text) == '"' and part.thought in (None, False):
            turn.texts.append(part.text)
        for key, function in _functions(part):
            at = () if function.id is None else ("parts", number, key, "id")
            if key in _CALLS:
                turn.calls.append(ToolCall(function.name, function.id, function.args, at=at))
            else:
                content, why = _result(function.response, source)
                fields = {"name": function.name, "part": number, "untouched": why, "at": at}
                found.append(ToolReturn(function.id, [content], **fields))
    return [turn, *found] if is_response or turn.texts else found


def _result(response: Json, source: Source) -> tuple[Json, str]:
    """Return the result of a function, and the reason why rules never apply to it."""
    if source.mark(response) != "{":
        return response, ""
    members = source.members(response)  # type: ignore[arg-type]
    error = members.pop("error", UNSET)
    if source.mark(error) not in ("", "n", "f"):
        return response, "it is an error"
    for key in _RESULTS:
        if key in members and (len(members) == 1 or key == "return_value"):
            return members[key], ""
    return response, ""
