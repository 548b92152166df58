"""References: values from tool returns that the agent uses in later messages.

A reference is a distinctive value that occurs in a tool return, and later in a text or in tool-call arguments of the
agent. It is novel if no other message contained it before, so that tool returns are its only source.
`references` takes the events of a history and returns its references; `Mentions` finds values that are used later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from reducer.references.search import occurrences, searched, searcher
from reducer.references.values import NUMBER, values_of_arguments, values_of_text

__all__ = ["NUMBER", "Call", "Event", "Mentions", "Prompt", "Reference", "Response", "Returned"]
__all__ += ["occurrences", "references", "searched", "searcher"]

_MAX_VALUE_CHARS = 1_000
_MAX_CHARS = 500_000
"""Characters of all values that are searched for: the automaton has a state for each."""


class Call(NamedTuple):
    """A tool call: the arguments are JSON, or JSON text."""

    tool: str
    arguments: Any
    id: str = ""


class Prompt(NamedTuple):
    """A text that the agent receives and that is not a tool return: a user prompt, an instruction, an error."""

    text: str


class Response(NamedTuple):
    """A response of the agent: its texts and its tool calls."""

    texts: tuple[str, ...]
    calls: tuple[Call, ...] = ()


class Returned(NamedTuple):
    """A tool return, with its content as it is stored."""

    content: Any
    call_id: str = ""


Event = Prompt | Response | Returned
"""An element of a history, in order."""


class Reference(NamedTuple):
    """The first use of a value: the number of the event, how it is used, and the tool returns that contain it before.

    `sources` are numbers of tool returns, counted from 0.
    """

    value: str
    event: int
    kind: Literal["text", "arguments"]
    sources: tuple[int, ...]
    novel: bool

    @property
    def shown(self) -> str:
        """Return the value as people read it."""
        return self.value.removeprefix(NUMBER)


class Mentions:
    """The values that an agent writes in a history, each with the place of the last event that contains it.

    A place is anything that is in order, such as a number.
    Beyond 500,000 characters of values, the latest values count. A value of more than 1,000 characters never counts.
    """

    __slots__ = ("_last", "_search")

    def __init__(self, responses: Sequence[tuple[Any, Response]]) -> None:
        """Collect the values of responses, each with its place, in order."""
        self._last: dict[str, Any] = {}
        left = _MAX_CHARS
        for place, response in reversed(responses):
            for value in sorted(set[str]().union(*_values(response)) - self._last.keys()):
                if len(value) <= min(_MAX_VALUE_CHARS, left):
                    self._last[value] = place
                    left -= len(value)
        self._search = searcher(self._last)

    def after(self, place: Any, content: Any) -> frozenset[str]:
        """Return the values in a stored content that an event after `place` contains."""
        if not self._last:
            return frozenset()
        return frozenset(value for value in self._search(searched(content)) if self._last[value] > place)


def references(events: Sequence[Event]) -> list[Reference]:
    """Return every reference of a history, in order of use, and those of one response sorted by value."""
    uses = {number: _values(event) for number, event in enumerate(events) if isinstance(event, Response)}
    search = searcher(frozenset[str]().union(*(text | arguments for text, arguments in uses.values())))
    found: list[Reference] = []
    used: set[str] = set()
    elsewhere: set[str] = set()
    sources: dict[str, list[int]] = {}
    count = 0
    for number, event in enumerate(events):
        if isinstance(event, Returned):
            for value in search(searched(event.content)):
                sources.setdefault(value, []).append(count)
            count += 1
        elif isinstance(event, Prompt):
            elsewhere |= search(event.text)
        else:
            text, arguments = uses[number]
            for value in sorted((text | arguments) - used):
                if value in sources:
                    kind: Literal["text", "arguments"] = "arguments" if value in arguments else "text"
                    found.append(Reference(value, number, kind, tuple(sources[value]), novel=value not in elsewhere))
            used |= text | arguments
            elsewhere.update(*map(search, event.texts), *(search(searched(call.arguments)) for call in event.calls))
    return found


def _values(response: Response) -> tuple[set[str], set[str]]:
    """Return the values in the texts of a response, and those in the arguments of its calls."""
    texts = set[str]().union(*map(values_of_text, response.texts))
    return texts, set[str]().union(*(values_of_arguments(call.arguments) for call in response.calls))
