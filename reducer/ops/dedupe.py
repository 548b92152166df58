"""`dedupe`: keep the first of equal items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from reducer.op import Draft, Example, Op
from reducer.op.fields import Condition
from reducer.op.words import items_of, worded
from reducer.path import Chain
from reducer.values import dump, plain


class Dedupe(Op):
    """Keep the first of the items that are equal as a whole (`true`), or in what the expression says; items in which it finds nothing all stay."""

    accepts = frozenset({list})
    examples = (
        Example("equal items", {"dedupe": True}, ["a", "b", "a"], ["a", "b"]),
        Example(
            "one item per address",
            {"dedupe": "ip"},
            [{"ip": "192.0.2.1", "port": 22}, {"ip": "192.0.2.1", "port": 80}, {"port": 81}],
            [{"ip": "192.0.2.1", "port": 22}, {"port": 81}],
        ),
    )

    dedupe: Literal[True] | Condition

    def apply(self, value: list[Any], draft: Draft) -> list[Any]:
        expression = self.dedupe
        seen: set[Any] = set()
        indexes = []
        for index, item in enumerate(value):
            found = plain(item if expression is True else expression.evaluate(item))
            if found is not None or expression is True:
                # Texts are their own key; the quote keeps them apart from the JSON text of other values.
                key = f'"{found}' if type(found) is str else dump(found)
                if key in seen:
                    continue
                seen.add(key)
            indexes.append(index)
        return value if len(indexes) == len(value) else draft.take_items(value, indexes)

    def tells(self, place: str) -> str:
        return f"{place} lists equal items once" if self.dedupe is True else f"{place} lists one item for each {worded(self.dedupe.text, 'kind')}"

    def says(self, place: str) -> str:
        return (
            f"keeps the first of equal {items_of(place)}" if self.dedupe is True else f"keeps of the {items_of(place)} the first with each `{self.dedupe.text}`"
        )

    def shortens(self) -> Iterable[Chain]:
        return ((),)

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        return [((), chain) for chain in (((),) if self.dedupe is True else self.dedupe.reads)]
