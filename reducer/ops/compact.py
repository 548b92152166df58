"""`compact`: leave out what says nothing."""

from __future__ import annotations

from typing import Any, Literal

from reducer.op import Draft, Example, Op
from reducer.values import shown

_PLAIN = frozenset({str, int, bool, dict, list, type(None)})  # of a float NaN is shown as null


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or value == [] or value == {}


class Compact(Op):
    """Leave out the keys that hold null, an empty text, list or object; items of lists stay. A return that is JSON text is written without blanks."""

    accepts = frozenset({list, dict})
    writes_compactly = True
    examples = (
        Example(
            "keys without a value",
            {"path": "host", "compact": True},
            {"host": {"name": "gw", "owner": None, "tags": [], "os": {"family": ""}, "ports": [22, None]}},
            {"host": {"name": "gw", "ports": [22, None]}},
        ),
        Example("a number, even zero, says something", {"compact": True}, [{"hits": 0, "up": False}], [{"hits": 0, "up": False}]),
    )

    compact: Literal[True]

    def apply(self, value: Any, draft: Draft) -> Any:
        def walk(value: Any) -> Any:
            value = draft.replace(value, walk)
            opened = shown(value)
            if type(opened) is not dict:
                return value
            full = [key for key, item in opened.items() if not _is_empty(item if type(item) in _PLAIN else shown(item))]
            return value if len(full) == len(opened) else draft.take_keys(value, full)

        return walk(value)

    def tells(self, place: str) -> str:
        return f"{place} leaves out keys without a value"

    def says(self, place: str) -> str:
        return f"leaves out of {place} the keys that hold null, an empty text, list or object"
