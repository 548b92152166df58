"""The cost of the requests of a history: each sends all of its history, and providers bill cached input at less."""

from __future__ import annotations

from operator import add
from typing import NamedTuple


class Prices(NamedTuple):
    """Prices of input, as multiples of its plain price: read from the cache, written to it, and without a cache.

    The default is what Anthropic bills with its prompt cache of five minutes.
    """

    read: float = 0.1
    write: float = 1.25
    plain: float = 1.0


class Cost(NamedTuple):
    """What requests send, in characters: `new`, and `again` the beginning that the request before had too.

    `changes` counts the requests that do not begin with all of the one before, which loses the cache from there on.
    """

    requests: int = 0
    new: int = 0
    again: int = 0
    changes: int = 0

    def cached(self, prices: Prices) -> float:
        """Return the price with a prompt cache, in characters of plain input."""
        return prices.write * self.new + prices.read * self.again

    def uncached(self, prices: Prices) -> float:
        """Return the price without a prompt cache, in characters of plain input."""
        return prices.plain * (self.new + self.again)


def add_costs(one: Cost, other: Cost) -> Cost:
    """Add the costs of different histories."""
    return Cost(*map(add, one, other))
