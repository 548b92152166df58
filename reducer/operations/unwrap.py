"""`unwrap`: nested JSON text becomes what it says."""

from __future__ import annotations

from typing import Literal

from reducer.operations.op import Example, Op, Place


class Unwrap(Op):
    """Replace every text that contains a JSON object or list with its value, at any depth; the root keeps its type."""

    accepts = frozenset({list, dict})
    opens_texts = True
    examples = (
        Example(
            "JSON in a wrapper",
            {"unwrap": True},
            [{"type": "text", "text": '{"hosts": ["192.0.2.1"], "raw": "[1, 2]"}'}],
            [{"type": "text", "text": {"hosts": ["192.0.2.1"], "raw": [1, 2]}}],
        ),
        Example(
            "a text that holds nothing else stays",
            {"path": "body", "unwrap": True},
            {"body": "no JSON"},
            {"body": "no JSON"},
        ),
    )

    unwrap: Literal[True]

    def apply(self, place: Place, root: Place) -> None:
        place.unwrap()

    def describe(self, place: str) -> str:
        return f"replaces JSON texts in {place} with their values"
