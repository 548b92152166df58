"""The types of the fields of operations and rules. Each validates and compiles YAML values, and has a JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    GetPydanticSchema,
    Tag,
    ValidationInfo,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import TypeAliasType

from reducer.entities.entity import expected, similar
from reducer.entities.vocabulary import BUILT_IN, Vocabulary
from reducer.formats import Notation
from reducer.markers import LABEL
from reducer.paths import Chain, Expression, Path, PathError, compile_expression, compile_path, names_of, split_filter
from reducer.paths.habits import correcting
from reducer.paths.ranks import word


class Model(BaseModel):
    """A mapping in a rule file, which allows no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True, defer_build=True)


class NonEmpty(Model):
    """A mapping in a rule file with at least one key; `expected` is part of the error message."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    expected: ClassVar[str]

    @model_validator(mode="after")
    def _has_keys(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("E023", "expected {keys}", {"keys": self.expected})
        return self


class Amount(Model):
    """The numbers of items or characters to keep at the start and at the end."""

    head: int = Field(0, ge=0, description="Keep this many at the start.")
    tail: int = Field(0, ge=0, description="Keep this many at the end.")

    @model_validator(mode="before")
    @classmethod
    def _whole_number_is_head(cls, value: Any) -> Any:
        if type(value) not in (int, dict):
            raise PydanticCustomError("E020", "expected a whole number, or {head: 10, tail: 5}", {})
        return {"head": value} if type(value) is int else value

    @model_validator(mode="after")
    def _something_stays(self) -> Amount:
        if self.head + self.tail < 1:
            raise PydanticCustomError("E022", "expected at least 1", {"help": "to remove everything write drop: NAME"})
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        both = handler.resolve_ref_schema(handler(schema))
        return {"anyOf": [{"type": "integer", "minimum": 1}, {**both, "minProperties": 1}]}


def _validator(compiler: Callable[[str], Any], or_flag: bool = False) -> Callable[[Any], Any]:
    """Return a function that compiles a text. Its error contains the position of a `PathError` in the text."""

    def validate(value: Any) -> Any:
        if or_flag and type(value) is bool:
            return value
        if type(value) is not str:
            raise PydanticCustomError("E020", "expected a JMESPath expression")
        try:
            return compiler(value)
        except PathError as error:
            at = {"offset": error.column - 1, "width": error.width}
            context = {"message": error.message, "help": error.advice, "meant": error.meant, **at}
            raise PydanticCustomError(error.code, "{message}", context) from error

    return validate


def _compiled(compiler: Callable[[str], Any], or_flag: bool = False) -> GetPydanticSchema:
    """Return the validator of a compiler with its JSON Schema."""
    validate = _validator(compiler, or_flag)
    text: dict[str, Any] = {"type": "string", "minLength": 1}
    # pydantic never needs the schema of the compiled type itself.
    return GetPydanticSchema(
        lambda source, handler: core_schema.no_info_plain_validator_function(validate),
        lambda schema, handler: {"anyOf": [{"type": "boolean"}, text]} if or_flag else text,
    )


Condition = Annotated[Expression, _compiled(compile_expression)]
"""A JMESPath expression that is evaluated on an item."""
Place = Annotated[Path, _compiled(compile_path)]
"""A JMESPath expression that names places."""


class When(NonEmpty):
    """A gate, evaluated on the original return: it has at least `min_chars` characters, and `where` holds."""

    expected = "`min_chars` or `where`"

    min_chars: int | None = Field(None, ge=1, description="The return has at least this many characters.")
    where: Condition | None = Field(None, description="This JMESPath condition holds for the return.")


def _listed(value: Any) -> Any:
    return (value,) if type(value) is str else tuple(value) if type(value) is list else value


ONE_OR_LIST = GetPydanticSchema(
    lambda source, handler: core_schema.no_info_before_validator_function(_listed, handler(source)),
    lambda schema, handler: {"anyOf": [(listed := handler(schema))["items"], listed]},
)
"""Accepts a single text as a list with one item."""
Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1), ONE_OR_LIST]
"""One text or a list of texts."""

Notations = Annotated[tuple[Notation, ...], Field(min_length=1), ONE_OR_LIST]
"""One notation of text or a list of notations to try in order."""


class SortKey(NamedTuple):
    """A key of `sort_by`: items with a high value come first, or with `-` before it items with a low value."""

    condition: Expression
    is_reversed: bool
    order: tuple[str, ...] = ()
    """Words, the highest first."""


@correcting("conditions", "sort_keys")
def compile_sort_key(text: str) -> SortKey:
    """Compile an expression, or `-` and an expression. Raises `PathError`."""
    is_reversed = text.startswith("-")
    try:
        return SortKey(compile_expression(text[is_reversed:]), is_reversed)
    except PathError as error:
        error.column += is_reversed
        raise


@dataclass(frozen=True, slots=True)
class Target:
    """A target of `keep` or `drop`: a key, the items of `lists` that match a condition, or a key in each of these.

    The key is nested if `chain` has several names, and applies to each object in a list on the way. In a name, `*`
    stands for any characters. Without a key, `chain` is empty.
    """

    text: str
    chain: Chain
    lists: Path | None = None
    condition: Expression | None = None
    warnings: tuple[PathError, ...] = ()

    @property
    def names(self) -> Chain:
        """The names that lead to the key, with `*` for any name."""
        lists = names_of(self.lists.shape) if self.lists else ()
        return (*lists, *("*" if "*" in name else name for name in self.chain)) if self.chain else ()


@correcting("conditions", "paths", "targets")
def compile_target(text: str) -> Target:
    """Compile a key, or a path with a filter such as `items[?risk == 'low'].raw`. Raises `PathError`."""
    parts = split_filter(text)
    if parts is None:
        return Target(text, _chain(text))
    lists, condition, rest = parts
    try:
        chain = _chain(rest) if rest else ()
    except PathError as error:
        error.column += len(text.rstrip()) - len(rest)
        raise
    warnings = compile_expression(text).warnings
    return Target(text, chain, compile_path(lists), condition=compile_expression(condition), warnings=warnings)


_SEVERAL = re.compile(r"[\w.*@-]+(?:\s*[,;|]\s*[\w.*@-]+)+")
_SIGN = re.compile(r"[-!^]\w|/.+/$")
_CONDITION = re.compile(r"[=!<>]=|&&|\s[<>=]\s")


def _chain(text: str) -> Chain:
    """Return the names in a key: plain words with dots, or JMESPath. Raises `PathError`."""
    if _SIGN.match(text):
        advice = "name the key, with `*` for any characters; to drop a key write it in `drop`"
        raise PathError("E068", f"a key does not start with `{text[0]}`", width=len(text), help=advice)
    is_plain = not set(text) & set('"[]|') and all(text.split("."))
    if _SEVERAL.fullmatch(text) or (is_plain and "," in text):
        raise PathError("E071", "this is one key, because commas separate keys only in a list", width=len(text))
    if is_plain:
        if _CONDITION.search(text):
            raise PathError("E072", "this is a condition, not a key", width=len(text))
        return tuple(text.split("."))
    path = compile_path(text)
    chain = tuple(str(token[1]) for token in path.shape if token[0] == "field")
    if not chain or any(token[0] not in ("field", "each", "flatten") for token in path.shape):
        advice = "for the first items write limit: 5, for others a filter such as \"[?risk == 'high']\""
        raise PathError("E068", "expected only keys: names, dots and `[*]`", width=len(text), help=advice)
    return chain


@correcting("conditions", "paths", "targets")
def _compile_kept(text: str) -> Target:
    target = compile_target(text)
    if target.lists is not None and (target.chain or target.lists.shape):
        advice = "write the list as `path`, and list the keys in a step of their own"
        raise PathError("E068", "expected keys or a filter: `[?risk == 'high']`", width=len(text), help=advice)
    return target


def _of_one_kind(targets: tuple[Target, ...]) -> tuple[Target, ...]:
    if len({target.condition is None for target in targets}) > 1:
        raise PydanticCustomError("E068", "expected keys or filters, not both: write two steps")
    return targets


def _sort_key(value: Any) -> Any:
    """Compile `{expression: [words]}` or an expression."""
    if type(value) is not dict:
        return _validator(compile_sort_key)(value)
    [(text, words)] = value.items() if len(value) == 1 else [("", None)]
    if type(words) is not list or not words:
        raise PydanticCustomError("E020", "expected one expression with its words: {severity: [high, low]}")
    if {*map(type, words)} != {str}:
        raise PydanticCustomError("E020", "expected words, the highest first: {severity: [high, low]}")
    try:
        return compile_sort_key(text)._replace(order=tuple(map(word, words)))
    except PathError as error:
        raise PydanticCustomError(error.code, "{message}", {"message": error.message, "help": error.advice}) from error


def _each_sort_key(value: Any) -> Any:
    return [value] if type(value) is dict else value


_WORDS_SCHEMA = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": {"type": "array", "items": {"type": "string"}, "minItems": 1},
}
_SORT_KEY = GetPydanticSchema(
    lambda source, handler: core_schema.no_info_plain_validator_function(_sort_key),
    lambda schema, handler: {"anyOf": [{"type": "string", "minLength": 1}, _WORDS_SCHEMA]},
)
SortKeys = Annotated[
    tuple[Annotated[SortKey, _SORT_KEY], ...], Field(min_length=1), ONE_OR_LIST, BeforeValidator(_each_sort_key)
]
"""One key of `sort_by` or a list of keys, the most important one first."""
Targets = Annotated[tuple[Annotated[Target, _compiled(compile_target)], ...], Field(min_length=1), ONE_OR_LIST]
"""One target of `drop` or a list of targets."""
_KeptTargets = Annotated[
    tuple[Annotated[Target, _compiled(_compile_kept)], ...],
    Field(min_length=1),
    ONE_OR_LIST,
    AfterValidator(_of_one_kind),
]


def _keys_only(targets: tuple[Target, ...]) -> tuple[Target, ...]:
    if any(target.condition is not None for target in targets):
        raise PydanticCustomError("E068", "`strict` needs keys, not filters")
    return targets


class Strict(Model):
    """Keys that `keep` keeps of every object, whatever keys it has."""

    names: Annotated[_KeptTargets, AfterValidator(_keys_only)] = Field(description="The keys to keep.")
    strict: Literal[True] = Field(description="`true`: drop all else, also of objects that have none of the keys.")


Kept = Annotated[
    Annotated[_KeptTargets, Tag("[list]")] | Annotated[Strict, Tag("[strict]")],
    Discriminator(lambda value: "[strict]" if isinstance(value, dict) else "[list]"),
]
"""Keys that `keep` keeps, or filters for items."""


def _compile_mark(text: str) -> Expression:
    if text in ("always", "never"):
        raise PathError("E020", "expected true, false, or an expression to count by", width=len(text))
    if LABEL.fullmatch(text):
        return compile_expression(text)
    message = "expected true, false, or a short expression without `,`, `;`, `:` and `]`"
    raise PathError("E020", message, width=len(text))


Mark = Annotated[Expression | bool, _compiled(_compile_mark, or_flag=True)] | None
"""Whether a marker counts removed items, and the expression by whose values it counts them.

