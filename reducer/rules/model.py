"""Rule files as data: validated models of their keys, and the compiled rules that the engine runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from reducer.entities.vocabulary import BUILT_IN, Vocabulary
from reducer.errors import Diagnostic, Location
from reducer.operations.fields import ONE_OR_LIST, Condition, EntityTypes, Names, Place, Preserved
from reducer.operations.op import Op
from reducer.paths import Path

SNAPSHOTS = (".json", ".txt")
"""How the names of snapshots end: JSON for any result, `.txt` for a text."""


class Model(BaseModel):
    """A mapping of a rule file: no key but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True, defer_build=True)


class NonEmpty(Model):
    """A mapping of a rule file with at least one key; `expected` says which."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    expected: ClassVar[str]

    @model_validator(mode="after")
    def _has_keys(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("E023", "expected {keys}", {"keys": self.expected})
        return self


class When(NonEmpty):
    """A gate, evaluated on the return as it arrived: it has at least `min_chars` characters, and `where` holds."""

    expected = "`min_chars` or `where`"

    min_chars: int | None = Field(None, ge=1, description="The return has at least this many characters.")
    where: Condition | None = Field(None, description="This JMESPath condition holds for the return.")


def _file_name(value: Any) -> Any:
    name = PurePosixPath(value) if type(value) is str else None
    if name is not None and (name.is_absolute() or ".." in name.parts or set(value) & set("\\\0")):
        raise PydanticCustomError("E098", "expected a file in the folder of the rule file or below")
    return value


FileName = Annotated[str, BeforeValidator(_file_name)]
"""A file in the folder of the rule file or below."""


class Given(Model):
    """The content that an inline test starts from.

    A `history` gives the return of a tool of the rule: the only one, or the one with the call id `call` (`ID#2`: the
    second with that id).
    """

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": [key]} for key in ("json", "text", "file", "history")],
            "dependentRequired": {"call": ["history"]},
        }
    )

    json_: Any = Field(None, alias="json", description="The content of the return, written as YAML.")
    text: str | None = Field(None, description="The content of the return, a text.")
    file: FileName | None = Field(None, description="A file with the content: JSON, or text if its name ends in .txt.")
    history: FileName | None = Field(None, description="A stored history with one return of a tool of this rule.")
    call: str | None = Field(None, description="The call id of the return; `ID#2` is the second with that id.")

    @model_validator(mode="after")
    def _is_one(self) -> Given:
        sources = self.model_fields_set - {"call"}
        if len(sources) != 1:
            raise PydanticCustomError("E024", "expected exactly one of `json`, `text`, `file`, `history`")
        if "call" in self.model_fields_set and "history" not in sources:
            raise PydanticCustomError("E020", "`call` selects a return of a `history`")
        return self


def _share(value: Any) -> Any:
    if type(value) is str and value.endswith("%") and value[:-1].strip().replace(".", "", 1).isdigit():
        return float(value[:-1]) / 100
    raise PydanticCustomError("E025", "expected a percentage such as 80%")


_SHARE = Annotated[str, Field(pattern=r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*%$")]
Share = Annotated[float, BeforeValidator(_share, json_schema_input_type=_SHARE)]
"""A share of a whole, written as 80%."""


def _snapshot(name: str) -> str:
    if not name.endswith(SNAPSHOTS):
        raise PydanticCustomError("E020", "expected a name that ends in .json or .txt")
    return name


class Expect(NonEmpty):
    """What an inline test expects of the result."""

    expected = "at least one expectation"

    unchanged: bool | None = Field(None, description="`true`: the rule changes nothing; `false`: it changes something.")
    equals: Any = Field(None, description="The whole result.")
    contains: Names | None = Field(None, description="A text, or several, that a text of the result contains.")
    not_contains: Names | None = Field(None, description="A text, or several, that no text of the result contains.")
    max_chars: int | None = Field(None, ge=0, description="The result has at most this many characters.")
    min_reduction: Share | None = Field(None, description="The result is smaller by at least this share: `80%`.")
    values: dict[str, Any] | None = Field(None, description="JMESPath expressions, each with its value on the result.")
    preserves: EntityTypes | None = Field(None, description="All entities of these types are in the result too.")
    snapshot: Annotated[FileName, AfterValidator(_snapshot)] | None = Field(
        None, description="A file beside the rule file with the whole result."
    )


class Test(Model):
    """An inline test: a name, the given content, and the expected result."""

    __test__ = False

    name: str = Field(min_length=1, description="What the test shows.")
    given: Given = Field(description="The content of a return: exactly one of `json`, `text`, `file`, `history`.")
    expect: Expect = Field(description="What holds for the result.")


class StepKeys(Model):
    """The keys that every step may have beside those of its operation."""

    path: Place | None = Field(None, description="The places, in JMESPath: `items[*].tags`. Default: the whole return.")
    when: When | None = Field(None, description="The step runs only if this holds for the return as it arrived.")
    preserve: Preserved | None = Field(None, description="Entity types that survive this step, not those of the rule.")


class EntityKeys(Model):
    """The definition of one entity type in a rule file."""

    pattern: Names | None = Field(None, description="A regex, or several (needs the extra `patterns`).")
    words: Names | None = Field(None, description="The words that are entities of this type.")
    words_file: (
        Annotated[tuple[Annotated[FileName, Field(min_length=1)], ...], ONE_OR_LIST, Field(min_length=1)] | None
    ) = Field(None, description="A text file beside the rule file with a word on each line.")
    case_sensitive: bool | None = Field(None, description="`true`: words match only as they are written here.")
    ignore: Names | None = Field(None, description="Values that look like an entity of this type, but are not.")


def _version(value: Any) -> Any:
    if type(value) is int and value != 1:
        raise PydanticCustomError("E017", "expected version 1 of the rule language, not {version}", {"version": value})
    return value


_Definitions = Annotated[dict[str, Any], Field(min_length=1)]


class RuleFile(Model):
    """The keys of a rule file; operations check the steps, entities and conditions are checked for all files."""

    version: Annotated[Literal[1], BeforeValidator(_version)] = Field(description="The version of the rule language.")
    tool: Names = Field(description="The tool whose returns are reduced: a name, a glob such as `vt_*`, or a list.")
    description: str = Field("", description="What is kept and why, in a sentence for colleagues.")
    when: When | None = Field(None, description="The rule is used only if this holds for the return.")
    keys: Literal["all"] | None = Field(None, description="`all`: every object keeps all of its keys.")
    steps: Annotated[list[Any], Field(min_length=1)] | None = Field(
        None, description="What the rule does, from top to bottom, each step on the result of the previous one."
    )
    preserve: Preserved | None = Field(None, description="Entity types that survive: a list, or each with a maximum.")
    max_chars: int | None = Field(None, ge=1, description="Target size in characters after the steps.")
    entities: _Definitions | None = Field(None, description="Custom entity types and ignored values of the folder.")
    conditions: _Definitions | None = Field(None, description="Conditions by name, for all rule files of the folder.")
    tests: list[Test] = Field([], description="Examples with expected results; `python -m reducer test` runs them.")


SHARED_KEYS = ("version", "description", "entities", "conditions")
"""The keys of a rule file without a tool, which only defines entities and conditions."""


@dataclass(frozen=True, slots=True)
class Step:
    """One compiled step: `number` counts from 1; entities of the types in `preserves` stay whatever it removes."""

    number: int
    path: Path
    op: Op
    when: When | None
    preserves: frozenset[str]
    location: Location

    @property
    def name(self) -> str:
        """The action and the path."""
        return f"{self.op.verb()} {self.path.text}"


@dataclass(frozen=True, slots=True)
class TextPaths:
    """The way of a rule through a value.

    `names` leads on from an object by its keys, `every` by any key, `items` from a list to its items (None: by the same
    names). With `here` a text is read as the value that it encodes; with `all` every text below is too.
    """

    names: Mapping[str, TextPaths]
    every: TextPaths | None
    items: TextPaths | None
    here: bool
    all: bool

    def of_items(self) -> TextPaths | None:
        """Return the way from a list to its items."""
        return self.items or (self if self.names or self.every else None)


@dataclass(frozen=True, slots=True)
class Rule:
    """One compiled rule.

    `preserved`: the preserved types by number of the step; first none, last those of `max_chars`. `bounds`: how many
    values of some types are preserved at most. `types`: all types that are scanned for, as `vocabulary` defines them.
    `statically_idempotent`: a second pass over a result cannot change it. `text_paths`: the texts that it reads as
    structure. `digest` identifies the text of its file.
    """

    file: str
    tools: tuple[str, ...]
    description: str
    when: When | None
    all_keys: bool
    steps: tuple[Step, ...]
    max_chars: int | None
    preserved: tuple[frozenset[str], ...]
    bounds: tuple[tuple[frozenset[str], int], ...]
    types: frozenset[str]
    vocabulary: Vocabulary
    statically_idempotent: bool
    text_paths: TextPaths | None
    tests: tuple[Test, ...]
    digest: str = ""

    @property
    def name(self) -> str:
        """The first tool name or glob."""
        return self.tools[0]

    @property
    def version(self) -> str:
        """The file and the digest of its text, which an archive stores with each original."""
        return f"{self.file}@{self.digest}"


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Rules ready to run: `rule_for` returns the rule of a tool name, or None; `warnings` do not prevent their use."""

    rules: tuple[Rule, ...]
    rule_for: Callable[[str], Rule | None]
    warnings: tuple[Diagnostic, ...] = ()
    vocabulary: Vocabulary = BUILT_IN
