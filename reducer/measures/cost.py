"""What the requests of a history cost: each sends all that came before it again, and providers bill what they have cached at less."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Prices(NamedTuple):
    """What input costs, as multiples of its price: read from the cache, written to it, and without a cache.

    The default is what Anthropic bills with its prompt cache of five minutes: 0.1, 1.25 and 1.0.
    """

    read: float = 0.1
    write: float = 1.25
    plain: float = 1.0


class Cost(NamedTuple):
    """What all requests send, in characters: `new` what was not sent before in that place, `again` the beginning that is as it was.

    `changes` counts the requests that do not begin as the one before them did, so that the cache of what follows is lost.
    """

    requests: int = 0
    new: int = 0
    again: int = 0
    changes: int = 0

    def cached(self, prices: Prices) -> float:
        """Give the price with a prompt cache, in characters of plain input."""
        return prices.write * self.new + prices.read * self.again

    def uncached(self, prices: Prices) -> float:
        """Give the price without a prompt cache, in characters of plain input."""
        return prices.plain * (self.new + self.again)


NOTHING = Cost()


def cost(requests: Iterable[tuple[int, int]]) -> Cost:
    """Sum up what the requests of one history send: each is how many characters it has in all, and how many of them the one before began with."""
    count = new = again = changes = last = 0
    for size, same in requests:
        count += 1
        new += size - same
        again += same
        changes += same < last
        last = size
    return Cost(count, new, again, changes)


def add_costs(costs: Iterable[Cost]) -> Cost:
    """Sum up the costs of several histories."""
    return Cost(*map(sum, zip(NOTHING, *costs, strict=True)))
