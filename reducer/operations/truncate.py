"""`truncate`: cut long texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reducer.operations.fields import Amount
from reducer.operations.op import Example, Op
from reducer.operations.words import enumerated
from reducer.paths import Chain

if TYPE_CHECKING:
    from reducer.engine.place import Place


class Truncate(Op):
    """Cut a text, or every text below the place, to this many characters; a marker counts the rest."""

    accepts = frozenset({str, list, dict})
    cuts_blindly = True
    examples = (
        Example(
            "a long text",
            {"truncate": 20},
            "Traffic to the site went up last night, and again this morning.",
            "Traffic to the site …[44 more characters]",
        ),
        Example(
            "a short one stays",
            {"path": "note", "truncate": 20},
            {"note": "Traffic went up."},
            {"note": "Traffic went up."},
        ),
        Example(
            "what was cut keeps its indicators",
            {"path": "note", "truncate": 10, "preserve": ["ipv4"]},
            {"note": "Beacons went out to 192.0.2.77 every ninety seconds through the whole of last night."},
            {"note": "Beacons …[77 more characters; mentions 192.0.2.77]"},
        ),
    )

    truncate: Amount

    def apply(self, place: Place, root: Place) -> None:
        head, tail = self.truncate.head, self.truncate.tail
        for text in place.texts(longer_than=head + tail):
            text.cut(head, tail)

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
