"""`extract`: keep only the entities."""

from __future__ import annotations

from typing import Any

from reducer.op import Draft, Example, Op
from reducer.op.fields import EntityTypes
from reducer.op.words import enumerated
from reducer.path import Chain


class Extract(Op):
    """Keep only what holds entities of these types: of a text a mark that mentions them, of a list or object the items and keys on the way to them."""

    accepts = frozenset({str, list, dict})
    reaches_down = True
    examples = (
        Example(
            "a text",
            {"extract": ["cve"]},
            "The group has been seen to exploit CVE-2024-3400 against appliances that face the internet.",
            "…[91 more characters; mentions CVE-2024-3400]",
        ),
        Example(
            "an object: only the keys on the way",
            {"path": "report", "extract": ["ip"]},
            {"report": {"title": "Weekly", "hosts": ["gateway", "192.0.2.7"]}},
            {"report": {"hosts": ["192.0.2.7"]}},
        ),
    )

    extract: EntityTypes

    def apply(self, value: Any, draft: Draft) -> Any:
        return draft.extract(value, self.extract)

    def tells(self, place: str) -> str:
        return f"{place} shows only what mentions {', '.join(self.extract)}"

    def says(self, place: str) -> str:
        return f"keeps of {place} only what mentions {enumerated(self.extract, 'or') if self.extract else 'nothing'}"

    def takes(self, chain: Chain) -> bool:
        return True
