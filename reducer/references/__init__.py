"""What later messages refer to: values that an agent wrote and had read in tool returns before.

A reference is a distinctive value that the agent writes, in a text or in the arguments of a tool call, and that stands in a tool return
before. It is novel if it stood in no other message before: the tool returns are its only source.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from reducer.references.later import Call, Mentions, Written, values_in
from reducer.references.search import occurrences, searched, searcher
from reducer.references.values import NUMBER

__all__ = [
    "NUMBER",
    "Call",
    "Event",
    "Mentions",
    "Reference",
    "Returned",
    "Said",
    "Written",
    "mentioned_later",
    "occurrences",
    "references",
    "searched",
    "searcher",
]


class Said(NamedTuple):
    """A text that the agent is sent and that is no tool return: a prompt, an instruction, an error."""

    text: str


class Returned(NamedTuple):
    """A tool return, with its content as it is stored."""

    content: Any
    call_id: str = ""


Event = Said | Written | Returned
"""One thing in a history, in order."""


class Reference(NamedTuple):
    """The first use of a value: by which event, how, and in which tool returns it stood before, counted from 0."""

    value: str
    event: int
    kind: Literal["text", "arguments"]
    sources: tuple[int, ...]
    novel: bool

    @property
    def shown(self) -> str:
        """Give the value for people."""
        return self.value.removeprefix(NUMBER)


def references(events: Sequence[Event]) -> list[Reference]:
    """Give every reference of a history, in order of use; of one response by value."""
    uses = _uses(events)
    search = searcher(frozenset[str]().union(*(text | arguments for text, arguments in uses.values())))
    found: list[Reference] = []
    seen: set[str] = set()
    elsewhere: set[str] = set()
    holding: dict[str, list[int]] = {}
    count = 0
    for number, event in enumerate(events):
        if isinstance(event, Returned):
            for value in search(searched(event.content)):
                holding.setdefault(value, []).append(count)
            count += 1
        elif isinstance(event, Said):
            elsewhere |= search(event.text)
        else:
            text, arguments = uses[number]
            for value in sorted((text | arguments) - seen):
                sources = holding.get(value)
                if sources:
                    kind: Literal["text", "arguments"] = "arguments" if value in arguments else "text"
                    found.append(Reference(value, number, kind, tuple(sources), value not in elsewhere))
            seen |= text | arguments
            for said in event.texts:
                elsewhere |= search(said)
            for call in event.calls:
                elsewhere |= search(searched(call.arguments))
    return found


def mentioned_later(events: Sequence[Event]) -> list[frozenset[str]]:
    """Give for each tool return of a history the values in it that the agent writes afterwards, whatever else it had them from."""
    mentions = Mentions([(number, event) for number, event in enumerate(events) if isinstance(event, Written)])
    return [mentions.after(number, event.content) for number, event in enumerate(events) if isinstance(event, Returned)]


def _uses(events: Iterable[Event]) -> dict[int, tuple[set[str], set[str]]]:
    """Give for each response, by its place among the events, the values in its texts and those in the arguments of its calls."""
    return {number: values_in(event) for number, event in enumerate(events) if isinstance(event, Written)}
