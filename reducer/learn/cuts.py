"""What a drafted rule may do to a return: a few amounts of a few operations, so that one choice can be stricter than another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

LENGTHS = (400, 800, 1500, 2000, 3000, 4000, 6000, 8000, 12000)
"""Characters of texts that are tried: what is shorter says no more what was answered."""
BRIEF = (100, 200, 400, 800)
"""Characters of texts that are tried where lists of them are limited: these are cells of tables."""
TAILS = (800, 1500, 3000, 6000)
"""Characters of texts of which a quarter is the end."""
COUNTS = (2, 5, 10, 30, 100)
"""Items of lists that are tried; the first two keep as much of the end as of the beginning, or nearly."""
TARGETS = (2000, 3000, 4000, 6000, 8000, 16000)
"""Characters of whole returns that are tried."""
SHORTEST = 400
"""Characters below which a return is left alone: there is nothing to save, and short answers are read in full."""
GATES = (SHORTEST, 800, 1500, 3000, 4500, 6000, 8000, 12000, 24000, 48000)
"""Characters from which on a choice may hold."""
STARTS = (8000, 24000)
"""Characters from which on lists are cut where a target is for all returns."""
KEY_TYPES = ("ioc", "cve", "mitre_attack", "threat_actor")
"""What stays of what is cut off blindly, if a rule says nothing."""
_BOTH_ENDS = 5


Told = tuple[str, dict[str, Any]]
"""A step, and why it is there."""


class Way(NamedTuple):
    """Steps that cost nothing: those that come before all limits, and those that come after them."""

    first: tuple[Told, ...] = ()
    last: tuple[Told, ...] = ()


NOTHING = Way()


class Cut(NamedTuple):
    """Limits on the lists at `lists` and on texts. `kept`: what is cut off blindly keeps its indicators.

    `way`: the number of the steps that cost nothing with which it goes. `tail` is the share of a text's length that is its end. `target` is
    `max_chars`. A cut with no limit at all is those steps alone. With a target lists are limited in returns of `start` characters and more.
    `again`: what agents used in other tasks stays.
    """

    way: int = 0
    lists: tuple[str, ...] = ()
    items: int | None = None
    length: int | None = None
    tail: bool = False
    kept: bool = True
    target: int | None = None
    start: int = 0
    again: bool = False

    @property
    def family(self) -> tuple[Any, ...]:
        """Give what two cuts have in common of which one may follow the other for larger returns."""
        return self.way, self.tail, self.kept, self.target, self.start, self.again

    @property
    def is_bare(self) -> bool:
        """Tell whether nothing is limited."""
        return self.items is None and self.length is None and self.target is None

    @property
    def holds_always(self) -> bool:
        """Tell whether the cut is for returns of all sizes: a rule has one target, and a gate would be one for its other steps too."""
        return self.target is not None and (self.way > 0 or self.items is not None)

    def is_stricter(self, other: Cut) -> bool:
        """Tell whether all limits of a cut of the same family are as strict or stricter."""
        return _at_most(self.items, other.items) and _at_most(self.length, other.length)

    def preserved(self, values: str) -> dict[str, Any]:
        """Write what stays of what is cut off; `values` names the entity type of what agents used in other tasks."""
        if self.again:
            return {"preserve": [*(KEY_TYPES if self.kept else ()), values]}
        return {} if self.kept else {"preserve": []}

    def steps(self, gate: int, values: str = "") -> list[dict[str, Any]]:
        """Write the steps that hold for returns of at least `gate` characters."""
        when, preserve = _when(gate), self.preserved(values)
        # What `limit` takes is taken by name: nothing of it stays but what is said to.
        named = preserve if self.again else {}
        found: list[dict[str, Any]] = []
        if self.items is not None:
            found += [{**({"path": path} if path != "@" else {}), "limit": amount(self.items), **(_when(self.start) or when), **named} for path in self.lists]
        if self.length is not None:
            length: Any = {"head": self.length - self.length // 4, "tail": self.length // 4} if self.tail else self.length
            found.append({"truncate": length, **when, **preserve})
        return found


def amount(items: int) -> Any:
    """Write how many items of a list stay: of few some are the last ones, as lists are mostly in an order."""
    return {"head": items - items // 2, "tail": items // 2} if items <= _BOTH_ENDS else items


def _when(gate: int) -> Mapping[str, Any]:
    return {"when": {"min_chars": gate}} if gate > 1 else {}


def _at_most(new: int | None, old: int | None) -> bool:
    return old is None or (new is not None and new <= old)


def cuts(lists: tuple[str, ...], ways: int, ends: bool) -> Iterator[Cut]:
    """Give every cut that is tried for a tool whose returns are long lists at `lists`, in each of so many ways.

    `ends`: all ways but the first cut the ends of rows off, which goes with no limit on texts.
    """
    for way in range(ways):
        if way:
            yield Cut(way)
        for kept in (True, False):
            if not (way and ends):
                yield from _of_texts(way, lists, kept)
            elif not kept:
                for items in COUNTS:
                    yield Cut(way, lists, items, kept=False)
            for target in TARGETS:
                yield Cut(way, target=target, kept=kept)
        for target in TARGETS if lists else ():
            for items in COUNTS[:3] if way or ways == 1 else ():
                for start in STARTS:
                    yield Cut(way, lists, items, kept=False, target=target, start=start)


def _of_texts(way: int, lists: tuple[str, ...], kept: bool) -> Iterator[Cut]:
    for length in LENGTHS:
        if kept or not way:
            yield Cut(way, length=length, kept=kept)
        if kept and length in TAILS:
            yield Cut(way, length=length, tail=True)
    for items in COUNTS if lists and not kept else ():
        for most in (None, *BRIEF):
            yield Cut(way, lists, items, most, kept=False)
