"""What is remembered of lists and texts while steps take from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reducer import marks

NOTHING: frozenset[str] = frozenset()
"""No entity types: nothing is owed."""


@dataclass(slots=True)
class Kept:
    """What a list kept of the list that arrived, and by which step. Holding `new` keeps its id from being given again."""

    new: list[Any]
    indexes: Sequence[int]
    prior: marks.Mark | None
    step: int
    parent: Kept | None


@dataclass(slots=True)
class Cut:
    """How much of a text is left at its start and end, how much went, and by which step; entities of the types `always` are mentioned in any case."""

    new: str
    head: int
    tail: int
    count: int
    step: int
    always: frozenset[str]
