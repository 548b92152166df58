"""What a drafted rule may do to a return: a few amounts of a few operations, so that one choice can be stricter than another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

LENGTHS = (100, 200, 400, 800, 1500, 2000, 3000, 4000, 6000, 8000, 12000)
"""Characters of texts that are tried."""
TAILS = (800, 1500, 3000, 6000)
"""Characters of texts of which a quarter is the end."""
COUNTS = (3, 10, 30, 100)
"""Items of lists that are tried."""
TARGETS = (1000, 2000, 3000, 4000, 6000, 8000, 16000)
"""Characters of whole returns that are tried."""
SHORTEST = 400
"""Characters below which a return is left alone: there is nothing to save, and short answers are read in full."""
GATES = (SHORTEST, 800, 1500, 3000, 4500, 6000, 8000, 12000, 24000, 48000)
"""Characters from which on a choice may hold."""


class Cut(NamedTuple):
    """Limits on the lists at `lists` and on texts. `kept`: what is cut off blindly keeps its indicators.

    `tail` is the share of a text's length that is its end. `target` is `max_chars`, which stands alone but for
    `unwrap`: JSON in texts is opened first, so that the texts and lists in it are cut one by one.
    """

    lists: tuple[str, ...] = ()
    items: int | None = None
    length: int | None = None
    tail: bool = False
    kept: bool = True
    target: int | None = None
    unwrap: bool = False

    @property
    def family(self) -> tuple[Any, ...]:
        """Give what two cuts have in common of which one may follow the other for larger returns."""
        return self.tail, self.kept, self.target, self.unwrap

    def is_stricter(self, other: Cut) -> bool:
        """Tell whether all limits of a cut of the same family are as strict or stricter."""
        return _at_most(self.items, other.items) and _at_most(self.length, other.length)

    def steps(self, gate: int) -> list[dict[str, Any]]:
        """Write the steps that hold for returns of at least `gate` characters."""
        when: Mapping[str, Any] = {"when": {"min_chars": gate}} if gate > 1 else {}
        preserve: Mapping[str, Any] = {} if self.kept else {"preserve": []}
        found: list[dict[str, Any]] = [{"unwrap": True, **when}] if self.unwrap else []
        if self.items is not None:
            found += [{**({"path": path} if path != "@" else {}), "limit": self.items, **when, **preserve} for path in self.lists]
        if self.length is not None:
            amount: Any = {"head": self.length - self.length // 4, "tail": self.length // 4} if self.tail else self.length
            found.append({"truncate": amount, **when, **preserve})
        return found


def _at_most(new: int | None, old: int | None) -> bool:
    return old is None or (new is not None and new <= old)


def cuts(lists: tuple[str, ...], nested: bool) -> Iterator[Cut]:
    """Give every cut that is tried for a tool whose returns are long lists at `lists`, and have JSON `nested` in texts."""
    some: tuple[int | None, ...] = (None, *LENGTHS[:4])
    for kept in (True, False):
        for length in LENGTHS:
            yield Cut(length=length, kept=kept)
            if kept and length in TAILS:
                yield Cut(length=length, tail=True)
            if kept and nested:
                yield Cut(length=length, unwrap=True)
        if lists:
            for items in COUNTS:
                for most in some:
                    if not kept or most is None:
                        yield Cut(lists, items, most, kept=kept)
    for target in TARGETS:
        yield Cut(target=target)
        yield Cut(target=target, kept=False)
        if nested:
            yield Cut(target=target, unwrap=True)
