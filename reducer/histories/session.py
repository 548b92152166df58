"""Session histories as chat front ends store them: `{"role": ..., "parts": [...], "activity_parts": [...]}`.

Activities carry the results of tools: in `parts[]` of `type: activity` and again in the older `activity_parts[]`. Next
to them, `technical_details` may hold the same results without an id. All of these are copies of one tool return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from reducer.histories.format import Format, Scalar, Source, ToolReturn, objects
from reducer.histories.reducible import why_untouched
from reducer.references import Call, Prompt, Response

_SAME_TEXT = 16
"""Returns with the same name and text among which the copy of a return without an id is looked for."""


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


@dataclass(slots=True, eq=False)
class _Gathered:
    """A tool return while its copies are gathered."""

    number: int
    tool: Any
    call_id: Any
    timestamp: Any
    contents: list[Raw] = field(default_factory=list)
    is_error: bool = False

    def add(self, content: Raw | UnsetType, is_error: bool) -> None:
        if content is not UNSET:
            self.contents.append(content)
        self.is_error = self.is_error or is_error


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


def _returns(message: Message, source: Source) -> Iterator[ToolReturn]:
    gathered: list[_Gathered] = []
    for number, part in _activities(message.parts):
        _gather(gathered, part, number, lambda result: None)
    original = _matcher(tuple(gathered), source)
    for number, part in _activities(message.activity_parts):
        _gather(gathered, part, number, original)
    for one in gathered:
        why = why_untouched(one.tool) or ("it is an error" if one.is_error else "")
        yield ToolReturn(one.number, one.tool, one.call_id, tuple(one.contents), why, one.timestamp)


def _activities(parts: Any) -> Iterator[tuple[int, Part]]:
    """Return the parts of a list that carry results, with their numbers."""
    for number, part in enumerate(parts if type(parts) is list else ()):
        if type(part) is Part and _has_results(part):
            yield number, part


def _has_results(part: Part) -> bool:
    kind = part.activity_type if part.type == "activity" else part.type
    return kind in ("tool_result", "tool_call")  # in a `tool_call`, the call and its result are one


def _gather(gathered: list[_Gathered], part: Part, number: int, original: Callable[[Result], _Gathered | None]) -> None:
    """Add the returns of an activity, or its contents to those that `original` says they are copies of."""
    here: list[_Gathered] = []
    for result in objects(part.results, Result):
        one = original(result)
        if one is None:
            one = _Gathered(number, result.name, result.call_id, part.timestamp)
            gathered.append(one)
        here.append(one)
        one.add(result.content, result.is_error not in (None, False))
    tools = objects(part.tools, Tool)
    paired: set[int] = set()
    for position, details in enumerate(objects(part.technical_details, Details)):
        index = _pair(here, paired, position, details.function_name)
        if index is None:
            index = len(here)
            call_id = tools[position].id if position < len(tools) else None
            here.append(_Gathered(number, details.function_name, call_id, part.timestamp))
            gathered.append(here[index])
        paired.add(index)
        here[index].add(details.raw_result, details.status not in (None, "success"))


def _pair(here: list[_Gathered], paired: set[int], position: int, tool: Any) -> int | None:
    """Return which result of an activity the details at `position` belong to: by position, then by name."""
    if position < len(here) and position not in paired and tool in (None, here[position].tool):
        return position
    return next((index for index, one in enumerate(here) if index not in paired and one.tool == tool), None)


def _matcher(newer: tuple[_Gathered, ...], source: Source) -> Callable[[Result], _Gathered | None]:
    """Return the function that finds the return of the newer list that a result of the older list is a copy of.

    An id may come back within a message: the second result with it is the second return with it. Where one of the two
    has no id, the name and the text must be the same.
    """
    by_id: dict[tuple[str, str], list[_Gathered]] = {}
    for one in newer:
        if type(one.tool) is str and type(one.call_id) is str:
            by_id.setdefault((one.tool, one.call_id), []).append(one)

    @cache
    def by_text() -> dict[tuple[Any, Any], list[_Gathered]]:
        found: dict[tuple[Any, Any], list[_Gathered]] = {}
        for one in newer:
            if type(one.tool) is str and one.contents and source.is_text(one.contents[0]):
                found.setdefault((one.tool, source.value(one.contents[0])), []).append(one)
        return found

    def original(result: Result) -> _Gathered | None:
        if type(result.name) is not str:
            return None
        if type(result.call_id) is str and (same := by_id.get((result.name, result.call_id))):
            return same.pop(0)
        if result.content is UNSET or not source.is_text(result.content):
            return None
        alike = by_text().get((result.name, source.value(result.content)), [])
        for one in alike[:_SAME_TEXT]:
            if result.call_id is None or one.call_id is None:
                alike.remove(one)
                return one
        return None

    return original


def _said(message: Message, source: Source) -> Iterator[tuple[int, Prompt | Response]]:
    text = _text(message, source)
    if message.role != "assistant":
        yield 0, Prompt(text)
        return
    texts: list[str] = []
    calls: list[Call] = []
    known: set[str] = set()
    number = -1
    for number, part, is_newer in _parts(message):
        if isinstance(part.text, str) and is_newer:
            texts.append(part.text)
        tools = [_call(tool, source) for tool in objects(part.tools, Tool)]
        calls += [call for call in tools if call.id not in known]
        known.update(call.id for call in tools if call.id)
        if _has_results(part) and (texts or calls):
            yield number, Response(tuple(texts), tuple(calls))
            texts, calls = [], []
    texts = texts or ([text] if text else [])
    if texts or calls:
        yield number + 1, Response(tuple(texts), tuple(calls))


def _text(message: Message, source: Source) -> str:
    for raw in (message.text_content, message.response_text_main):
        if raw is not UNSET and source.is_text(raw):
            return str(source.value(raw) or "")
    return ""


def _parts(message: Message) -> Iterator[tuple[int, Part, bool]]:
    """Return the parts with their numbers; those of the older list only if the newer list carries no results."""
    lists = [(message.parts, True)]
    if not any(True for _ in _activities(message.parts)):
        lists.append((message.activity_parts, False))
    for parts, is_newer in lists:
        for number, part in enumerate(parts if type(parts) is list else ()):
            if type(part) is Part:
                yield number, part, is_newer


def _call(tool: Tool, source: Source) -> Call:
    arguments = None if tool.arguments is UNSET else source.value(tool.arguments)
    return Call(str(tool.name or ""), arguments, str(tool.id or ""))


FORMAT = Format(
    name="session",
    expected="a session history, a list of objects with `role` and `parts` that carry activities",
    message=Message,
    recognises=_recognises,
    returns=_returns,
    said=_said,
)
