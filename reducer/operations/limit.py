"""`limit`: keep the top N items of a list."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from reducer.operations.fields import Amount, Condition
from reducer.operations.op import Example, Op
from reducer.operations.words import enumerated, items_of, worded
from reducer.paths import Chain
from reducer.values import shown

if TYPE_CHECKING:
    from reducer.engine.place import Place

_TIME = re.compile(
    r"(?i)seen|date|time|created|updated|modified|observed|submitted|published|_at\b|(?:first|last)Activity"
)


class Limit(Op):
    """Keep the first `limit` items, or the first by `sort_by`, and all that match `always_keep`."""

    accepts = frozenset({list})
    spares = True
    examples = (
        Example("the first two", {"limit": 2}, [1, 2, 3], [1, 2]),
        Example("both ends", {"limit": {"head": 1, "tail": 1}}, [1, 2, 3], [1, 3]),
        Example(
            "the two newest, in the order they came in",
            {"limit": 2, "sort_by": "seen"},
            [{"seen": "2024-01-02"}, {"seen": "2023-05-01"}, {"seen": "2024-03-01"}],
            [{"seen": "2024-01-02"}, {"seen": "2024-03-01"}],
        ),
        Example(
            "the lowest, and whatever is of high risk",
            {"limit": 1, "sort_by": "rank", "order": "asc", "always_keep": "risk == 'high'"},
            [{"rank": 1, "risk": "low"}, {"rank": 2, "risk": "low"}, {"rank": 3, "risk": "high"}],
            [{"rank": 1, "risk": "low"}, {"rank": 3, "risk": "high"}],
        ),
    )

    limit: Amount
    sort_by: Condition | None = Field(
        None, description="What chooses the items that stay: JMESPath on each item. Their order never changes."
    )
    order: Literal["asc", "desc"] = Field(
        "desc", description="`desc`: the highest and newest stay (this is the default); `asc`: the lowest and oldest."
    )
    always_keep: Condition | None = Field(
        None, description="Items for which this holds stay besides: JMESPath on each item, or the name of a condition."
    )

    def apply(self, place: Place, root: Place) -> None:
        items = place.contents()
        if len(items) <= self.limit.head + self.limit.tail:
            return
        chosen = self._chosen(items)
        if self.always_keep is not None:
            holds = self.always_keep.holds
            chosen = {*chosen, *(position for position, item in enumerate(items) if holds(item))}
        place.keep_items(sorted(chosen))

    def _chosen(self, value: list[Any]) -> Collection[int]:
        head, tail, count = self.limit.head, self.limit.tail, len(value)
        if self.sort_by is None:
            return (*range(head), *range(count - tail, count))
        ranked = self._ranked(value)
        return (*ranked[:head], *ranked[count - tail :])

    def prefers(self) -> bool:
        return self.sort_by is not None or self.always_keep is not None

    def best(self, items: list[Any], most: int) -> Sequence[int]:
        ranked = range(len(items)) if self.sort_by is None else self._ranked(items)
        if self.always_keep is not None:
            holds = self.always_keep.holds
            ranked = sorted(ranked, key=lambda index: not holds(items[index]))
        return sorted(ranked[:most])

    def spared(self) -> str:
        return self.always_keep.text if self.always_keep is not None else ""

    def always_kept(self, value: Any) -> int:
        if self.always_keep is None or type(value) is not list or len(value) <= self.limit.head + self.limit.tail:
            return 0
        holds, chosen = self.always_keep.holds, set(self._chosen(value))
        return sum(index not in chosen and holds(item) for index, item in enumerate(value))

    def tells(self, place: str) -> str:
        head, tail = self.limit.head, self.limit.tail
        what = f"{place} lists at most "
        if self.sort_by is None:
            ends = " and ".join(f"{end} {count:,}" for end, count in (("first", head), ("last", tail)) if count)
            what += f"its {ends} items"
        else:
            ends = " and ".join(
                f"{count:,} {end}" for end, count in zip(self._ends(), (head, tail), strict=True) if count
            )
            what += f"the {ends} by {worded(self.sort_by.text, 'rank')}"
        if self.always_keep is not None:
            what += f", and all with {worded(self.always_keep.text, 'certain values')}"
        return what

    def says(self, place: str) -> str:
        amounts = (self.limit.head, self.limit.tail)
        if self.sort_by is None:
            ends = enumerated(
                f"{end} {count:,}" for end, count in zip(("first", "last"), amounts, strict=True) if count
            )
        else:
            ends = enumerated(f"{count:,} {end}" for end, count in zip(self._ends(), amounts, strict=True) if count)
        by = f" by `{self.sort_by.text}`" if self.sort_by is not None else ""
        besides = f", and all with `{self.always_keep.text}`" if self.always_keep is not None else ""
        return f"keeps the {ends} {items_of(place)}{by}{besides}"

    def _ends(self) -> tuple[str, str]:
        """Say what comes first by `sort_by`, and what comes last."""
        assert self.sort_by is not None
        old, new = ("oldest", "newest") if _TIME.search(self.sort_by.text) else ("lowest", "highest")
        return (old, new) if self.order == "asc" else (new, old)

    def shortens(self) -> Iterable[Chain]:
        return ((),)

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        for expression in (self.sort_by, self.always_keep):
            if expression is not None:
                yield from (((), chain) for chain in expression.reads)

    def _ranked(self, items: list[Any]) -> Sequence[int]:
        assert self.sort_by is not None
        if self.sort_by.simple_field is not None and set(map(type, items)) == {dict}:
            values: list[Any] = [*map(dict.get, items, repeat(self.sort_by.simple_field))]
        else:
            values = [self.sort_by.evaluate(item) for item in items]
        kinds = set(map(type, values))
        descending = self.order == "desc"
        # One kind of value, as in real data: compared as they are, at C speed.
        if kinds == {str} or kinds == {int}:
            return sorted(range(len(items)), key=values.__getitem__, reverse=descending)
        keys: list[Any] = [_rank(value) for value in values]
        with_value = [index for index, key in enumerate(keys) if key is not None]
        without = [index for index, key in enumerate(keys) if key is None]
        return [*sorted(with_value, key=keys.__getitem__, reverse=descending), *without]


def _rank(value: Any) -> tuple[bool, Any] | None:
    """Order numbers (and booleans) before texts; anything else is no sort value."""
    value = shown(value)
    if isinstance(value, (int, float)):
        return (False, value)
    return (True, value) if type(value) is str else None
