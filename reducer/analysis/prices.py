"""The cost of requests: each request sends the whole history again, and providers charge less for cached input."""

from __future__ import annotations

from typing import NamedTuple


class Prices(NamedTuple):
    """Prices of input that is read from the cache, written to the cache, and sent without a cache.

    A price of 1 is the plain input price. The defaults are those of Anthropic's prompt cache of five minutes.
    """

    read: float = 0.1
    write: float = 1.25
    plain: float = 1.0


class Cost(NamedTuple):
    """The input of requests, in characters.

    `again` counts the beginning that a request shares with the previous one, `new` the rest. `changes` counts the
    requests that do not begin with the whole previous request, so that the prompt cache does not cover all of it.
    """

    requests: int = 0
    new: int = 0
    again: int = 0
    changes: int = 0

    def cached(self, prices: Prices) -> float:
        """Return the cost with a prompt cache, in characters of plain input."""
        return prices.write * self.new + prices.read * self.again

    def uncached(self, prices: Prices) -> float:
        """Return the cost without a prompt cache, in characters of plain input."""
        return prices.plain * (self.new + self.again)
