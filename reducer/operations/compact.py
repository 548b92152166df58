"""`compact`: drop keys without a value."""

from __future__ import annotations

from math import inf
from typing import Any, Literal

from pydantic import Field

from reducer.operations.op import Example, Op
from reducer.plan import Place
from reducer.values import is_media, shown


def _is_empty(value: Any) -> bool:
    kind = type(value)
    if kind is str or kind is list or kind is dict:
        return not value
    return kind is not int and kind is not bool and shown(value) in (None, "", [], {})


class Compact(Op):
    """Drop keys whose value is null or empty, and write JSON text without spaces. Items of lists stay."""

    accepts = frozenset({list, dict})
    writes_compactly = True
    runs_again = True
    examples = (
        Example(
            "keys without a value",
            {"path": "host", "compact": True},
            {"host": {"name": "gw", "owner": None, "tags": [], "os": {"family": ""}, "ports": [22, None]}},
            {"host": {"name": "gw", "ports": [22, None]}},
        ),
        Example(
            "zero and false are values",
            {"compact": True},
            [{"hits": 0, "up": False}],
            [{"hits": 0, "up": False}],
        ),
        Example(
            "Python literals lose their blanks only on request",
            {"compact": "all"},
            "[('a, b', 1), ('c', None)]",
            "[('a, b',1),('c',None)]",
        ),
    )

    compact: Literal[True, "all"] = Field(description="`all`: Python literals lose their blanks too.")

    def apply(self, place: Place) -> None:
        for child in place.children(inf):
            self.apply(child)
        if type(place.value) is dict and not is_media(place.value):
            fields = place.json
            full = frozenset(key for key, item in fields.items() if not _is_empty(item))
            if len(full) < len(fields):
                place.keep_keys(full)

    def describe(self, place: str) -> str:
        return f"drops null and empty keys from {place}"

    def drops_keys(self) -> bool:
        return True

    def compacts_literals(self) -> bool:
        return self.compact == "all"
