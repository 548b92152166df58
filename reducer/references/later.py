"""Which values in a tool return the agent writes afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from reducer.references.search import searched, searcher
from reducer.references.values import argued, written

_LONGEST = 1_000
_MOST = 500_000
"""Characters of values that are looked for together: a state of the automaton each. Histories of hundreds of requests have a tenth of that."""


class Call(NamedTuple):
    """A tool call: the arguments are JSON, or JSON text."""

    tool: str
    arguments: Any
    id: str = ""


class Written(NamedTuple):
    """A response of the agent: its texts and its tool calls."""

    texts: tuple[str, ...]
    calls: tuple[Call, ...] = ()


class Mentions:
    """The values that the agent writes in a history, and which event was the last to write each.

    `responses` are the responses with their places among all events, in order. Past 500,000 characters of values those that were
    written last count, and none of over 1,000 characters does.
    """

    __slots__ = ("_last", "_search")

    def __init__(self, responses: Sequence[tuple[int, Written]]) -> None:
        self._last: dict[str, int] = {}
        room = _MOST
        for number, response in reversed(responses):
            for value in sorted(set[str]().union(*values_in(response)) - self._last.keys()):
                if len(value) <= min(_LONGEST, room):
                    self._last[value] = number
                    room -= len(value)
        self._search = searcher(self._last)

    def after(self, number: int, content: Any) -> frozenset[str]:
        """Give the values in a content, as it is stored, that are written by an event after the one at `number`."""
        if not self._last:
            return frozenset()
        return frozenset(value for value in self._search(searched(content)) if self._last[value] > number)


def values_in(response: Written) -> tuple[set[str], set[str]]:
    """Give the values in the texts of a response, and those in the arguments of its calls."""
    return _union(map(written, response.texts)), _union(argued(call.arguments) for call in response.calls)


def _union(found: Iterable[set[str]]) -> set[str]:
    return set().union(*found)
