"""What an operation is.

An operation chooses; it takes nothing away itself. It asks the draft of the return to keep these items, these keys or this much of a
text, and the draft keeps the laws (root keys, media, one item in a root list, marks) for all operations alike.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from reducer.entities.foreign import meant
from reducer.entities.own import BUILT_IN, Vocabulary
from reducer.path import Chain, Expression, Path, PathError, Shape, compile_expression, compile_path, mended
from reducer.path.targets import split_filter


def names_of(shape: Shape) -> Chain:
    """Give the field names on the way of a path's shape; `*` stands for every key."""
    return tuple("*" if token[0] == "values" else str(token[1]) for token in shape if token[0] in ("field", "values"))


def listed(names: Iterable[str]) -> str:
    """Name the first few of some keys or expressions in words for the model, and count the others; what is long is counted alone."""
    every = list(names)
    named = [f"`{name}`" for name in every[:_NAMED] if len(name) <= _READABLE]
    left = len(every) - len(named)
    if not named:
        return "some of its parts"
    return ", ".join(named) + (f" and {left} more" if left else "")


def enumerated(names: Iterable[str], last: str = "and") -> str:
    """Name all of some things in words for a person: `a, b and c`."""
    *most, end = [*names]
    return f"{', '.join(most)} {last} {end}" if most else end


def items_of(place: str) -> str:
    """Name the items at a place: the place itself if it is a name, as in "the 20 newest `resolutions`"."""
    return place if _NAME.fullmatch(place) else f"items of {place}"


def worded(text: str, otherwise: str) -> str:
    """Give a short expression as it stands, for a longer one other words."""
    return f"`{text}`" if len(text) <= _READABLE else otherwise


_NAMED = 4
_NAME = re.compile(r"`[\w-]+s`")
_READABLE = 48
ENTITY = "entity-type"
"""What stands for the names of entity types in the JSON Schema of a model: which there are a folder of rules says."""


class Draft(Protocol):
    """A return while steps work on it. Every method gives the same object back when nothing changes."""

    root: Any

    def take_items(self, items: list[Any], indexes: Sequence[int]) -> list[Any]:
        """Keep the items at `indexes`, in order."""

    def take_keys_of_each(self, items: list[Any], names: Collection[str]) -> list[Any]:
        """Keep the keys in `names` of each object in a list."""

    def put(self, value: dict[str, Any], name: str, item: Any) -> dict[str, Any]:
        """Put `item` in the place of what stands at key `name`."""

    def note(self, new: Any, old: Any) -> None:
        """Hear that `new` stands for `old`, key by key or item by item."""

    def take_keys(self, value: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
        """Keep the keys in `names`."""

    def replace(self, value: Any, change: Callable[[Any], Any]) -> Any:
        """Put `change` of every value of an object, or of every item of a list, in its place."""

    def unwrap(self, value: Any) -> Any:
        """Let everything in `value` that stood in a text of JSON stand for itself."""

    def cut(self, text: str, head: int, tail: int) -> str:
        """Keep at most `head` characters at the start and `tail` at the end, with a mark between them."""

    def extract(self, value: Any, names: Iterable[str]) -> Any:
        """Keep only what holds entities of the types and groups in `names`."""


class Example(NamedTuple):
    """One use of an operation: `step` as in YAML makes `result` of `given`. Run as a test, printed as documentation."""

    title: str
    step: dict[str, Any]
    given: Any
    result: Any


class Amount(BaseModel):
    """How much stays: so much of the start and so much of the end."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    head: int = Field(0, ge=0, description="So many of the start stay.")
    tail: int = Field(0, ge=0, description="So many of the end stay.")

    @model_validator(mode="before")
    @classmethod
    def _whole_number_is_head(cls, value: Any) -> Any:
        if type(value) not in (int, dict):
            raise PydanticCustomError("amount", "expected a whole number, or {head: 10, tail: 5}", {})
        return {"head": value} if type(value) is int else value

    @model_validator(mode="after")
    def _something_stays(self) -> Amount:
        if self.head + self.tail < 1:
            raise ValueError("expected at least 1; to take all of it away use `drop`")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        both = handler.resolve_ref_schema(handler(schema))
        return {"anyOf": [{"type": "integer", "minimum": 1}, {**both, "minProperties": 1}]}


@dataclass(frozen=True, slots=True)
class _Compiled:
    """Validates a text by compiling it; says of a `PathError` where in the text it is."""

    compile: Callable[[str], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # The compiled type itself is opaque to pydantic: its schema is not asked for.
        return core_schema.no_info_plain_validator_function(self.validate)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}

    def validate(self, value: Any) -> Any:
        if type(value) is not str:
            raise PydanticCustomError("path_type", "expected a JMESPath expression")
        try:
            return self.compile(value)
        except PathError as error:
            context: dict[str, Any] = {"code": error.code, "message": error.message, "column": error.column, "width": error.width, "help": error.help}
            context["fix"] = mended(value, self.compile)
            raise PydanticCustomError("path", "{message}", context) from error


Condition = Annotated[Expression, _Compiled(compile_expression)]
"""A JMESPath expression that is evaluated on an item."""
Place = Annotated[Path, _Compiled(compile_path)]
"""A JMESPath expression that names places."""


@dataclass(frozen=True, slots=True)
class _OneOrList:
    """Takes one text for a list of one."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.listed, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        several = handler(schema)
        return {"anyOf": [several["items"], several]}

    @staticmethod
    def listed(value: Any) -> Any:
        return (value,) if type(value) is str else tuple(value) if type(value) is list else value


Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], _OneOrList(), Field(min_length=1)]
"""One text or a list of texts."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, or with several names in `chain` a key further in; objects in lists on the way are meant each."""

    text: str
    chain: Chain


