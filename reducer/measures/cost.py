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


class Request(NamedTuple):
    """What one request adds to the one before, in characters: as it was recorded, and as rules leave it."""

    before: int
    after: int


class Cost(NamedTuple):
    """What all requests send, in characters: how many requests, and how much is new and how much was sent before, recorded and reduced.

    A rule reduces a return by its content alone, so that what was sent once is sent the same ever after: no prefix changes.
    """

    requests: int
    new_before: int
    again_before: int
    new_after: int
    again_after: int

    def cached(self, prices: Prices) -> tuple[float, float]:
        """Give the price with a prompt cache, recorded and reduced, in characters of plain input."""
        return (
            prices.write * self.new_before + prices.read * self.again_before,
            prices.write * self.new_after + prices.read * self.again_after,
        )

    def uncached(self, prices: Prices) -> tuple[float, float]:
        """Give the price without a prompt cache, recorded and reduced, in characters of plain input."""
        return prices.plain * (self.new_before + self.again_before), prices.plain * (self.new_after + self.again_after)


NOTHING = Cost(0, 0, 0, 0, 0)


def cost(requests: Iterable[Request]) -> Cost:
    """Sum up what the requests of one history send."""
    count = new_before = again_before = new_after = again_after = 0
    for request in requests:
        count += 1
        again_before += new_before
        again_after += new_after
        new_before += request.before
        new_after += request.after
    return Cost(count, new_before, again_before, new_after, again_after)


def add_costs(one: Cost, other: Cost) -> Cost:
    """Sum up the costs of two histories."""
    return Cost(*map(sum, zip(one, other, strict=True)))
