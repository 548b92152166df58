"""References: values from tool returns that the agent uses in later messages.

A reference is a distinctive value in a tool return that a later text or tool call of the agent contains. It is novel if
tool returns are its only source: no other earlier message contains it. `references` takes the events of a history and
returns its references. `Mentions` finds values that are used later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

from reducer.references.search import occurrences, searched, searcher
from reducer.references.values import NUMBER, values_of_arguments, values_of_text

__all__ = ["NUMBER", "Call", "Event", "Mentions", "Prompt", "Reference", "Response", "Returned"]
__all__ += ["occurrences", "references", "searched", "searcher"]

_MAX_VALUE_CHARS = 1_000
_MAX_CHARS = 500_000
"""Characters of all values to search for. The automaton has a state for each character."""


class Call(NamedTuple):
    """A tool call, with arguments as a JSON value or JSON text."""

    tool: str
    arguments: Any
    id: str = ""


class Prompt(NamedTuple):
    """A text that the agent receives, other than a tool return: a user prompt, an instruction, an error."""

    text: str


class Response(NamedTuple):
    """A response of the agent."""

    texts: tuple[str, ...]
    calls: tuple[Call, ...] = ()


class Returned(NamedTuple):
    """A tool return, with its stored content."""

    content: Any
    call_id: str = ""


Event = Prompt | Response | Returned
"""An element of a history."""


Kind = Literal["text", "arguments"]
"""Where a response contains a value: in a text, or in the arguments of a tool call."""


class Reference(NamedTuple):
    """The first use of a value, in an event that is identified by its position.

    `sources` are the earlier tool returns that contain the value. Tool returns are counted from 0.
    """

    value: str
    event: int
    kind: Kind
    sources: tuple[int, ...]
    novel: bool

    @property
    def shown(self) -> str:
        """Return the value without `NUMBER`."""
        return self.value.removeprefix(NUMBER)


class Mentions:
    """The values that an agent uses in a history, each with the position of the last response that contains it.

    A position is any value with an order, such as a number. Only the last 500,000 characters of values count, and only
    values of at most 1,000 characters.
    """

    def __init__(self, read: Callable[[], Sequence[tuple[Any, Response]]]) -> None:
        """`read()` returns the responses in order, each with its position. It is called when they are first needed."""
        self._read = read

    def after(self, position: Any, content: Any) -> frozenset[str]:
        """Return the values in a stored content that a response after `position` contains."""
        last, search = self._last
        return frozenset(value for value in search(searched(content)) if last[value] > position)

    @cached_property
    def _last(self) -> tuple[dict[str, Any], Callable[[str], set[str]]]:
        """The last position of each value, and a function that finds the values in a text."""
        last: dict[str, Any] = {}
        remaining_chars = _MAX_CHARS
        for position, response in reversed(self._read()):
            for value in sorted(_values(response).keys() - last.keys()):
                if len(value) <= min(_MAX_VALUE_CHARS, remaining_chars):
                    last[value] = position
                    remaining_chars -= len(value)
        return last, searcher(last)


def references(events: Sequence[Event]) -> list[Reference]:
    """Return the references of a history in order of use. The references of one response are sorted by value."""
    uses: dict[int, dict[str, Kind]] = {}
    wanted: set[str] = set()
    for number, event in enumerate(events):
        if isinstance(event, Response):
            uses[number] = _values(event)
            wanted.update(uses[number])
    search = searcher(wanted)
    found: list[Reference] = []
    used: set[str] = set()
    in_other_messages: set[str] = set()
    sources: dict[str, list[int]] = {}
    count = 0
    for number, event in enumerate(events):
        if isinstance(event, Returned):
            for value in search(searched(event.content)):
                sources.setdefault(value, []).append(count)
            count += 1
        elif isinstance(event, Prompt):
            in_other_messages |= search(event.text)
        else:
            values = uses[number]
            for value in sorted(sources.keys() & values.keys() - used):
                novel = value not in in_other_messages
                found.append(Reference(value, number, values[value], tuple(sources[value]), novel))
            used.update(values)
            in_other_messages.update(*map(search, event.texts))
            for call in event.calls:
                in_other_messages |= search(searched(call.arguments))
    return found


def _values(response: Response) -> dict[str, Kind]:
    """Return the values in a response, each with its kind. A value in a text and in arguments is in `arguments`."""
    values: dict[str, Kind] = {}
    for text in response.texts:
        values |= dict.fromkeys(values_of_text(text), "text")
    for call in response.calls:
        values |= dict.fromkeys(values_of_arguments(call.arguments), "arguments")
    return values
