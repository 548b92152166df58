"""`truncate`: cut long texts."""

from __future__ import annotations

from typing import Any

from reducer.op import Draft, Example, Op
from reducer.op.fields import Amount
from reducer.op.words import enumerated
from reducer.path import Chain


class Truncate(Op):
    """Cut a text, or every text under the place, to so many characters; a mark says how many more there were."""

    accepts = frozenset({str, list, dict})
    cuts_blindly = True
    examples = (
        Example(
            "a long text",
            {"truncate": 20},
            "Traffic to the site went up last night, and again this morning.",
            "Traffic to the site …[44 more characters]",
        ),
        Example("a short one stays", {"path": "note", "truncate": 20}, {"note": "Traffic went up."}, {"note": "Traffic went up."}),
        Example(
            "what was cut keeps its indicators",
            {"path": "note", "truncate": 10, "preserve": ["ipv4"]},
            {"note": "Beacons went out to 192.0.2.77 every ninety seconds through the whole of last night."},
            {"note": "Beacons …[77 more characters; mentions 192.0.2.77]"},
        ),
    )

    truncate: Amount

    def apply(self, value: Any, draft: Draft) -> Any:
        head, tail = self.truncate.head, self.truncate.tail
        bound = head + tail
        cut = draft.cut

        def walk(value: Any) -> Any:
            if type(value) is str:
                return value if len(value) <= bound else cut(value, head, tail)
            return draft.replace(value, walk)

        return walk(value)

    def tells(self, place: str) -> str:
        # A place with a name is mostly one text; the whole answer is one or holds many.
        what = f"{place} is cut" if place.startswith("`") else f"texts in {place} are cut"
        return f"{what} at {self.truncate.head + self.truncate.tail:,} characters"

    def says(self, place: str) -> str:
        head, tail = self.truncate.head, self.truncate.tail
        ends = enumerated(f"{end} {count:,}" for end, count in (("first", head), ("last", tail)) if count)
        return f"cuts every text in {place} to its {ends} characters; a mark says how many more there were"

    def takes(self, chain: Chain) -> bool:
        # Deeper texts may or may not be long enough to be cut: what happens there is seen after the pass.
        return chain == ()
