"""Models of rule files, and the compiled rules that the engine runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetPydanticSchema,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from reducer.entities.vocabulary import BUILT_IN, Vocabulary
from reducer.errors import Diagnostic, Location
from reducer.operations import operations
from reducer.operations.fields import (
    ONE_OR_LIST,
    Condition,
    EntityTypes,
    Mark,
    Model,
    Names,
    NonEmpty,
    Notations,
    Preserved,
    When,
)
from reducer.operations.op import Op
from reducer.paths import Path
from reducer.plan import Settings, Work


def _file_name(value: Any) -> Any:
    name = PurePosixPath(value) if type(value) is str else None
    if name is not None and (name.is_absolute() or ".." in name.parts or set(value) & set("\\\0")):
        raise PydanticCustomError("E098", "the file must be in the folder of the rule file or below it")
    return value


FileName = Annotated[str, BeforeValidator(_file_name)]
"""A file in the folder of the rule file or below it."""


class Given(Model):
    """The content that an inline test starts from."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [key]} for key in ("json", "text", "file")]})

    json_: Any = Field(None, alias="json", description="The content of the return, written as YAML.")
    text: str | None = Field(None, description="The content of the return if it is a text.")
    file: FileName | None = Field(None, description="A file with the content: JSON, or text if its name ends in .txt.")

    @model_validator(mode="after")
    def _is_one(self) -> Given:
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("E024", "expected exactly one of `json`, `text`, `file`")
        return self


_SHARE = r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*%$"


def _share(value: Any) -> Any:
    if type(value) is str and re.fullmatch(_SHARE, value):
        return float(value[:-1]) / 100
    raise PydanticCustomError("E025", "expected a percentage such as 80%")


Share = Annotated[float, BeforeValidator(_share, json_schema_input_type=Annotated[str, Field(pattern=_SHARE)])]
"""A share, written as 80%."""


def _snapshot(name: str) -> str:
    if not name.endswith((".json", ".txt")):
        raise PydanticCustomError("E020", "expected a name that ends in .json or .txt")
    return name


class Expect(NonEmpty):
    """The expectations of an inline test."""

    expected = "at least one expectation"

    unchanged: bool | None = Field(None, description="`true`: the rule changes nothing; `false`: it changes something.")
    equals: Any = Field(None, description="The whole result.")
    contains: Names | None = Field(None, description="One or several texts that must occur in the result.")
    not_contains: Names | None = Field(None, description="One or several texts that must not occur in the result.")
    max_chars: int | None = Field(None, ge=0, description="The result has at most this many characters.")
    min_reduction: Share | None = Field(None, description="The result is smaller by at least this share: `80%`.")
    values: dict[str, Any] | None = Field(None, description="JMESPath expressions with their expected values.")
    preserves: EntityTypes | None = Field(None, description="The result still contains all entities of these types.")
    snapshot: Annotated[FileName, AfterValidator(_snapshot)] | None = Field(
        None, description="A file with the whole result, next to the rule file."
    )


class Test(Model):
    """An inline test: a name, the given content, and the expected result."""

    __test__ = False

    name: str = Field(min_length=1, description="What the test shows.")
    given: Given = Field(description="The content of a return: exactly one of `json`, `text`, `file`.")
    expect: Expect = Field(description="What the test expects of the result.")


class IgnoreKeys(Model):
    """What a rule file defines for a built-in entity type."""

    ignore: Names


class EntityKeys(Model):
    """What a rule file defines for an own entity type, or for a built-in type of names."""

    pattern: Names | None = Field(
        None, description="One or several regexes. The value is the whole match, or the group `(?P<value>...)`."
    )
    words: Names | None = Field(None, description="The words that are entities of this type.")
    words_file: (
        Annotated[tuple[Annotated[FileName, Field(min_length=1)], ...], Field(min_length=1), ONE_OR_LIST] | None
    ) = Field(None, description="A text file with one word per line, next to the rule file.")
    case_sensitive: bool | None = Field(None, description="`true`: upper and lower case must match.")
    ignore: Names | None = Field(
        None, description="Values that are not entities of this type; also `10.0.0.0/8` and `*.corp.local`."
    )

    @property
    def finds_something(self) -> bool:
        """Return whether a key defines what entities are."""
        return self.pattern is not None or self.words is not None or self.words_file is not None

    @model_validator(mode="after")
    def _is_about_words(self) -> EntityKeys:
        if self.pattern is not None and self.words is self.words_file is None and self.case_sensitive is not None:
            advice = "start the pattern with `(?i)` to ignore case"
            raise PydanticCustomError("E094", "`case_sensitive` applies to words only", {"help": advice})
        return self


def _action(step: Any) -> str | None:
    """Return the tag of the first action of a step; others are not valid keys of the same step."""
    actions = [f"[{key}]" for key in step if key in operations()] if type(step) is dict else []
    return actions[0] if actions else None


