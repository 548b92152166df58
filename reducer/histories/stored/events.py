"""Read what happens in a stored history: prompts, responses, tool calls and their returns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from msgspec import UNSET

from reducer.histories import FindMentions
from reducer.histories.format import Format, Path, Turn
from reducer.histories.formats import FORMATS
from reducer.histories.source import Source, decode
from reducer.histories.stored.messages import InputFormat, Message, MessageList, find_messages, search, with_source
from reducer.histories.stored.returns import Key, find_returns, text_of
from reducer.references import Call, Event, Mentions, Prompt, Response, Returned, searched


class Placed(NamedTuple):
    """An event of a history and its place."""

    event: Event
    key: Key


def events(data: bytes, input_format: InputFormat = "auto") -> list[Placed]:
    """Return the prompts, responses and tool returns of a stored history in order. Raises `HistoryError`."""

    def read(source: Source) -> list[Placed]:
        messages = find_messages(source, input_format)
        found = _find_events(source, messages)
        for key, one, spans in find_returns(source, messages):
            content = decode(data[slice(*spans[0])])[0] if spans else None
            found.append(Placed(Returned(content, text_of(one.call_id)), key))
        return sorted(found, key=lambda one: one.key)

    return with_source(data, read)


def later_mentions(data: bytes, input_format: InputFormat = "auto") -> FindMentions:
    """Return a function that finds the values that later messages mention. It reads the history on its first call."""

    @cache
    def mentions() -> Mentions:
        found = with_source(data, lambda source: _find_events(source, find_messages(source, input_format)))
        return Mentions([(one.key, one.event) for one in found if isinstance(one.event, Response)])

    return lambda key, content: lambda: mentions().after(key, content)


def _find_events(source: Source, messages: list[Message]) -> list[Placed]:
    """Return the prompts and responses in order."""
    found: list[Placed] = []
    previous: Any = None
    for number, (form, message) in enumerate(messages):
        turns = [*form.turns(message, source)]
        for turn in turns:
            event = _decoded(turn, source)
            if turn.joins and isinstance(event, Response) and isinstance(previous, Response):
                event = Response(previous.texts + event.texts, previous.calls + event.calls)
                found[-1] = found[-1]._replace(event=event)
            else:
                found.append(Placed(event, Key(number, turn.part, -1)))
            previous = event
        if not turns:
            previous = None
    return found


def _decoded(turn: Turn, source: Source) -> Prompt | Response:
    values = [text if isinstance(text, str) else source.value(text) for text in turn.texts]
    if not turn.is_response:
        return Prompt("\n".join(value if isinstance(value, str) else searched(value) for value in values))
    calls = [Call(text_of(call.tool), source.value(call.arguments), text_of(call.id)) for call in turn.calls]
    return Response(tuple(value for value in values if isinstance(value, str)), tuple(calls))


class Link(NamedTuple):
    """A tool call, or a tool return that answers one, in a stored history; `path` leads to its id, if it has one."""

    path: Path
    id: Any
    tool: Any
    is_call: bool


class Linked(NamedTuple):
    """A message with its tool calls and tool returns."""

    path: Path
    is_response: bool
    links: list[Link]


def message_lists(data: bytes) -> list[tuple[Format, Path, list[Linked]]]:
    """Return the format, the path and the messages of each list of messages, and of each message outside of lists."""

    def read(source: Source) -> list[tuple[Format, Path, list[Linked]]]:
        return [(one.form, one.path, [*_linked(one, source)]) for one in search(source, FORMATS, source.root)]

    return with_source(data, read)


def _linked(one: MessageList, source: Source) -> Iterator[Linked]:
    is_list = source.mark(one.raw) == "["
    for number, message in enumerate(one.messages):
        path = (*one.path, number) if is_list else one.path
        if type(message) is one.form.Message and one.form.recognises(message, source, False):
            turns = [*one.form.turns(message, source)]
            calls = [(call.at, call.id, call.tool, True) for turn in turns for call in turn.calls]
            returned = [(found.at, found.call_id, found.tool, False) for found in one.form.returns(message, source)]
            links = [
                Link((*path, *at), id if type(id) is str else UNSET, tool if type(tool) is str else None, is_call)
                for at, id, tool, is_call in calls + returned
            ]
            # A content with several texts is one tool return.
            yield Linked(path, any(turn.is_response for turn in turns), [*dict.fromkeys(links)])
