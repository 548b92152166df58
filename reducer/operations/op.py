"""What an operation is.

An operation selects; it builds nothing. It receives a place, and asks it to keep these items, these keys or this much
of a text. The place enforces the laws (root keys, media, one item in a root list, markers) for all operations alike.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict

from reducer.paths import Chain

if TYPE_CHECKING:
    from reducer.engine.place import Place as Place
else:
    Place = Any  # the engine imports operations, not the other way round

_MAX_NAMES = 6
_MAX_CHARS = 60
_NAME = re.compile(r"`[\w-]+s`")


class Example(NamedTuple):
    """One use of an operation: `step` as in YAML makes `result` of `given`. Run as a test, printed as documentation."""

    title: str
    step: dict[str, Any]
    given: Any
    result: Any


class Op(BaseModel):
    """An operation of the rule language: a frozen model whose fields are the keys of a step.

    The module of a subclass gives the verb: the field of that name holds the operation's main argument.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True, defer_build=True)

    accepts: ClassVar[frozenset[type]]
    """The types of the values it works on: of `dict`, `list`, `str`. Others are left alone."""
    examples: ClassVar[tuple[Example, ...]]
    cuts_blindly: ClassVar[bool] = False
    """The author has not named what it removes: key identifiers in it are preserved by default."""
    reaches_down: ClassVar[bool] = False
    """It may remove items from any list below its place."""
    writes_compactly: ClassVar[bool] = False
    """A return that is JSON text is written anew even if nothing in it changed."""
    opens_texts: ClassVar[bool] = False
    """Every text below its place that contains JSON is read as the value before the first step."""

    @abstractmethod
    def apply(self, place: Place, root: Place) -> None:
        """Select what stays of the value at `place`; `root` is the whole return."""

    @abstractmethod
    def describe(self, place: str) -> str:
        """Return what it does at `place`, in words without a subject: "keeps …"."""

    def shortens(self) -> Iterable[Chain]:
        """Return the lists that it removes items from, relative to its place."""
        return ()

    def names(self) -> Iterable[Chain]:
        """Return the keys that it keeps or drops, relative to its place."""
        return ()

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        """Return what decides about items: their list, relative to the place, and what is read of an item."""
        return ()

    def reads_return(self) -> Iterable[Chain]:
        """Return what else decides, relative to the whole return."""
        return ()

    def prefers(self) -> bool:
        """Return whether `best` selects the items of a list at its place that `max_chars` keeps."""
        return False

    def best(self, items: list[Any], most: int) -> Sequence[int]:
        """Return the positions of the `most` items of a list at its place that matter most, in order."""
        return range(min(most, len(items)))

    def takes(self, chain: Chain) -> bool:
        """Return whether it certainly removes or cuts what a condition reads at `chain` below its place."""
        return False

    @classmethod
    def verb(cls) -> str:
        """Return the name of the operation in rule files: that of its module."""
        return cls.__module__.rpartition(".")[2]


# --- words for descriptions


def named(texts: Iterable[str]) -> str:
    """Return keys or expressions as code: the first few, each shortened, and how many more there are."""
    every = list(texts)
    names = [f"`{text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + '…'}`" for text in every[:_MAX_NAMES]]
    return enumerated([*names, f"{len(every) - _MAX_NAMES} more"] if len(every) > _MAX_NAMES else names)


def enumerated(names: Iterable[str], last: str = "and") -> str:
    """Return a list in words: `a, b and c`."""
    *most, end = [*names]
    return f"{', '.join(most)} {last} {end}" if most else end


def ends_of(*ends: tuple[str, int]) -> str:
    """Return how much stays at each end: `first 3 and last 2`."""
    return enumerated(f"{end} {count:,}" for end, count in ends if count)


def items_of(place: str) -> str:
    """Return the name of the items at a place: the place itself if it is a plural, as in "the 20 newest `hosts`"."""
    return place if _NAME.fullmatch(place) else f"items of {place}"
