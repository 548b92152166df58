"""`limit`: keep the first or best items of a list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, Literal

from pydantic import Field

from reducer.operations.fields import Amount, Condition
from reducer.operations.op import Example, Op, Place, ends_of, enumerated, items_of, named
from reducer.paths import Chain
from reducer.values import shown

_TIME = re.compile(
    r"(?i)seen|date|time|created|updated|modified|observed|submitted|published|_at\b|(?:first|last)Activity"
)


class Limit(Op):
    """Keep the first `limit` items, or the best by `sort_by`, and all items that match `always_keep`."""

    accepts = frozenset({list})
    examples = (
        Example("the first two", {"limit": 2}, [1, 2, 3], [1, 2]),
        Example("both ends", {"limit": {"head": 1, "tail": 1}}, [1, 2, 3], [1, 3]),
        Example(
            "the two newest, in their original order",
            {"limit": 2, "sort_by": "seen"},
            [{"seen": "2024-01-02"}, {"seen": "2023-05-01"}, {"seen": "2024-03-01"}],
            [{"seen": "2024-01-02"}, {"seen": "2024-03-01"}],
        ),
        Example(
            "the lowest, and all with a high risk",
            {"limit": 1, "sort_by": "rank", "order": "asc", "always_keep": "risk == 'high'"},
            [{"rank": 1, "risk": "low"}, {"rank": 2, "risk": "low"}, {"rank": 3, "risk": "high"}],
            [{"rank": 1, "risk": "low"}, {"rank": 3, "risk": "high"}],
        ),
    )

    limit: Amount
    sort_by: Condition | None = Field(None, description="Keep the items with the highest or newest value.")
    order: Literal["asc", "desc"] = Field("desc", description="`desc`: the highest stay, `asc`: the lowest.")
    always_keep: Condition | None = Field(None, description="Also keep items that match this, or a named condition.")

    def apply(self, place: Place, root: Place) -> None:
        items = place.contents()
        if len(items) > self.limit.head + self.limit.tail:
            place.keep_items(sorted(self._chosen(items) | self._matching(items)))

    def prefers(self) -> bool:
        return self.sort_by is not None or self.always_keep is not None

    def best(self, items: list[Any], most: int) -> Sequence[int]:
        matching = self._matching(items)
        return sorted(sorted(self._ranked(items), key=lambda index: index not in matching)[:most])

    def always_kept(self, value: Any) -> int:
        """Count the items of a list at its place that are kept only by `always_keep`."""
        if type(value) is not list or len(value) <= self.limit.head + self.limit.tail:
            return 0
        return len(self._matching(value) - self._chosen(value))

    def _chosen(self, items: list[Any]) -> set[int]:
        ranked = self._ranked(items)
        return {*ranked[: self.limit.head], *ranked[len(items) - self.limit.tail :]}

    def _matching(self, items: list[Any]) -> set[int]:
        if self.always_keep is None:
            return set()
        holds = self.always_keep.holds
        return {position for position, item in enumerate(items) if holds(item)}

    def describe(self, place: str) -> str:
        head, tail = self.limit.head, self.limit.tail
        items = items_of(place, head + tail)
        also = "" if self.always_keep is None else f", and all that match {named([self.always_keep.text])}"
        if self.sort_by is None:
            return f"keeps the {ends_of(('first', head), ('last', tail))} {items}{also}"
        low, high = ("oldest", "newest") if _TIME.search(self.sort_by.text) else ("lowest", "highest")
        first, last = (low, high) if self.order == "asc" else (high, low)
        ends = enumerated(
            end if count == 1 else f"{count:,} {end}" for end, count in ((first, head), (last, tail)) if count
        )
        return f"keeps the {ends} {items} by {named([self.sort_by.text])}{also}"

    def shortens(self) -> Iterable[Chain]:
        return ((),)

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        for expression in (self.sort_by, self.always_keep):
            if expression is not None:
                yield from (((), chain) for chain in expression.reads)

    def _ranked(self, items: list[Any]) -> Sequence[int]:
        if self.sort_by is None:
            return range(len(items))
        if self.sort_by.simple_field is not None and set(map(type, items)) == {dict}:
            values: list[Any] = [*map(dict.get, items, repeat(self.sort_by.simple_field))]
        else:
            values = [self.sort_by.evaluate(item) for item in items]
        kinds = set(map(type, values))
        descending = self.order == "desc"
        # Values of one type, as in most real data, are compared at C speed.
        if kinds == {str} or kinds == {int}:
            return sorted(range(len(items)), key=values.__getitem__, reverse=descending)
        keys: list[Any] = [_rank(value) for value in values]
        with_value = [index for index, key in enumerate(keys) if key is not None]
        without = [index for index, key in enumerate(keys) if key is None]
        return [*sorted(with_value, key=keys.__getitem__, reverse=descending), *without]


def _rank(value: Any) -> tuple[bool, Any] | None:
    """Return a sort key that puts numbers (and booleans) before texts, or None for any other value."""
    value = shown(value)
    if isinstance(value, (int, float)):
        return (False, value)
    return (True, value) if type(value) is str else None
