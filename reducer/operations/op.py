"""The base class of operations, and words for their descriptions.

An operation selects and builds nothing. It receives a place, and calls its methods to keep items, keys or parts of a
text. The place enforces the laws (root keys, root lists, media, markers) for all operations.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence, Set
from fnmatch import translate
from functools import lru_cache
from glob import escape
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from reducer.errors import shortened
from reducer.operations import fields
from reducer.operations.fields import Mark, Model, Notations, Preserved, SortKey, When
from reducer.paths import Chain, Expression
from reducer.plan import Place

_MAX_NAMES = 6
_MAX_CHARS = 60
_NAME = re.compile(r"`[\w-]+s`")


class Example(NamedTuple):
    """An example of an operation: `step` reduces `given` to `result`. Examples are tests and documentation."""

    title: str
    step: dict[str, Any]
    given: Any
    result: Any


class StepKeys(Model):
    """The keys that every step can have."""

    path: fields.Place | None = Field(
        None, description="The places, in JMESPath: `items[*].tags`. Default: the whole return."
    )
    when: When | None = Field(None, description="The step runs only if this holds for the original return.")
    preserve: Preserved | None = Field(
        None, description="Entity types that survive this step, instead of those of the rule."
    )
    text: Notations | None = Field(
        None, description="The notation of plain texts at the path, or several to try in order."
    )


class Op(StepKeys):
    """An operation of the rule language: a frozen model whose fields are the keys of a step.

    The verb is the name of the module; the field with this name holds the main argument.
    """

    accepts: ClassVar[frozenset[type]]
    """The types of the values that it works on (`dict`, `list`, `str`). It skips all others."""
    examples: ClassVar[tuple[Example, ...]]
    cuts_blindly: ClassVar[bool] = False
    """It removes content that the author does not name, so key identifiers in it are preserved by default."""
    cuts_texts: ClassVar[bool] = False
    """It cuts texts, and a marker says so."""
    selects_only: ClassVar[bool] = False
    """It only keeps or drops keys and items, each because of its own content or position."""
    writes_compactly: ClassVar[bool] = False
    """It rewrites a return that is JSON text even if no value changes."""
    runs_again: ClassVar[bool] = False
    """It runs once more after the last step, because a later step can leave something that it removes."""
    shortens_any: ClassVar[bool] = False
    """It can remove items from every list at or below its place."""
    opens_texts: ClassVar[bool] = False
    """It parses every JSON text below its place before the first step."""

    @model_validator(mode="after")
    def _marks_items(self) -> Self:
        if self.counted is not None and not [*self.shortens()]:
            raise PydanticCustomError("E020", "`mark` counts items, so it needs a filter")
        return self

    @property
    def notations(self) -> tuple[str, ...]:
        """The notations in which it reads a plain text at its place."""
        return self.text or ()

    @property
    def counted(self) -> Mark:
        """What the marker of a list counts: its key `mark`, or None."""
        return getattr(self, "mark", None)

    @abstractmethod
    def apply(self, place: Place) -> None:
        """Select what to keep of the value at `place`."""

    @abstractmethod
    def describe(self, place: str) -> str:
        """Return a description of its effect at `place` that starts with a verb, such as "keeps …"."""

    def recognises(self, places: Iterable[Place]) -> bool:
        """Return whether it is meant for the objects at its places in a return. Otherwise, it leaves them alone."""
        return True

    def leaves_alone(self) -> str:
        """Return a description of what it leaves alone that starts with a verb, or an empty text."""
        return ""

    def shortens(self) -> Iterable[Chain]:
        """Return the lists from which it removes items, relative to its place."""
        return ()

    def names(self) -> Iterable[Chain]:
        """Return the keys that it keeps or drops, relative to its place."""
        return ()

    def drops_keys(self) -> bool:
        """Return whether it can remove keys."""
        return bool([*self.names()])

    def compacts_literals(self) -> bool:
        """Return whether it writes a return that is a Python literal without blanks."""
        return False

    def conditions(self) -> Iterable[Expression]:
        """Return the expressions that it evaluates on the items at its place."""
        return ()

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        """Return each list whose items it selects, relative to its place, with what it reads of each item."""
        for condition in self.conditions():
            for chain in condition.reads:
                yield (), chain

    def reads_return(self) -> Iterable[Chain]:
        """Return what else it reads, relative to the whole return."""
        return ()

    def prefers(self) -> bool:
        """Return whether `max_chars` keeps the items of a list that `best` selects, and not the first."""
        return False

    def sort_keys(self) -> Sequence[SortKey]:
        """Return the keys by which it sorts items."""
        return ()

    def best(self, items: list[Any], most: int) -> Sequence[int]:
        """Return the positions of the `most` best items of a list at its place, in order."""
        return range(min(most, len(items)))

    def takes(self, chain: Chain) -> bool:
        """Return whether it always removes or cuts what a condition reads at `chain` below its place."""
        return False

    def to_keep(self, key: str) -> str:
        """Return the change of the step after which it keeps a key, or an empty text if it names no keys."""
        return ""

    def amount(self) -> int:
        """Return the number of items or characters that it keeps, or 0."""
        return 0

    def entity_types(self) -> Iterable[str]:
        """Return the entity types that it searches."""
        return ()

    @classmethod
    def verb(cls) -> str:
        """Return the name of the operation in rule files."""
        return cls.__module__.rpartition(".")[2]


# --- keys


@lru_cache(maxsize=1024)
def _glob(name: str) -> Callable[[str], Any]:
    return re.compile(translate("*".join(map(escape, name.split("*"))))).match


def is_named(key: str, name: str) -> bool:
    """Return whether a name is the name of a key; `*` in it stands for any characters."""
    return key == name or ("*" in name and _glob(name)(key) is not None)


def keys_below(place: Place, chains: Iterable[Chain]) -> dict[str, list[Chain]]:
    """Return the keys of the objects at a place to which chains of names lead, each with the rests of the chains."""
    below: dict[str, list[Chain]] = {}
    for name, *rest in chains:
        keys = [key for key in place.names() if is_named(key, name)] if "*" in name else [name]
        for key in keys:
            below.setdefault(key, []).append(tuple(rest))
    return below


def has_named(keys: Set[str], name: str) -> bool:
    """Return whether one of the keys has a name."""
    return name in keys or ("*" in name and any(map(_glob(name), keys)))


# --- words for descriptions


def named(texts: Iterable[str], last: str = "and") -> str:
    """Return the first few keys or expressions as code, each shortened, and the number of the others."""
    every = list(texts)
    names = [f"`{shortened(text, _MAX_CHARS)}`" for text in every[:_MAX_NAMES]]
    if len(every) > _MAX_NAMES:
        names.append(f"{len(every) - _MAX_NAMES} more")
    return enumerated(names, last)


def enumerated(names: Iterable[str], last: str = "and") -> str:
    """Return names as an enumeration: `a, b and c`."""
    *most, end = [*names]
    return f"{', '.join(most)} {last} {end}" if most else end


def ends_of(*ends: tuple[str, int]) -> str:
    """Return how much is kept at each end: `first 3 and last 2`, or `first` for one."""
    return enumerated(end if count == 1 else f"{end} {count:,}" for end, count in ends if count)


def marked(mark: Any) -> str:
    """Describe the marker that counts removed items, after the description of an operation."""
    if mark is None:
        return ""
    if mark is False:
        return ", without a marker"
    by = "" if mark is True else f" by {named([mark.text])}"
    return f", and a marker counts the others{by}"


_PARTS = {"lines": "line", "csv": "row", "table": "row", "sections": "section", "blocks": "block"}
_PARTS_OF = re.compile(r"the (line|row|section|block|part)s of ")


def read_as(place: str, notations: Sequence[str]) -> str:
    """Return the name of what a step sees at a place if it reads plain texts in these notations."""
    parts = dict.fromkeys(_PARTS.get(notation, "part") for notation in notations)
    return f"the {parts.popitem()[0] if len(parts) == 1 else 'part'}s of {place}" if parts else place


def items_of(place: str, count: int = 2) -> str:
    """Return the name of `count` items at a place. A plural names them itself, as in "the 20 newest `hosts`"."""
    parts = _PARTS_OF.match(place)
    item, of = ("item", place) if parts is None else (parts[1], place[parts.end() :])
    if count == 1:
        return f"{item} of {of}"
    return place if _NAME.fullmatch(place) else f"{item}s of {of}"
