"""Session histories as chat front ends store them: `{"role": ..., "parts": [...], "activity_parts": [...]}`.

Activities contain the results of tools: in `parts[]` with `type: activity`, and again in the older `activity_parts[]`.
Their `technical_details` can contain the same results without an id. All of these are copies of one tool return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import UNSET, Struct

from reducer.histories.format import One, Scalar, Some, ToolCall, ToolReturn, Turn, numbered, types
from reducer.histories.source import Json, Source

NAME = "session"
EXPECTED = "a session history, a list of objects with `role` and `parts` that contain activities"
HINTS = (b'parts"',)


class Result(Struct, gc=False):
    """The result of one tool call."""

    name: Any = None
    content: Json = UNSET
    call_id: Any = None
    is_error: Any = None


class Details(Struct, gc=False):
    """The raw result of a tool. Some older histories contain no other record of it."""

    function_name: Any = None
    raw_result: Json = UNSET
    status: Any = None


class Tool(Struct, gc=False):
    """A tool call."""

    id: Any = None
    name: Any = None
    arguments: Json = UNSET


class Part(Struct, gc=False):
    """A part of a message. A part with results or tools is an activity.

    The raw fields are what other parts show, such as tables, charts and options. Bytes of files are not read.
    """

    type: Any = None
    activity_type: Any = None
    text: Json = UNSET
    results: list[One[Result]] | Result | Scalar = None
    technical_details: list[One[Details]] | Details | Scalar = None
    tools: list[One[Tool]] | Tool | Scalar = None
    timestamp: Any = None
    definition: Json = UNSET
    config: Json = UNSET
    data: Json = UNSET
    table: Json = UNSET
    headers: Json = UNSET
    columns: Json = UNSET
    rows: Json = UNSET
    options: Json = UNSET
    content: Json = UNSET


class SessionMessage(Struct, gc=False):
    """A message. A message of the assistant contains a whole run."""

    role: Any = None
    kind: Any = None
    parts: Some[Part] = UNSET
    activity_parts: Some[Part] = UNSET
    text_content: Json = UNSET
    response_text_main: Json = UNSET
    interaction_id: Json = UNSET


MESSAGE = SessionMessage


def recognises(message: SessionMessage, source: Source, strict: bool) -> bool:
    if type(message.kind) is str and message.parts is not UNSET:
        return False
    own = (message.text_content, message.activity_parts, message.response_text_main, message.interaction_id)
    is_own = own != (UNSET,) * len(own)
    if type(message.role) is not str:
        return is_own and not strict
    return is_own or not strict or any(types(numbered(message.parts, Part), ("activity",)))


def read(message: SessionMessage, source: Source) -> list[Turn | ToolReturn]:
    return [*_turns(message, source), *_returns(message)]


def _returns(message: SessionMessage) -> list[ToolReturn]:
    """Return the returns of both lists. A return of the older list is a copy if the newer list contains it too.

    Copies have the same tool, and the same id or the same content.
    """
    newer, older = _returns_in(message.parts), _returns_in(message.activity_parts)
    return newer + _join(_join(older, newer, _id_of), newer, _content_of)


def _returns_in(parts: Any) -> list[ToolReturn]:
    found: list[ToolReturn] = []
    for number, part in numbered(parts, Part):
        if _has_results(part):
            found += _returns_of(part, number)
    return found


def _has_results(part: Part) -> bool:
    kind = part.activity_type if part.type == "activity" else part.type
    return kind in ("tool_result", "tool_call")  # a `tool_call` contains the call and its result


def _returns_of(part: Part, number: int) -> list[ToolReturn]:
    """Return the tool returns of an activity. Its technical details are copies of its results.

    They belong to the result at the same position or, if that is of another tool, to the next result of their tool.
    """
    returns: dict[int, ToolReturn] = {}
    for position, result in numbered(part.results, Result):
        is_error = result.is_error not in (None, False)
        returns[position] = _return(part, number, result.name, result.call_id, result.content, is_error)
    unpaired = dict(returns)
    others = []
    tools = dict(numbered(part.tools, Tool))
    for position, details in numbered(part.technical_details, Details):
        is_error = details.status not in (None, "success")
        call_id = tools[position].id if position in tools else None
        copy = _return(part, number, details.function_name, call_id, details.raw_result, is_error)
        if position in unpaired and copy.tool in (None, unpaired[position].tool):
            _add(unpaired.pop(position), copy)
        else:
            others.append(copy)
    return [*returns.values(), *_join(others, list(unpaired.values()), lambda one: "")]


def _return(part: Part, number: int, tool: Any, call_id: Any, content: Json, is_error: bool) -> ToolReturn:
    untouched = "it is an error" if is_error else ""
    return ToolReturn(call_id, [content], tool, part=number, untouched=untouched, timestamp=part.timestamp)


def _add(one: ToolReturn, copy: ToolReturn) -> None:
    one.contents += copy.contents
    one.untouched = one.untouched or copy.untouched


def _join(copies: list[ToolReturn], returns: list[ToolReturn], key: Callable[[ToolReturn], Any]) -> list[ToolReturn]:
    """Add each copy to the next return of its tool with the same key, and return the copies that have none."""
    if not copies:
        return []
    by_key: dict[Any, list[ToolReturn]] = {}
    for one in reversed(returns):
        by_key.setdefault((str(one.tool), key(one)), []).append(one)
    unpaired = []
    for copy in copies:
        same = by_key.get((str(copy.tool), key(copy)))
        if same and key(copy) is not None and copy.tool is not None:
            _add(same.pop(), copy)
        else:
            unpaired.append(copy)
    return unpaired


def _id_of(one: ToolReturn) -> str | None:
    return one.call_id if type(one.call_id) is str else None


def _content_of(one: ToolReturn) -> bytes | None:
    [content, *_] = one.contents
    return None if content is UNSET else bytes(content)


def _turns(message: SessionMessage, source: Source) -> Iterator[Turn]:
    beside: list[Any] = []
    for raw in (message.text_content, message.response_text_main):
        if source.mark(raw) == '"':
            beside.append(raw)
    if message.role != "assistant":
        yield Turn(False, beside[:1])
        return
    parts = numbered(message.parts, Part)
    is_newer = any(_has_results(part) for _, part in parts)
    # The newer list contains all texts. The older list is read only if the newer list contains no results.
    older = [] if is_newer else numbered(message.activity_parts, Part)
    response = Turn(True, [])
    call_ids: set[str] = set()
    for index, (number, part) in enumerate([*parts, *older]):
        if index < len(parts):
            response.texts += _texts(part, source)
        response.calls += _new_calls(part, call_ids)
        if _has_results(part) and (response.texts or response.calls):
            response.part = number
            yield response
            response = Turn(True, [])
        response.part = number + 1
    response.texts += [raw for raw in beside if raw not in response.texts]
    if response.texts or response.calls:
        yield response


def _new_calls(part: Part, call_ids: set[str]) -> list[ToolCall]:
    """Return the calls of a part whose ids are not in `call_ids`, and add their ids."""
    new = []
    for _, tool in numbered(part.tools, Tool):
        call_id = str(tool.id or "")
        if call_id not in call_ids:
            new.append(ToolCall(tool.name, call_id, tool.arguments))
        if call_id:
            call_ids.add(call_id)
    return new


def _texts(part: Part, source: Source) -> list[Any]:
    """Return the text of a part, and what it shows."""
    texts = [part.text] if source.mark(part.text) == '"' else []
    if part.type in ("activity", "thought") or _has_results(part):
        return texts
    shown = (part.definition, part.config, part.data, part.table, part.headers, part.columns, part.rows, part.options)
    return [*texts, *filter(None, (*shown, part.content))]
