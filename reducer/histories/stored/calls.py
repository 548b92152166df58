"""Read the tool calls of stored histories, and the tool returns and retries that answer them."""

from __future__ import annotations

from typing import Any, NamedTuple

from reducer.histories.format import Format, Path, Turn
from reducer.histories.formats import FORMATS
from reducer.histories.source import Source
from reducer.histories.stored.messages import is_message, search, with_source


class Link(NamedTuple):
    """A tool call, or a tool return or retry that answers one. `path` leads to its id."""

    path: Path
    id: Any
    tool: Any
    is_call: bool


class Linked(NamedTuple):
    """A message with its tool calls and tool returns in order. With `is_elsewhere`, it has calls that are not known."""

    path: Path
    is_valid: bool
    is_response: bool
    is_elsewhere: bool
    links: list[Link]


class History(NamedTuple):
    """The messages of a list, or all messages of a format outside of lists."""

    form: Format
    is_list: bool
    messages: list[Linked]


def linked_histories(data: bytes) -> list[History]:
    """Return the histories in a stored value, with their tool calls and tool returns. Raises `HistoryError`."""

    def read(source: Source) -> list[History]:
        found: dict[Any, History] = {}
        for one in search(source, FORMATS, source.root):
            is_list = source.mark(one.raw) == "["
            key = one.form.NAME, one.path if is_list else None
            history = found.setdefault(key, History(one.form, is_list, []))
            for number, message in enumerate(one.messages):
                path = (*one.path, number) if is_list else one.path
                history.messages.append(_linked(path, one.form, message, source))
        return [*found.values()]

    return with_source(data, read)


def _linked(path: Path, form: Format, message: Any, source: Source) -> Linked:
    is_valid = is_message(message, form, source)
    is_response = is_elsewhere = False
    links: list[Link] = []
    for one in form.read(message, source) if is_valid else ():
        if isinstance(one, Turn):
            is_response = is_response or one.is_response
            is_elsewhere = is_elsewhere or one.is_elsewhere
            # A prompt with a call is a retry, which answers it.
            links += [Link((*path, *call.at), call.id, call.tool, one.is_response) for call in one.calls if call.at]
        else:
            link = Link((*path, *one.at), one.call_id, one.tool, is_call=False)
            if one.at and link not in links[-1:]:  # a content with several texts is one tool return
                links.append(link)
    return Linked(path, is_valid, is_response, is_elsewhere, links)
