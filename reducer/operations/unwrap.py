"""`unwrap`: replace nested JSON text with its value."""

from __future__ import annotations

from typing import Literal

from reducer.operations.op import Example, Op
from reducer.plan import Place


class Unwrap(Op):
    """Replace every JSON text of an object or list with its value, at any depth. The root keeps its type."""

    accepts = frozenset({list, dict})
    opens_texts = True
    examples = (
        Example(
            "JSON in a text",
            {"unwrap": True},
            [{"file": "scan.json", "text": '{"hosts": ["192.0.2.1"], "raw": "[1, 2]"}'}],
            [{"file": "scan.json", "text": {"hosts": ["192.0.2.1"], "raw": [1, 2]}}],
        ),
        Example(
            "any other text stays",
            {"path": "body", "unwrap": True},
            {"body": "no JSON"},
            {"body": "no JSON"},
        ),
    )

    unwrap: Literal[True]

    def apply(self, place: Place) -> None:
        place.unwrap()

    def describe(self, place: str) -> str:
        return f"replaces JSON texts in {place} with their values"
