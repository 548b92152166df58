"""How lists and objects of a text were bracketed where it was not as in JSON: told by the identity of the value."""

from __future__ import annotations

from typing import NamedTuple


class Bracket(NamedTuple):
    """What stands around a list or object. `least` is how many items it must keep to be read as the same again.

    `glue` belongs to the fields of an object: `Name(a=1, b=2)` as the `repr` of models and dataclasses, or `a=1 b=2` as the `str` of a model.
    """

    opening: str
    closing: str
    least: int = 0
    glue: str = ""


ROUND = Bracket("(", ")")
SET = Bracket("{", "}")
LINES = Bracket("", "", 2)
FIELDS = Bracket("", "", 0, " ")


def model(name: str) -> Bracket:
    """Give the brackets of `Name(a=1, b=2)`."""
    return Bracket(f"{name}(", ")", 0, ", ")


Brackets = dict[int, Bracket]
"""The brackets of lists and objects by `id`; who holds it holds the values too."""

# The keys of objects that stand, while a literal is read as JSON, for what JSON has not. A dict that happens to look like one is written
# back as the other, so that its text is refused.
ROUND_KEY, SET_KEY, MODEL_KEY, VERBATIM_KEY = "#", "{", "=", "!"
MARKS = frozenset({ROUND_KEY, SET_KEY, MODEL_KEY, VERBATIM_KEY})
