"""What a rule file says, as data: checked models of its keys, and the compiled rule that the engine runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from reducer.entities.own import BUILT_IN, Vocabulary
from reducer.errors import Location, Problem
from reducer.op import Op
from reducer.op.fields import Condition, EntityTypes, Names, Place, Preserved
from reducer.path import Path
from reducer.rule.opening import Opening


class Model(BaseModel):
    """A mapping of a rule file: no key but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True, defer_build=True)


class When(Model):
    """A gate, judged on the return as it arrived: it has at least `min_chars` characters, and `where` holds."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    min_chars: int | None = Field(None, ge=1, description="The return has at least so many characters.")
    where: Condition | None = Field(None, description="This JMESPath condition holds for the return.")

    @model_validator(mode="after")
    def _says_something(self) -> When:
        if self.min_chars is None and self.where is None:
            raise ValueError("expected `min_chars` or `where`")
        return self


class Given(Model):
    """What an inline test starts from: exactly one of a value, a text, a file beside the rule file, and a stored history beside it.

    A `history` gives the return of a tool of the rule: the only one, or that with the call id `call` (`ID#2`: the second that has it).
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1, "dependentRequired": {"call": ["history"]}})

    json_: Any = Field(None, alias="json", description="The content of the return, written as YAML.")
    text: str | None = Field(None, description="The content of the return, a text.")
    file: str | None = Field(None, description="A file beside the rule file with the content of the return: JSON, or a text if its name ends in .txt.")
    history: str | None = Field(None, description="A stored history beside the rule file, with one return of a tool of this rule.")
    call: str | None = Field(None, description="Which return of the history: its call id, with `#2` for the second that has it.")

    @model_validator(mode="after")
    def _one(self) -> Given:
        said = self.model_fields_set - {"call"}
        if len(said) != 1:
            raise ValueError("expected exactly one of `json`, `text`, `file`, `history`")
        if "call" in self.model_fields_set and "history" not in said:
            raise ValueError("`call` chooses a return of a `history`")
        return self


def _share(value: Any) -> Any:
    if type(value) is str and value.endswith("%") and value[:-1].strip().replace(".", "", 1).isdigit():
        return float(value[:-1]) / 100
    raise PydanticCustomError("share", "expected a share such as 80%")


