"""Session histories as chat front ends store them: `{"role": ..., "parts": [...], "activity_parts": [...]}`.

Activities contain the results of tools: in `parts[]` with `type: activity`, and again in the older `activity_parts[]`.
Their `technical_details` can contain the same results without an id. All of these are copies of one tool return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from reducer.histories import why_untouched
from reducer.histories.format import One, Scalar, Some, ToolCall, ToolReturn, Turn, numbered, objects
from reducer.histories.source import Source
from reducer.references import searched

NAME = "session"
EXPECTED = "a session history, a list of objects with `role` and `parts` that contain activities"
HINTS = (b'parts"',)
_ERROR = "it is an error"


class Result(Struct, gc=False):
    """The result of one tool call."""

    name: Any = None
    content: Raw | UnsetType = UNSET
    call_id: Any = None
    is_error: Any = None


class Details(Struct, gc=False):
    """The raw result of a tool. Some older histories contain no other record of it."""

    function_name: Any = None
    raw_result: Raw | UnsetType = UNSET
    status: Any = None


class Tool(Struct, gc=False):
    """A tool call."""

    id: Any = None
    name: Any = None
    arguments: Raw | UnsetType = UNSET


class Part(Struct, gc=False):
    """A part of a message. A part with results or tools is an activity.

    The raw fields are what other parts show, such as tables, charts and options. Bytes of files are not read.
    """

    type: Any = None
    activity_type: Any = None
    text: Any = None
    results: list[One[Result]] | Result | Scalar = None
    technical_details: list[One[Details]] | Details | Scalar = None
    tools: list[One[Tool]] | Tool | Scalar = None
    timestamp: Any = None
    definition: Raw | UnsetType = UNSET
    config: Raw | UnsetType = UNSET
    data: Raw | UnsetType = UNSET
    table: Raw | UnsetType = UNSET
    headers: Raw | UnsetType = UNSET
    columns: Raw | UnsetType = UNSET
    rows: Raw | UnsetType = UNSET
    options: Raw | UnsetType = UNSET
    content: Raw | UnsetType = UNSET


class SessionMessage(Struct, gc=False):
    """A message. A message of the assistant contains a whole run."""

    role: Any = None
    kind: Any = None
    parts: Some[Part] | UnsetType = UNSET
    activity_parts: Some[Part] | UnsetType = UNSET
    text_content: Raw | UnsetType = UNSET
    response_text_main: Raw | UnsetType = UNSET
    interaction_id: Raw | UnsetType = UNSET


MESSAGE = SessionMessage


def recognises(message: SessionMessage, source: Source, strict: bool) -> bool:
    if type(message.kind) is str and message.parts is not UNSET:
        return False
    own = (message.text_content, message.activity_parts, message.response_text_main, message.interaction_id)
    is_own = any(one is not UNSET for one in own)
    if not strict:
        return is_own or type(message.role) is str
    return type(message.role) is str and (
        is_own or any(part.type == "activity" for part in objects(message.parts, Part))
    )


def returns(message: SessionMessage, source: Source) -> list[ToolReturn]:
    """Return the returns of both lists. A return of the older list is a copy if the newer list contains it too.

    If one of the two has no id, the tool and the text must be the same.
    """
    newer, older = _returns_in(message.parts), _returns_in(message.activity_parts)
    text_of = partial(_text_of, source)
    rest = _join(older, newer, _id_of)
    rest = _join(rest, [one for one in newer if one.call_id is None], text_of)
    others = [copy for copy in rest if copy.call_id is not None]
    rest = [copy for copy in rest if copy.call_id is None]
    return [*newer, *others, *_join(rest, [one for one in newer if one.call_id is not None], text_of)]


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

    def new(tool: Any, call_id: Any) -> ToolReturn:
        return ToolReturn(call_id, [], tool, number, untouched=why_untouched(tool), timestamp=part.timestamp)

    returns: list[ToolReturn] = []
    for result in objects(part.results, Result):
        returns.append(new(result.name, result.call_id))
        _add(returns[-1], [result.content], "" if result.is_error in (None, False) else _ERROR)
    unpaired, others = dict(enumerate(returns)), []
    tools = objects(part.tools, Tool)
    for position, details in enumerate(objects(part.technical_details, Details)):
        tool = details.function_name
        if position in unpaired and tool in (None, unpaired[position].tool):
            one = unpaired.pop(position)
        else:
            one = new(tool, tools[position].id if position < len(tools) else None)
            others.append(one)
        _add(one, [details.raw_result], "" if details.status in (None, "success") else _ERROR)
    return [*returns, *_join(others, [*unpaired.values()], lambda one: one.tool if type(one.tool) is str else None)]


def _add(one: ToolReturn, copies: Iterable[Raw | UnsetType], untouched: str) -> None:
    one.contents += [copy for copy in copies if copy is not UNSET]
    one.untouched = one.untouched or untouched


def _join(copies: list[ToolReturn], returns: list[ToolReturn], key: Callable[[ToolReturn], Any]) -> list[ToolReturn]:
    """Add each copy to the next return with the same key, and return the copies that have none."""
    by_key: dict[Any, list[ToolReturn]] = {}
    for one in reversed(returns) if copies else ():
        by_key.setdefault(key(one), []).append(one)
    by_key.pop(None, None)
    unpaired = []
    for copy in copies:
        if matching := by_key.get(key(copy)):
            _add(matching.pop(), copy.contents, copy.untouched)
        else:
            unpaired.append(copy)
    return unpaired


def _id_of(one: ToolReturn) -> tuple[str, str] | None:
    return (one.tool, one.call_id) if type(one.tool) is str and type(one.call_id) is str else None


def _text_of(source: Source, one: ToolReturn) -> tuple[str, bytes] | None:
    """Return the tool and the JSON of the content, or None if the content is not a text."""
    if type(one.tool) is not str or not one.contents or source.mark(one.contents[0]) != '"':
        return None
    return one.tool, bytes(one.contents[0])


def turns(message: SessionMessage, source: Source) -> Iterator[Turn]:
    written = (raw for raw in (message.text_content, message.response_text_main) if source.mark(raw) == '"')
    beside = [source.value(raw) or "" for raw in written]
    if message.role != "assistant":
        yield Turn(False, beside[:1])
        return
    parts = numbered(message.parts, Part)
    # Read the older list only if the newer list contains no results. The newer list contains all texts.
    is_newer = any(_has_results(part) for _, part in parts)
    older = [] if is_newer else numbered(message.activity_parts, Part)
    texts: list[Any] = []
    calls: list[ToolCall] = []
    call_ids: set[str] = set()
    number = -1
    for index, (number, part) in enumerate([*parts, *older]):
        if index < len(parts):
            texts += _texts(part, source)
        calls += _new_calls(part, call_ids)
        if _has_results(part) and (texts or calls):
            yield Turn(True, texts, calls, part=number)
            texts, calls = [], []
    texts += [text for text in beside if text and text not in texts]
    if texts or calls:
        yield Turn(True, texts, calls, part=number + 1)


def _new_calls(part: Part, call_ids: set[str]) -> list[ToolCall]:
    """Return the calls of a part whose ids are not in `call_ids`, and add their ids."""
    found = [ToolCall(tool.name, str(tool.id or ""), tool.arguments) for tool in objects(part.tools, Tool)]
    new = [call for call in found if call.id not in call_ids]
    call_ids.update(call.id for call in found if call.id)
    return new


def _texts(part: Part, source: Source) -> list[str]:
    """Return the text of a part, and the texts in what it shows."""
    texts = [part.text] if isinstance(part.text, str) else []
    if part.type in ("activity", "thought") or _has_results(part):
        return texts
    raw = (part.definition, part.config, part.data, part.table, part.headers, part.columns, part.rows, part.options)
    return [*texts, *filter(None, (searched(source.value(one)) for one in (*raw, part.content)))]
