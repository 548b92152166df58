"""Session histories as chat front ends store them: `{"role": ..., "parts": [...], "activity_parts": [...]}`.

Activities carry the results of tools: in `parts[]` of `type: activity` and again in the older `activity_parts[]`. Next
to them, `technical_details` may hold the same results without an id. All of these are copies of one tool return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from reducer.histories import why_untouched
from reducer.histories.format import Format, Scalar, ToolReturn, called, objects
from reducer.histories.source import Source
from reducer.references import Call, Prompt, Response

_ERROR = "it is an error"


class Result(Struct, gc=False):
    """The result of one tool call."""

    name: Any = None
    content: Raw | UnsetType = UNSET
    call_id: Any = None
    is_error: Any = None


class Details(Struct, gc=False):
    """What a tool returned to the front end; the older form has no other record of the return."""

    function_name: Any = None
    raw_result: Raw | UnsetType = UNSET
    status: Any = None


class Tool(Struct, gc=False):
    """A tool call."""

    id: Any = None
    name: Any = None
    arguments: Raw | UnsetType = UNSET


class Part(Struct, gc=False):
    """A part of a message; an activity if it has results or tools."""

    type: Any = None
    activity_type: Any = None
    text: Any = None
    results: list[Result | list[Raw] | Scalar] | Result | Scalar = None
    technical_details: list[Details | list[Raw] | Scalar] | Details | Scalar = None
    tools: list[Tool | list[Raw] | Scalar] | Tool | Scalar = None
    timestamp: Any = None


class Message(Struct, gc=False):
    """A message; that of an assistant holds a whole run."""

    role: Any = None
    kind: Any = None
    parts: list[Part | list[Raw] | Scalar] | dict[str, Raw] | Scalar | UnsetType = UNSET
    activity_parts: list[Part | list[Raw] | Scalar] | dict[str, Raw] | Scalar | UnsetType = UNSET
    text_content: Raw | UnsetType = UNSET
    response_text_main: Raw | UnsetType = UNSET
    interaction_id: Raw | UnsetType = UNSET


def _recognises(message: Message, strict: bool) -> bool:
    if type(message.kind) is str and message.parts is not UNSET:
        return False
    own = (message.text_content, message.activity_parts, message.response_text_main, message.interaction_id)
    is_own = any(one is not UNSET for one in own)
    if not strict:
        return is_own or type(message.role) is str
    return type(message.role) is str and (
        is_own or any(part.type == "activity" for part in objects(message.parts, Part))
    )


def _returns(message: Message, source: Source) -> list[ToolReturn]:
    newer, older = (
        [one for number, part in _parts(parts) if _has_results(part) for one in _returns_of(part, number)]
        for parts in (message.parts, message.activity_parts)
    )
    return _gathered(newer, older, source)


def _parts(parts: Any) -> list[tuple[int, Part]]:
    """Return the parts of a list with their numbers."""
    return [(number, part) for number, part in enumerate(parts) if type(part) is Part] if type(parts) is list else []


def _has_results(part: Part) -> bool:
    kind = part.activity_type if part.type == "activity" else part.type
    return kind in ("tool_result", "tool_call")  # in a `tool_call`, the call and its result are one


def _returns_of(part: Part, number: int) -> list[ToolReturn]:
    """Return the returns of an activity: its results, with the technical details that hold them again."""

    def new(tool: Any, call_id: Any) -> ToolReturn:
        return ToolReturn(number, tool, call_id, [], untouched=why_untouched(tool), timestamp=part.timestamp)

    returns: list[ToolReturn] = []
    for result in objects(part.results, Result):
        returns.append(new(result.name, result.call_id))
        _add(returns[-1], [result.content], "" if result.is_error in (None, False) else _ERROR)
    unpaired = dict(enumerate(returns))
    tools = objects(part.tools, Tool)
    for position, details in enumerate(objects(part.technical_details, Details)):
        tool, index = details.function_name, position
        if index not in unpaired or tool not in (None, unpaired[index].tool):
            index = next((at for at, one in unpaired.items() if one.tool == tool), -1)
        one = unpaired.pop(index, None)
        if one is None:
            one = new(tool, tools[position].id if position < len(tools) else None)
            returns.append(one)
        _add(one, [details.raw_result], "" if details.status in (None, "success") else _ERROR)
    return returns


def _add(one: ToolReturn, copies: Iterable[Raw | UnsetType], untouched: str) -> None:
    """Add copies of the content to a return."""
    one.contents += [copy for copy in copies if copy is not UNSET]
    one.untouched = one.untouched or untouched


def _gathered(newer: list[ToolReturn], older: list[ToolReturn], source: Source) -> list[ToolReturn]:
    """Return the returns of both lists, in which those of the older list are copies of those of the newer list.

    Where one of the two has no id, the tool and the text must be the same.
    """
    text_of = partial(_text_of, source)
    rest = _join(older, newer, _id_of)
    rest = _join(rest, [one for one in newer if one.call_id is None], text_of)
    others = [copy for copy in rest if copy.call_id is not None]
    rest = [copy for copy in rest if copy.call_id is None]
    return [*newer, *others, *_join(rest, [one for one in newer if one.call_id is not None], text_of)]


def _join(copies: list[ToolReturn], returns: list[ToolReturn], key: Callable[[ToolReturn], Any]) -> list[ToolReturn]:
    """Add copies to the returns with the same key, the second one to the second return with it; return the others."""
    known: dict[Any, list[ToolReturn]] = {}
    for one in returns if copies else ():
        known.setdefault(key(one), []).append(one)
    known.pop(None, None)
    others = []
    for copy in copies:
        if same := known.get(key(copy)):
            _add(same.pop(0), copy.contents, copy.untouched)
        else:
            others.append(copy)
    return others


def _id_of(one: ToolReturn) -> tuple[str, str] | None:
    return (one.tool, one.call_id) if type(one.tool) is str and type(one.call_id) is str else None


def _text_of(source: Source, one: ToolReturn) -> tuple[str, bytes] | None:
    """Return the tool and the content of a return as it is written; None unless the content is a text."""
    if type(one.tool) is not str or not one.contents or source.mark(one.contents[0]) != '"':
        return None
    return one.tool, bytes(one.contents[0])


def _said(message: Message, source: Source) -> Iterator[tuple[int, Prompt | Response]]:
    written = (raw for raw in (message.text_content, message.response_text_main) if source.mark(raw) == '"')
    text = str(source.value(next(written, UNSET)) or "")
    if message.role != "assistant":
        yield 0, Prompt(text)
        return
    texts: list[str] = []
    calls: list[Call] = []
    known: set[str] = set()
    number = -1
    parts = _parts(message.parts)
    # The older list counts only if the newer list carries no results; its texts are in the newer list.
    older = [] if any(_has_results(part) for _, part in parts) else _parts(message.activity_parts)
    for index, (number, part) in enumerate([*parts, *older]):
        if isinstance(part.text, str) and index < len(parts):
            texts.append(part.text)
        tools = [called(tool.name, tool.arguments, tool.id, source) for tool in objects(part.tools, Tool)]
        calls += [call for call in tools if call.id not in known]
        known.update(call.id for call in tools if call.id)
        if _has_results(part) and (texts or calls):
            yield number, Response(tuple(texts), tuple(calls))
            texts, calls = [], []
    texts = texts or ([text] if text else [])
    if texts or calls:
        yield number + 1, Response(tuple(texts), tuple(calls))


FORMAT = Format(
    name="session",
    expected="a session history, a list of objects with `role` and `parts` that carry activities",
    message=Message,
    recognises=_recognises,
    returns=_returns,
    said=_said,
)
