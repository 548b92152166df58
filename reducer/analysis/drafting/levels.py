"""How much a draft without evidence removes: levels from harmless to strict. The first that saves enough is chosen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """Limits: `items` of a list at the top and `inner` of one further in, characters of a `text`.

    `record`: characters of one record of many, 0 for all its keys; `part`: the largest share of its size that a record
    keeps; `alone`: this also holds for a single object. `whole`: characters of an answer that is one text. `share`: the
    share of a typical answer that becomes `max_chars`, 0 for none.
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
"""The share of the characters that a draft should save."""
BIG = 2000
"""Characters of an answer that is worth reducing: about five hundred tokens."""
LITTLE = 0.02
"""The share of an answer below which a place is not worth a step."""
