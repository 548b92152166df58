"""Read what happens in a stored history: prompts, responses, tool calls and their returns."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from reducer.histories import FindMentions
from reducer.histories.format import Format, Path, Turn
from reducer.histories.formats import FORMATS
from reducer.histories.source import Source, decode
from reducer.histories.stored.messages import FoundMessage, InputFormat, find_messages, search, with_source
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


def _find_events(source: Source, messages: list[FoundMessage]) -> list[Placed]:
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
    needs_id: bool


class Linked(NamedTuple):
    """A message with its tool calls and tool returns in order. With `is_elsewhere`, it has calls that are not known."""

    path: Path
    is_response: bool
    is_elsewhere: bool
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
            is_list = source.mark(one.raw) == "["
            key = one.form.NAME, one.path if is_list else None
            history = found.setdefault(key, History(one.form, [], [], is_whole=is_list))
            if history.paths:
                found[key] = history._replace(is_whole=True)
            for number, message in enumerate(one.messages):
                path = (*one.path, number) if is_list else one.path
                history.paths.append(path)
                if type(message) is one.form.MESSAGE and one.form.recognises(message, source, False):
                    history.linked.append(_linked(path, one.form, message, source))
        return [*found.values()]

    return with_source(data, read)


def _linked(path: Path, form: Format, message: Any, source: Source) -> Linked:
    turns = [*form.turns(message, source)]
    links: dict[tuple[Path, bool], Link] = {}
    for turn in turns:
        for call in turn.calls:
            # Calls come before returns. A prompt with a call is a retry, which answers it.
            place = call.at, not turn.is_response
            links[place] = Link((*path, *call.at), call.id, call.tool, turn.is_response, call.needs_id)
    for one in form.returns(message, source):
        # A content with several texts is one tool return.
        links[one.at, True] = Link((*path, *one.at), one.call_id, one.tool, is_call=False, needs_id=True)
    in_order = [links[place] for place in sorted(links)]
    is_response = any(turn.is_response for turn in turns)
    is_elsewhere = any(turn.is_elsewhere for turn in turns)
    return Linked(path, is_response, is_elsewhere, in_order)
