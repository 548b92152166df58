"""`dedupe`: drop repeated items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from reducer.operations.fields import Condition
from reducer.operations.op import Example, Op, Place, items_of
from reducer.paths import Chain
from reducer.values import dump, plain


class Dedupe(Op):
    """Keep the first of equal items (`true`), or of items with the same value of an expression. Others stay."""

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

    def apply(self, place: Place, root: Place) -> None:
        expression = self.dedupe
        seen: set[str] = set()
        positions = []
        for position, item in enumerate(place.contents()):
            value = plain(item if expression is True else expression.evaluate(item))
            if value is not None or expression is True:
                # The quote distinguishes a text from the JSON text of another value.
                key = f'"{value}' if type(value) is str else dump(value)
                if key in seen:
                    continue
                seen.add(key)
            positions.append(position)
        place.keep_items(positions)

    def describe(self, place: str) -> str:
        if self.dedupe is True:
            return f"drops repeated {items_of(place)}"
        return f"keeps the first of the {items_of(place)} for each `{self.dedupe.text}`"

    def shortens(self) -> Iterable[Chain]:
        return ((),)

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        return [((), chain) for chain in (((),) if self.dedupe is True else self.dedupe.reads)]
