"""Read what happens in a stored history: prompts, responses, tool calls and their returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from msgspec import Raw

from reducer.histories import why_untouched
from reducer.histories.format import ToolReturn, Turn
from reducer.histories.source import Source
from reducer.histories.stored.messages import FoundMessage, InputFormat, find_messages, with_source
from reducer.references import Call, Event, Mentions, Prompt, Response, Returned, searched

_NO_CALL = "no call before it has its id, and it has no tool name"


class Key(NamedTuple):
    """The place of a tool return: its message, its part, and its number among what the message contains, from 0.

    Messages are counted through all lists of messages in a wrapper.
    """

    message: int
    part: int
    nth: int


class Placed(NamedTuple):
    """An event of a history and its place."""

    event: Event
    key: Key


Found = list[tuple[Key, Turn | ToolReturn]]
"""The prompts, responses and tool returns of a history, not decoded yet, with their places."""


def events(data: bytes, input_format: InputFormat = "auto") -> list[Placed]:
    """Return the prompts, responses and tool returns of a stored history in order. Raises `HistoryError`."""
    source, found = read_history(data, input_format)
    placed = [Placed(_event(one, source), key) for key, one in found]
    return sorted(placed, key=lambda one: one.key)


def later_mentions(data: bytes, input_format: InputFormat = "auto") -> Mentions:
    """Return the values that the responses of a stored history mention. It is read when they are first needed."""
    return mentions_in(lambda: read_history(data, input_format))


def mentions_in(read: Callable[[], tuple[Source, Found]]) -> Mentions:
    """Return the values that the responses of a history mention, each with the place of the last one."""

    def responses() -> list[tuple[Key, Response]]:
        source, found = read()
        written = []
        for key, one in found:
            if isinstance(one, Turn) and one.is_response:
                written.append((key, _response(one, source)))
        return written

    return Mentions(responses)


def read_history(data: bytes, input_format: InputFormat) -> tuple[Source, Found]:
    """Return the prompts, responses and tool returns, each return with its tool. Raises `HistoryError`."""
    return with_source(data, lambda source: (source, _read(find_messages(source, input_format), source)))


def _read(messages: Iterable[FoundMessage], source: Source) -> Found:
    found: Found = []
    tools: dict[str, Any] = {}
    response: Turn | None = None  # which the next response can join
    for number, (form, message) in enumerate(messages):
        read = [*form.read(message, source)]
        for nth, one in enumerate(read):
            if isinstance(one, ToolReturn):
                if one.tool is None:
                    _find_tool(one, tools)
                one.untouched = one.untouched or why_untouched(one.tool)
            elif one.is_response:
                _add_tools(tools, one)
                if one.joins and response is not None:
                    response.texts += one.texts
                    response.calls += one.calls
                    continue
            response = one if isinstance(one, Turn) and one.is_response else None
            found.append((Key(number, one.part, nth), one))
        if not read:
            response = None
    return found


def _find_tool(one: ToolReturn, tools: dict[str, Any]) -> None:
    """Give a return the tool of its call, or else its own name."""
    has_id = type(one.call_id) is str
    one.tool = tools.get(one.call_id) if has_id else None
    if one.tool is None:
        one.tool = one.name
    if one.tool is None and has_id and one.call_id not in tools:
        one.untouched = one.untouched or _NO_CALL


def _add_tools(tools: dict[str, Any], response: Turn) -> None:
    """Add the tool of each call id. If the response calls several tools with one id, the tool is unknown."""
    called: dict[str, Any] = {}
    for call in response.calls:
        if type(call.id) is str:
            called[call.id] = call.tool if called.get(call.id, call.tool) == call.tool else None
    tools.update(called)


def _event(one: Turn | ToolReturn, source: Source) -> Event:
    if isinstance(one, ToolReturn):
        copies = copies_of(one, source)
        return Returned(source.value(copies[0]) if copies else None, text_of(one.call_id))
    return _response(one, source) if one.is_response else Prompt("\n".join(_texts(one, source)))


def _response(turn: Turn, source: Source) -> Response:
    calls = [Call(text_of(call.tool), source.value(call.arguments), text_of(call.id)) for call in turn.calls]
    return Response(tuple(_texts(turn, source)), tuple(calls))


def _texts(turn: Turn, source: Source) -> list[str]:
    texts = []
    for text in turn.texts:
        value = text if isinstance(text, str) else source.value(text)
        if value is not None:
            texts.append(value if isinstance(value, str) else searched(value))
    return texts


def copies_of(one: ToolReturn, source: Source) -> list[Raw]:
    """Return the copies of a content that can change, texts first: the others can be the values that they encode."""
    written = sorted(filter(None, one.contents), key=lambda raw: source.mark(raw) != '"')
    copies = [raw for raw in written if source.mark(raw) in ('"', "[", "{")]
    return copies or written[:1]


def text_of(value: Any) -> str:
    return "" if value is None else str(value)
