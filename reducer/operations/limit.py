"""`limit`: keep the first or best items of a list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any, Literal

from pydantic import Field

from reducer.operations.fields import MARK, Amount, Condition, Mark, SortKey, SortKeys
from reducer.operations.op import Example, Op, ends_of, enumerated, items_of, marked, named
from reducer.paths import Chain, Expression
from reducer.paths.ranks import sorted_by
from reducer.plan import Place

_TIME = re.compile(
    r"(?i)seen|date|time|created|updated|modified|observed|submitted|published|_at\b|(?:first|last)Activity"
)


class Limit(Op):
    """Keep the first `limit` items, or the best by `sort_by`, and all items that match `always_keep`.

    In a map, the values are the items. An object is used as a map if it has at least two values, which are objects that
    share a key.
    """

    accepts = frozenset({list, dict})
    selects_only = True
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
            "a marker counts the others",
            {"path": "alerts", "limit": 1, "mark": "severity"},
            {
                "alerts": [
                    {"severity": "low", "note": "new place"},
                    {"severity": "high", "note": "new place"},
                    {"severity": "low", "note": "new place"},
                ]
            },
            {"alerts": [{"severity": "low", "note": "new place"}, "…[2 more items; severity: 1 high, 1 low]"]},
        ),
        Example(
            "the first lines of a text",
            {"text": "lines", "limit": 2},
            "started\nconnected\nstopped\n",
            "started\nconnected\n",
        ),
        Example(
            "the most severe, and of these the oldest",
            {"limit": 2, "sort_by": ["severity", "-seen"]},
            [{"severity": 3, "seen": "2024-05-02"}, {"severity": 9}, {"severity": 3, "seen": "2024-05-01"}],
            [{"severity": 9}, {"severity": 3, "seen": "2024-05-01"}],
        ),
        Example(
            "words of the scale from debug to critical",
            {"limit": 1, "sort_by": "severity"},
            [{"severity": "High"}, {"severity": "Low"}, {"severity": "Medium"}],
            [{"severity": "High"}],
        ),
        Example(
            "words in an order of their own",
            {"limit": 1, "sort_by": {"state": ["open", "waiting", "closed"]}},
            [{"state": "closed"}, {"state": "open"}, {"state": "waiting"}],
            [{"state": "open"}],
        ),
        Example(
            "values of a map",
            {"path": "hosts", "limit": 1, "sort_by": "score"},
            {"hosts": {"a.example": {"score": 1}, "b.example": {"score": 9}}},
            {"hosts": {"b.example": {"score": 9}}},
        ),
        Example(
            "the lowest, and all with a high risk",
            {"limit": 1, "sort_by": "rank", "order": "asc", "always_keep": "risk == 'high'"},
            [{"rank": 1, "risk": "low"}, {"rank": 2, "risk": "low"}, {"rank": 3, "risk": "high"}],
            [{"rank": 1, "risk": "low"}, {"rank": 3, "risk": "high"}],
        ),
    )

    limit: Amount
    sort_by: SortKeys = Field(
        (), description="Keep the highest or newest by this; `-` before it: the lowest or oldest."
    )
    order: Literal["asc", "desc"] = Field("desc", description="`desc`: the highest stay; `asc`: the reverse.")
    always_keep: Condition | None = Field(None, description="Also keep items that match this, or a named condition.")
    mark: Mark = MARK

    def apply(self, place: Place) -> None:
        items = place.contents()
        if len(items) > self.amount():
            ranked = self._ranked(items)
            ends = {*ranked[: self.limit.head], *ranked[len(items) - self.limit.tail :]}
            place.keep_items(sorted(ends | self._matching(items)))

    def prefers(self) -> bool:
        return bool(self.sort_by) or self.always_keep is not None

    def sort_keys(self) -> Sequence[SortKey]:
        return self.sort_by

    def best(self, items: list[Any], most: int) -> Sequence[int]:
        matching = self._matching(items)
        return sorted(sorted(self._ranked(items), key=lambda index: index not in matching)[:most])

    def amount(self) -> int:
        return self.limit.head + self.limit.tail

    def _matching(self, items: list[Any]) -> set[int]:
        if self.always_keep is None:
            return set()
        holds = self.always_keep.holds
        return {position for position, item in enumerate(items) if holds(item)}

    def describe(self, place: str) -> str:
        head, tail = self.limit.head, self.limit.tail
        items = items_of(place, head + tail)
        also = "" if self.always_keep is None else f", and all that match {named([self.always_keep.text])}"
        if not self.sort_by:
            return f"keeps the {ends_of(('first', head), ('last', tail))} {items}{also}{marked(self.mark)}"
        first, *others = self.sort_by
        ends = []
        for word, count in zip(self._words(first), (head, tail), strict=True):
            if count:
                ends.append(word if count == 1 else f"{count:,} {word}")
        by = f" by {named([first.condition.text])}"
        for key in others:
            by += f", then the {self._words(key)[0]} {named([key.condition.text])}"
        return f"keeps the {enumerated(ends)} {items}{by}{also}{marked(self.mark)}"

    def _words(self, key: SortKey) -> tuple[str, str]:
        """Return the words for the first and the last items by a key."""
        if key.order:
            return ("first", "last") if self._descends(key) else ("last", "first")
        low, high = ("oldest", "newest") if _TIME.search(key.condition.text) else ("lowest", "highest")
        return (high, low) if self._descends(key) else (low, high)

    def _descends(self, key: SortKey) -> bool:
        return (self.order == "desc") is not key.is_reversed

    def shortens(self) -> Iterable[Chain]:
        return ((),)

    def conditions(self) -> Iterable[Expression]:
        for key in self.sort_by:
            yield key.condition
        if self.always_keep is not None:
            yield self.always_keep

    def _ranked(self, items: list[Any]) -> Sequence[int]:
        ranked: Sequence[int] = range(len(items))
        for key in reversed(self.sort_by):  # sorting keeps the order of ties
            ranked = sorted_by(ranked, _values(items, key.condition), self._descends(key), key.order)
        return ranked


def _values(items: list[Any], expression: Expression) -> list[Any]:
    if expression.simple_field is not None:
        with suppress(TypeError):  # some items are not objects
            return [*map(dict.get, items, repeat(expression.simple_field))]
    return [expression.evaluate(item) for item in items]
