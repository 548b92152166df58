"""`truncate`: cut long texts."""

from __future__ import annotations

from reducer.operations.fields import Amount
from reducer.operations.op import Example, Op, ends_of
from reducer.paths import Chain
from reducer.plan import Place


class Truncate(Op):
    """Cut a text, or every text below the place, to a number of characters. A marker counts the rest."""

    accepts = frozenset({str, list, dict})
    cuts_blindly = True
    cuts_texts = True
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
            "the marker mentions the indicators in the removed text",
            {"path": "note", "truncate": 10, "preserve": ["ipv4"]},
            {"note": "Beacons went out to 192.0.2.77 every ninety seconds through the whole of last night."},
            {"note": "Beacons …[77 more characters; mentions 192.0.2.77]"},
        ),
    )

    truncate: Amount

    def apply(self, place: Place) -> None:
        place.cut_texts(self.truncate.head, self.truncate.tail)

    def describe(self, place: str) -> str:
        head, tail = self.truncate.head, self.truncate.tail
        unit = "character" if head + tail == 1 else "characters"
        return f"cuts texts in {place} to the {ends_of(('first', head), ('last', tail))} {unit}"

    def amount(self) -> int:
        return self.truncate.head + self.truncate.tail

    def takes(self, chain: Chain) -> bool:
        # Whether a deeper text is long enough to be cut is known only after the pass.
        return chain == ()