None: if the marker has at most a quarter of the characters that were removed.
"""
MARK = Field(
    None,
    description="Whether a marker counts the removed items; with an expression, also by its value. "
    "Default: if the marker has at most a quarter of the removed characters.",
)


def _entity_type(name: Any, info: ValidationInfo) -> Any:
    known = (info.context if isinstance(info.context, Vocabulary) else BUILT_IN).names
    if name not in known:
        name = str(name)
        context = {"name": name, "help": expected(name, known), "near": similar(name, known)}
        raise PydanticCustomError("E090", "unknown entity type `{name}`", context)
    return name


EntityType = TypeAliasType("EntityType", Annotated[str, BeforeValidator(_entity_type)])
"""The name of one entity type or group. The JSON Schema of rule files lists them under this name."""
EntityTypes = Annotated[tuple[EntityType, ...], ONE_OR_LIST]
"""Entity types or groups from the `Vocabulary` in the validation context, or else built-in ones."""


Preserved = Annotated[
    Annotated[EntityTypes, Tag("[list]")]
    | Annotated[dict[EntityType, Annotated[int, Field(ge=1)]], Field(min_length=1), Tag("[bounds]")],
    Discriminator(lambda value: "[bounds]" if isinstance(value, dict) else "[list]"),
]
"""Entity types, or a map of entity types to the number of values that are kept at most."""
