"""What stands at one kind of place in all of some answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reducer.path.written import Token, path_text

MOST_SEEN = 400
"""Scalars that are remembered of one spot: enough to tell dates from words, and how often one comes back."""


@dataclass(slots=True)
class Spot:
    """The values at one kind of place: `path` has a key, -1 for the items of a list, None for the values of an object used as a map.

    `values` counts them, `chars` their characters as compact JSON. `objects`, `lists` and `texts` count those kinds; `items` are the items
    of all the lists, `longest` those of the longest; `longest_text` is in characters. `saying` counts texts that hold JSON or a
    Python literal and are looked into, `said` their characters as texts; `notation` names the first. `empty` are the characters of keys below that
    say nothing. `seen` are some of the scalars.
    """

    path: tuple[Token, ...]
    values: int = 0
    chars: int = 0
    objects: int = 0
    lists: int = 0
    texts: int = 0
    items: int = 0
    longest: int = 0
    longest_text: int = 0
    saying: int = 0
    said: int = 0
    notation: str = ""
    empty: int = 0
    seen: list[Any] = field(default_factory=list)
    keys: dict[str | None, Spot] = field(default_factory=dict)
    each: Spot | None = None

    @property
    def text(self) -> str:
        """Give the place as JMESPath."""
        return path_text(self.path)

    @property
    def is_map(self) -> bool:
        """Tell whether the objects here are used as maps: keys are what differs from one to the next."""
        return None in self.keys

    def below(self) -> Iterator[Spot]:
        """Give the spots one level further in."""
        yield from self.keys.values()
        if self.each is not None:
            yield self.each

    def everywhere(self) -> Iterator[Spot]:
        """Give this spot and all further in, each before those below it."""
        waiting = [self]
        while waiting:
            spot = waiting.pop()
            yield spot
            waiting.extend(reversed([*spot.below()]))

    def key(self, name: str | None) -> Spot:
        """Give the spot at a key."""
        found = self.keys.get(name)
        if found is None:
            found = self.keys[name] = Spot((*self.path, name))
        return found

    def item(self) -> Spot:
        """Give the spot of the items."""
        if self.each is None:
            self.each = Spot((*self.path, -1))
        return self.each
