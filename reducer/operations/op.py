"""What an operation is.

An operation selects; it builds nothing. It receives a place, and asks it to keep these items, these keys or this much
of a text. The place enforces the laws (root keys, media, one item in a root list, markers) for all operations alike.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict

from reducer.paths import Chain

if TYPE_CHECKING:
    from reducer.engine.place import Place


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
    """What it takes away the author has not named: key identifiers in it are preserved by default."""
    reaches_down: ClassVar[bool] = False
    """It may take items from any list below its place."""
    writes_compactly: ClassVar[bool] = False
    """A return that is JSON text is written anew even if nothing in it changed."""
    opens_texts: ClassVar[bool] = False
    """Every text below its place that holds JSON is read as what it says before the first step."""

    spares: ClassVar[bool] = False
    """It keeps items for a condition that it would take else; `always_kept` counts them."""

    @abstractmethod
    def apply(self, place: Place, root: Place) -> None:
        """Select what stays of the value at `place`; `root` is the whole return."""

    @abstractmethod
    def tells(self, place: str) -> str:
        """Say in words for the model what is left out at `place`, which is named for the middle of a sentence."""

    @abstractmethod
    def says(self, place: str) -> str:
        """Say in words for an analyst what it does at `place`, named for the middle of a sentence; without a subject:
        "keeps …".
        """

    def adds(self) -> str:
        """Say the same as words to add to those of a step before it at the same place, such as "each with …"; empty
        where that cannot be.
        """
        return ""

    def shortens(self) -> Iterable[Chain]:
        """Name the lists that it takes items from, relative to its place."""
        return ()

    def names(self) -> Iterable[Chain]:
        """Name the keys that it takes or leaves, relative to its place."""
        return ()

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        """Name what decides about items: the list they are in, relative to the place, and what is read relative to an
        item.
        """
        return ()

    def reads_return(self) -> Iterable[Chain]:
        """Name what else decides, relative to the whole return."""
        return ()

    def prefers(self) -> bool:
        """Tell whether some items of a list at its place matter more to it than others, so that `best` chooses them for
        `max_chars`.
        """
        return False

    def best(self, items: list[Any], most: int) -> Sequence[int]:
        """Choose the `most` items of a list at its place that matter most to it, in order."""
        return range(min(most, len(items)))

    def always_kept(self, value: Any) -> int:
        """Count the items of a value at its place that stay because of a condition alone."""
        return 0

    def spared(self) -> str:
        """Give the condition that `always_kept` counts for, as it is written."""
        return ""

    def takes(self, chain: Chain) -> bool:
        """Tell whether it takes away or cuts, for certain, what a condition reads at `chain` below its place."""
        return False

    @classmethod
    def verb(cls) -> str:
        """Name the operation as rule files do: by its module."""
        return cls.__module__.rpartition(".")[2]