def _any_operation(source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
    choices = {f"[{verb}]": handler.generate_schema(op) for verb, op in operations().items()}
    return core_schema.tagged_union_schema(
        choices, _action, custom_error_type="E013", custom_error_message="this step has no action"
    )


MAX_STEPS = 200
_Steps = Annotated[
    list[Annotated[Op, GetPydanticSchema(_any_operation)]],
    Field(min_length=1, max_length=MAX_STEPS),
    AfterValidator(tuple),  # tuples are searched for warnings, lists are data
]
_Definitions = Annotated[dict[str, Any], Field(min_length=1)]


class RuleFile(Model):
    """The keys of a rule file; `definitions` checks the entities and conditions."""

    version: Literal[1] = Field(description="The version of the rule language.")
    tool: Names = Field(description="The tool whose returns are reduced: a name, a glob such as `vt_*`, or a list.")
    prefixed: bool = Field(
        False, description="`true`: the names also match behind the prefix of a server; requires `when.where`."
    )
    description: str = Field("", description="A sentence for colleagues: what the rule keeps, and why.")
    when: When | None = Field(None, description="The rule is used only if this holds for the return.")
    text: Notations | None = Field(
        None, description="The notation of a return that is a text, or several to try in order."
    )
    keys: Literal["all"] | None = Field(
        None, description="`all`: every object keeps all of its keys, and lists get no markers."
    )
    mark: Literal[False] | None = Field(None, description="`false`: no marker counts the removed items of lists.")
    steps: _Steps = Field([], description="The steps run from top to bottom, each on the result of the previous one.")
    preserve: Preserved | None = Field(
        None, description="Entity types that survive: a list, or a mapping of types to maximum numbers."
    )
    max_chars: int | None = Field(None, ge=1, description="Target size in characters after the steps.")
    entities: _Definitions | None = Field(
        None, description="Custom entity types and ignored values, for all rule files of the folder."
    )
    conditions: Annotated[dict[str, Condition], Field(min_length=1)] | None = Field(
        None, description="Conditions by name, for all rule files of the folder."
    )
    tests: list[Test] = Field([], description="Examples with expected results; `python -m reducer test` runs them.")


SHARED_KEYS = ("version", "description", "entities", "conditions")
"""The keys of a rule file that only defines entities and conditions."""


@dataclass(frozen=True, slots=True)
class Step:
    """A compiled step; `number` counts from 1, and entities of the types in `preserves` always survive it."""

    number: int
    path: Path
    op: Op
    preserves: frozenset[str]
    location: Location

    @property
    def name(self) -> str:
        """Return the action and the path."""
        return f"{self.op.verb()} {self.path.text}"

    def apply(self, work: Work) -> tuple[int, bool]:
        """Apply the step. Return the number of its places, and whether it left the objects there alone."""
        places = [place for place in work.root().find(self.path) if place.accepted_by(self.op.accepts)]
        if not self.op.recognises(places):
            return 0, True
        for place in places:
            self.op.apply(place)
        return len(places), False


@dataclass(frozen=True, slots=True)
class TextPaths:
    """The texts in a value that a rule reads as structure."""

    names: Mapping[str, TextPaths]
    """The texts below each key of an object."""
    every: TextPaths | None
    """The texts below any other key of an object."""
    items: TextPaths | None
    """The texts below the items of a list. None if keys pass through the list."""
    here: bool
    """The value itself is opened if it is a text."""
    all: bool
    """Every text below the value is opened."""
    notations: tuple[str, ...] = ()
    """If the value is a plain text, it is opened in the first of these notations that can read it."""

    def of_items(self) -> TextPaths | None:
        """Return the texts below the items of a list."""
        return self.items or (self if self.names or self.every else None)


@dataclass(frozen=True, slots=True)
class Rule:
    """A compiled rule."""

    file: str
    tools: tuple[str, ...]
    description: str
    when: When | None
    settings: Settings
    """What places need to know of the rule."""
    steps: tuple[Step, ...]
    max_chars: int | None
    preserved: tuple[frozenset[str], ...]
    """The preserved entity types by the number of the step. The first set is empty, the last is for `max_chars`."""
    named: frozenset[str]
    """The entity types that the author preserves; others in `preserved` are preserved by default."""
    marks: tuple[Mark, ...]
    """What a marker counts, by the number of the step; the last is for `max_chars`."""
    reads_marked: bool
    """Conditions can read a list that gets a marker."""
    bounds: tuple[tuple[frozenset[str], int], ...]
    """The maximum number of preserved values of some entity types."""
    types: frozenset[str]
    """All entity types that the engine scans for."""
    vocabulary: Vocabulary
    statically_idempotent: bool
    """A second pass cannot change the result of the first."""
    text_paths: TextPaths | None
    tests: tuple[Test, ...]
    text: tuple[str, ...] = ()
    """The notations of a return that is a plain text."""
    prefixed: bool = False
    """Its names also match behind the prefix of a server."""
    source: int = 0
    """The number of the source that contains it; for the same name, a later one comes first."""
    digest: str = ""
    """Identifies the text of the rule file."""

    @property
    def preserves_by_default(self) -> bool:
        """Whether it preserves entity types that the author does not name."""
        return not self.named.issuperset(frozenset[str]().union(*self.preserved))

    @property
    def name(self) -> str:
        """Return the first tool name or glob."""
        return self.tools[0]

    @property
    def has_where(self) -> bool:
        """Whether the rule applies only to contents of a certain shape."""
        return self.when is not None and self.when.where is not None

    @property
    def version(self) -> str:
        """The file and the digest of its text, which an archive stores with each original."""
        return f"{self.file}@{self.digest}"


class Replaced(NamedTuple):
    """Two sources contain the same names and globs of tools: the rule file `by`, from the later one, always applies."""

    by: str
    instead_of: str
    tools: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.by} replaces {self.instead_of} for {', '.join(f'`{tool}`' for tool in self.tools)}"


class Texts(NamedTuple):
    """What a ruleset was compiled from: the names and texts of the files of each source, and their word lists."""

    sources: tuple[tuple[tuple[str, str | bytes], ...], ...]
    word_lists: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Rules that are ready to run.

    `rules_for` returns the rules to try for a tool name in order: the first whose `when.where` holds for a content
    applies to it.
    """

    rules: tuple[Rule, ...]
    rules_for: Callable[[str], tuple[Rule, ...]]
    warnings: tuple[Diagnostic, ...] = ()
    vocabulary: Vocabulary = BUILT_IN
    replaced: tuple[Replaced, ...] = ()
    """The rules that a later source replaces."""
    texts: Texts | None = None
    """The same rules as texts, which can be sent to another process."""
