"""`truncate`: cut long texts."""

from __future__ import annotations

from reducer.operations.fields import Amount
from reducer.operations.op import Example, Op, Place, ends_of
from reducer.paths import Chain


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

    def describe(self, place: str) -> str:
        ends = ends_of(("first", self.truncate.head), ("last", self.truncate.tail))
        return f"cuts texts in {place} to the {ends} characters"

    def takes(self, chain: Chain) -> bool:
        # Deeper texts may or may not be long enough to be cut: what happens there is seen after the pass.
        return chain == ()