Share = Annotated[float, BeforeValidator(_share, json_schema_input_type=Annotated[str, Field(pattern=r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*%$")])]
"""A share of a whole, written as 80%."""


def _beside(value: Any) -> Any:
    """Take the name of a file that tests may write: one at or below the rule file's folder, never a rule."""
    name = PurePosixPath(value) if type(value) is str else None
    if name is None or name.is_absolute() or ".." in name.parts or "\\" in str(name) or name.suffix not in SNAPSHOTS:
        raise PydanticCustomError("snapshot", "expected a file beside the rule file whose name ends in .json or .txt")
    return value


SNAPSHOTS = (".json", ".txt")
"""How the names of snapshots end: JSON for what a result says, text for a text as it stands."""


class Expect(Model):
    """What an inline test expects of the result; a `snapshot` is a file beside the rule file that holds all of it."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    unchanged: bool | None = Field(None, description="`true`: the rule leaves it alone; `false`: it changes something.")
    equals: Any = Field(None, description="The whole result.")
    contains: Names | None = Field(None, description="A text, or several, that some text of the result has in it.")
    not_contains: Names | None = Field(None, description="A text, or several, that no text of the result has in it.")
    max_chars: int | None = Field(None, ge=0, description="The result has at most so many characters.")
    min_reduction: Share | None = Field(None, description="The result is smaller by at least this share: `80%`.")
    values: dict[str, Any] | None = Field(None, description="JMESPath expressions, each with the value that it has on the result.")
    preserves: EntityTypes | None = Field(None, description="Every entity of these types that the content has is in the result too.")
    snapshot: Annotated[str, BeforeValidator(_beside)] | None = Field(None, description="A file beside the rule file that holds the whole result.")

    @model_validator(mode="after")
    def _says_something(self) -> Expect:
        if not self.model_fields_set:
            raise ValueError("expected at least one expectation")
        return self


class Test(Model):
    """An inline test: a name, what is given, what is expected."""

    __test__ = False

    name: str = Field(min_length=1, description="What the test shows, in words.")
    given: Given = Field(description="The content of a return: exactly one of `json`, `text`, `file`, `history`.")
    expect: Expect = Field(description="What holds for the result.")


class StepKeys(Model):
    """The keys that every step may have beside those of its operation."""

    path: Place | None = Field(None, description="Where: JMESPath that names places, such as `items`, `items[*].tags`. Without it: the whole return.")
    when: When | None = Field(None, description="The step is done only if this holds for the return as it arrived.")
    preserve: Preserved | None = Field(None, description="Entities of these types that the step takes away stay, in place of what the rule says. `[]`: none.")


_Named = Annotated[dict[str, Any], Field(min_length=1)]


class RuleFile(Model):
    """The keys of a rule file; the steps are read by their operations, entities and conditions for all files."""

    version: Literal[1] = Field(description="The version of the rule language.")
    tool: Names = Field(description="The tool whose returns are reduced: a name, a glob such as `vt_*`, or a list of them.")
    description: str = Field("", description="What is kept and why, in a sentence for colleagues.")
    when: When | None = Field(None, description="The rule is used only if this holds for the return.")
    keys: Literal["all"] | None = Field(None, description="`all`: every object keeps all of its keys, for code that reads the return by a schema.")
    steps: Annotated[list[Any], Field(min_length=1)] | None = Field(
        None, description="What is done, from top to bottom, each step on what the one before left."
    )
    preserve: Preserved | None = Field(None, description="Entities of these types never vanish: a list, or each type with how many stay at most.")
    max_chars: int | None = Field(None, ge=1, description="What is left after the steps is cut down to about so many characters.")
    entities: _Named | None = Field(None, description="Entity types of your own, and what is no entity; for all rule files of the folder.")
    conditions: _Named | None = Field(None, description="Conditions by name, as `always_keep` takes them; for all rule files of the folder.")
    tests: list[Any] = Field([], description="Examples with what is expected of them; `python -m reducer test` runs them.")


class SharedFile(Model):
    """The keys of a rule file without a tool, that only says what entities and conditions are."""

    version: Literal[1]
    description: str = ""
    entities: _Named | None = None
    conditions: _Named | None = None


SHARED_KEYS = frozenset({"entities", "conditions"})
"""What a rule file says for all files of its folder."""


@dataclass(frozen=True, slots=True)
class Step:
    """One compiled step: `number` counts from 1; `owes` are the types preserved in what it takes away."""

    number: int
    path: Path
    op: Op
    when: When | None
    owes: frozenset[str]
    location: Location

    @property
    def name(self) -> str:
        """Name the step for people: its verb and its place."""
        return f"{self.op.verb()} {self.path.text}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One compiled rule.

    `policies`: the types owed for what goes, by number of the step; first nothing, last `max_chars`. `types`: all types that are scanned for,
    as `vocabulary` has them, which all rules of a ruleset share. `bounds`: how many values of some types are preserved at most.
    `traced`: it owes something for items and keys, so that who took them must be known. `proven`: its form alone makes it a fixed point.
    `digest` is made from the text of its file, and tells versions of it apart.
    `opening`: the texts that it goes into.
    """

    file: str
    tools: tuple[str, ...]
    description: str
    when: When | None
    all_keys: bool
    steps: tuple[Step, ...]
    max_chars: int | None
    policies: tuple[frozenset[str], ...]
    bounds: tuple[tuple[frozenset[str], int], ...]
    traced: bool
    types: frozenset[str]
    vocabulary: Vocabulary
    proven: bool
    opening: Opening | None
    tests: tuple[Test, ...]
    digest: str = ""

    @property
    def name(self) -> str:
        """Name the rule for people: its first tool name or glob."""
        return self.tools[0]


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Rules ready to run: `rule_for` gives the one for a tool name or None; `warnings` do not stop them; `vocabulary` has the entity types."""

    rules: tuple[Rule, ...]
    rule_for: Callable[[str], Rule | None]
    warnings: tuple[Problem, ...] = ()
    vocabulary: Vocabulary = BUILT_IN
