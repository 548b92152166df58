"""Contents of Google's Gemini API: `{"role": ..., "parts": [...]}`, with `functionCall` and `functionResponse`."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import asdict

from reducer.histories.format import One, Some, ToolCall, ToolReturn, Turn, numbered
from reducer.histories.source import Json, Source

NAME = "gemini"
EXPECTED = "a list of Gemini contents, each an object with `parts`"
HINTS = (b'parts"',)
_ROLES = (None, "user", "model", "function", "tool")
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
    is_other = (message.id, message.kind) != (None, None)
    if is_other or message.role not in _ROLES or type(message.parts) not in (list, Part):
        return False
    is_own = not strict
    for _, part in numbered(message.parts, Part):
        if part.type is not None:
            return False
        is_own = is_own or source.mark(part.text) == '"' or bool(_functions(part))
    return is_own


def _functions(part: Part) -> dict[str, Function]:
    """Return the calls and responses in a part by their keys."""
    return {key: value for key, value in asdict(part).items() if type(value) is Function}


def read(message: GeminiContent, source: Source) -> list[Turn | ToolReturn]:
    turn = Turn(message.role == "model", [])
    found: list[Turn | ToolReturn] = []
    for number, part in numbered(message.parts, Part):
        if source.mark(part.text) == '"' and not part.thought:
            turn.texts.append(part.text)
        for key, function in _functions(part).items():
            at = () if function.id is None else ("parts", number, key, "id")
            if key in ("functionCall", "function_call"):
                turn.calls.append(ToolCall(function.name, function.id, function.args, at))
            else:
                content, why = _result(function.response, source)
                found.append(ToolReturn(function.id, [content], name=function.name, part=number, untouched=why, at=at))
    return [turn, *found] if turn.is_response or turn.texts else found


def _result(response: Json, source: Source) -> tuple[Json, str]:
    """Return the result of a function, and the reason why rules never apply to it."""
    members = source.members(response)  # type: ignore[arg-type]
    if source.mark(members.pop("error", UNSET)) not in ("", "n", "f"):
        return response, "it is an error"
    for key in _RESULTS:
        if key in members and (len(members) == 1 or key == "return_value"):
            return members[key], ""
    return response, ""