def compile_key(text: str) -> Key:
    """Read a key as `keep` and `drop` name it: a word as it stands, with dots a path, anything with quotes or brackets by JMESPath.

    Raises `PathError` for a path with more than fields and `[*]`.
    """
    if not set(text) & set('."[]|'):
        return Key(text, (text,))
    if not set(text) & set('"[]|') and all(text.split(".")):
        return Key(text, tuple(text.split(".")))
    path = compile_path(text)
    chain = []
    for token in path.shape:
        if token[0] == "field":
            chain.append(str(token[1]))
        elif token[0] != "each":
            raise PathError("E068", "expected keys only: names, dots and `[*]`", 1, len(text), "items are chosen by `limit`, or by `drop` with a filter")
    if path.filters or not chain:
        raise PathError("E068", "expected keys only: names, dots and `[*]`", 1, len(text), "items are chosen by `limit`, or by `drop` with a filter")
    return Key(text, tuple(chain))


@dataclass(frozen=True, slots=True)
class Target:
    """What `drop` takes: without a condition the key at `key`; with one the items of `lists` for which it holds, or `key` in each of them."""

    text: str
    key: Key | None
    lists: Path | None = None
    condition: Expression | None = None


def compile_target(text: str) -> Target:
    """Read what `drop` names: a key, or a path that ends in a filter (`items[?risk == 'low']`) and maybe a key behind it.

    Raises `PathError`.
    """
    parts = split_filter(text)
    if parts is None:
        return Target(text, compile_key(text))
    lists, condition, rest = parts
    return Target(text, compile_key(rest) if rest else None, compile_path(lists), compile_expression(condition))


Targets = Annotated[tuple[Annotated[Target, _Compiled(compile_target)], ...], _OneOrList(), Field(min_length=1)]
"""One or several things for `drop`."""
Keys = Annotated[tuple[Annotated[Key, _Compiled(compile_key)], ...], _OneOrList(), Field(min_length=1)]
"""One key or a list of keys."""


def _entity_type(name: Any, info: ValidationInfo) -> Any:
    known = (info.context if isinstance(info.context, Vocabulary) else BUILT_IN).names
    if name not in known:
        near = meant(str(name), known) or tuple(get_close_matches(str(name), known, 1))
        help = f"did you mean {' and '.join(f'`{kind}`' for kind in near)}?" if near else f"there are {', '.join(known)}"
        raise PydanticCustomError("entity_type", "unknown entity type `{name}`", {"name": str(name), "help": help})
    return name


EntityType = Annotated[str, BeforeValidator(_entity_type), WithJsonSchema({"type": "string", "format": ENTITY})]
"""The name of one entity type or group."""
EntityTypes = Annotated[tuple[EntityType, ...], _OneOrList()]
"""One entity type or group, or a list of them: of the `Vocabulary` that is the context of validation, or built-in ones."""


Preserved = Annotated[
    Annotated[EntityTypes, Tag("[list]")] | Annotated[dict[EntityType, Annotated[int, Field(ge=1)]], Field(min_length=1), Tag("[bounds]")],
    Discriminator(lambda value: "[bounds]" if isinstance(value, dict) else "[list]"),
]
"""Entity types as `EntityTypes`, or each with how many of them are kept at most."""


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
    def apply(self, value: Any, draft: Draft) -> Any:
        """Give what stays of `value`, a value at one place; the same object when all of it does."""

    @abstractmethod
    def tells(self, place: str) -> str:
        """Say in words for the model what is left out at `place`, which is named for the middle of a sentence."""

    @abstractmethod
    def says(self, place: str) -> str:
        """Say in words for an analyst what it does at `place`, named for the middle of a sentence; without a subject: "keeps …"."""

    def adds(self) -> str:
        """Say the same as words to add to those of a step before it at the same place, such as "each with …"; empty where that cannot be."""
        return ""

    def shortens(self) -> Iterable[Chain]:
        """Name the lists that it takes items from, relative to its place."""
        return ()

    def names(self) -> Iterable[Chain]:
        """Name the keys that it takes or leaves, relative to its place."""
        return ()

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        """Name what decides about items: the list they are in, relative to the place, and what is read relative to an item."""
        return ()

    def reads_return(self) -> Iterable[Chain]:
        """Name what else decides, relative to the whole return."""
        return ()

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
