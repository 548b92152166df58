"""How much a proposal takes: from what nobody misses to what saves most; the first that saves enough is chosen."""

from __future__ import annotations

from typing import NamedTuple


class Level(NamedTuple):
    """`items` of a list at the top and `inner` of one further in, characters of a `text`, of a `record` of many for its keys, 0 for all of them.

    `part` is the most that a record keeps of its own size; `alone` says whether that goes for an object of which there is one, too.
    `whole` characters of a text that is the answer; `share` of a big answer that `max_chars` sets, 0 for none.
    """

    items: int
    inner: int
    text: int
    record: int
    whole: int
    part: float = 1
    alone: bool = False
    share: float = 0


LEVELS = (
    Level(50, 30, 1000, 0, 4000),
    Level(30, 15, 500, 0, 2000),
    Level(25, 10, 400, 800, 1500, 0.7),
    Level(20, 10, 300, 500, 1000, 0.5),
    Level(15, 6, 200, 350, 700, 0.4, True),
    Level(10, 5, 160, 250, 500, 0.3, True),
    Level(10, 5, 160, 250, 400, 0.3, True, 0.27),
    Level(10, 5, 120, 160, 300, 0.2, True, 0.2),
)
ENOUGH = 0.70
"""The share of the characters that a proposal should save."""
BIG = 2000
"""Characters of an answer from which it is worth reducing: some five hundred tokens."""
LITTLE = 0.02
"""The share of an answer below which a place is not worth a step."""
