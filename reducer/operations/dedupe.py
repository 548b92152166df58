"""`dedupe`: drop repeated items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from reducer.operations.fields import MARK, Condition, Mark, Model
from reducer.operations.op import Example, Op, ends_of, items_of, marked
from reducer.paths import Chain, Expression
from reducer.plan import Place
from reducer.values import dump, plain

_DIGITS = re.compile("[0-9]+")


class Repeats(Model):
    """Which items are equal, and how many of them stay."""

    by: Condition | None = Field(None, description="Items with the same value of this expression are equal.")
    ignore: Literal["digits"] | None = Field(None, description="Items that differ only in numbers are equal.")
    keep: int = Field(1, ge=1, description="Keep this many of the equal items.")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        if value is not True and type(value) not in (str, dict):
            raise PydanticCustomError("E020", "expected true, an expression, or {ignore: digits, keep: 3}", {})
        return {} if value is True else {"by": value} if type(value) is str else value

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        keys = handler.resolve_ref_schema(handler(schema))
        return {"anyOf": [{"const": True}, {"type": "string", "minLength": 1}, keys]}


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
        Example(
            "two of the items that differ only in numbers",
            {"dedupe": {"ignore": "digits", "keep": 2}},
            ["job 7 failed", "job 8 failed", "stopped", "job 12 failed"],
            ["job 7 failed", "job 8 failed", "stopped"],
        ),
    )

    dedupe: Repeats
    mark: Mark = MARK

    def apply(self, place: Place) -> None:
        by, seen = self.dedupe.by, Counter[str]()
        positions = []
        for position, item in enumerate(place.contents()):
            value = plain(item if by is None else by.evaluate(item))
            # The quote distinguishes a text from the JSON text of another value.
            key = f'"{value}' if type(value) is str else dump(value)
            if self.dedupe.ignore:
                key = _DIGITS.sub("0", key)
            seen[key] += 1
            if seen[key] <= self.dedupe.keep or (by is not None and value is None):
                positions.append(position)
        place.keep_items(positions)

    def describe(self, place: str) -> str:
        by, items = self.dedupe.by, items_of(place)
        first, ignoring = ends_of(("first", self.dedupe.keep)), ", ignoring digits" if self.dedupe.ignore else ""
        if by is not None:
            return f"keeps the {first} of the {items} for each `{by.text}`{ignoring}{marked(self.mark)}"
        action = "drops repeated" if self.dedupe.keep == 1 else f"keeps the {first} of equal"
        return f"{action} {items}{ignoring}{marked(self.mark)}"

    def shortens(self) -> Iterable[Chain]:
        return ((),)

    def amount(self) -> int:
        return self.dedupe.keep

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        return [((), ())] if self.dedupe.by is None else super().reads()

    def conditions(self) -> Iterable[Expression]:
        return () if self.dedupe.by is None else (self.dedupe.by,)
