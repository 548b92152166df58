"""The cost of requests: each request sends the whole history again, and providers charge less for cached input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from reducer.analysis.texts import characters
from reducer.references import Event, Prompt, Response, Returned

CLEARED = "[cleared]"
"""Replaces the content of a return that was cleared."""
PRICES = {"read": 0.1, "write": 1.25, "plain": 1.0}
"""Prices of input that is read from the cache, written to the cache, and sent without a cache.

A price of 1 is the plain input price. These are the prices of Anthropic's prompt cache of five minutes.
"""


class Cost(NamedTuple):
    """The input of requests, in characters.

    `again` counts the beginning that a request shares with the previous one, `new` the rest. `changes` counts the
    requests that do not begin with the whole previous request, so that the prompt cache does not cover all of it.
    """

    requests: int = 0
    new: int = 0
    again: int = 0
    changes: int = 0

    @property
    def cached(self) -> float:
        """The cost with a prompt cache, in characters of plain input."""
        return PRICES["write"] * self.new + PRICES["read"] * self.again

    @property
    def uncached(self) -> float:
        """The cost without a prompt cache, in characters of plain input."""
        return PRICES["plain"] * (self.new + self.again)


def cost(happened: Sequence[Event], contents: Iterable[Any], cleared: Iterable[float] = ()) -> Cost:
    """Return the cost of the requests of a history with the given contents of its tool returns.

    Each request sends everything before its response. `cleared` contains, for each return, the number of the event
    from which `CLEARED` replaces it.
    """
    places = [number for number, event in enumerate(happened) if isinstance(event, Returned)]
    clears: dict[float, list[int]] = {}
    for place, start in zip(places, cleared, strict=False):
        clears.setdefault(start, []).append(place)
    returned = iter(contents)
    sizes: list[int] = []
    requests = new = again = changes = last = total = 0
    for number, event in enumerate(happened):
        if isinstance(event, Response):
            same = last
            for place in clears.get(number, ()):
                same = min(same, sum(sizes[:place]))
                total += len(CLEARED) - sizes[place]
                sizes[place] = len(CLEARED)
            requests += 1
            new += total - same
            again += same
            changes += same < last
            last = total
        sizes.append(_event_size(event, returned))
        total += sizes[-1]
    return Cost(requests, new, again, changes)


def _event_size(event: Event, returned: Iterator[Any]) -> int:
    """Count the characters of an event. The content of a tool return is the next one in `returned`."""
    if isinstance(event, Response):  # the next request sends it back
        return sum(map(len, event.texts)) + sum(size(call.arguments) for call in event.calls)
    return len(event.text) if isinstance(event, Prompt) else size(next(returned))


def size(value: Any) -> int:
    """Count the characters of a content, with 0 for None and for a content that cannot be counted."""
    return 0 if value is None else characters(value)
