"""Read what happens in a stored history: prompts, responses, tool calls and their returns."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from reducer.histories import FindMentions
from reducer.histories.format import Format, Path, ToolReturn, Turn
from reducer.histories.formats import FORMATS
from reducer.histories.source import Source, decode
from reducer.histories.stored.messages import InputFormat, Message, find_messages, search, with_source
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
    """A tool call, or a tool return or retry that answers one, in a stored history. `path` leads to its id."""

    path: Path
    id: Any
    tool: Any
    is_call: bool


class Linked(NamedTuple):
    """A message with its tool calls and tool returns in order."""

    path: Path
    is_response: bool
    links: list[Link]


class History(NamedTuple):
    """The messages of a list, or all messages of a format outside of lists; `is_whole` is false for a single one.

    `paths` are those of all messages, `linked` are the messages that are valid.
    """

    form: Format
    paths: list[Path]
    linked: list[Linked]
    is_whole: bool


def linked_histories(data: bytes) -> list[History]:
    """Return the histories in a stored value, with their tool calls and tool returns. Raises `HistoryError`."""

    def read(source: Source) -> list[History]:
        found: dict[Any, History] = {}
        for one in search(source, FORMATS, source.root):
            form, is_list = one.form, source.mark(one.raw) == "["
            paths = [(*one.path, number) for number in range(len(one.messages))] if is_list else [one.path]
            linked = [
                _linked(path, [*form.turns(message, source)], form.returns(message, source))
                for path, message in zip(paths, one.messages, strict=True)
                if type(message) is form.Message and form.recognises(message, source, False)
            ]
            key = form.NAME, one.path if is_list else None
            if earlier := found.get(key):
                earlier.paths.extend(paths)
                earlier.linked.extend(linked)
            found[key] = earlier._replace(is_whole=True) if earlier else History(form, paths, linked, is_list)
        return [*found.values()]

    return with_source(data, read)


def _linked(path: Path, turns: list[Turn], returned: Iterable[ToolReturn]) -> Linked:
    found = [(call.at, call.id, call.tool, turn.is_response) for turn in turns for call in turn.calls]
    found += [(one.at, one.call_id, one.tool, False) for one in returned]
    # A content with several texts is one tool return.
    links = {(at, not is_call): Link((*path, *at), id, tool, is_call) for at, id, tool, is_call in found}
    return Linked(path, any(turn.is_response for turn in turns), [links[place] for place in sorted(links)])
