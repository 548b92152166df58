"""The JSON Schema of rule files for editors, based on the schema of pydantic."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from reducer.entities.entity import ALL_TYPES, GROUPS
from reducer.files import MAX_RULE_BYTES, read_file
from reducer.operations import operations
from reducer.operations.fields import ENTITY
from reducer.operations.op import Example, Op, StepKeys, enumerated
from reducer.rules.diagnostics import written
from reducer.rules.model import SHARED_KEYS, EntityKeys, RuleFile
from reducer.rules.parser import Tree, locate, parse, plain

Schema = dict[str, Any]

_KINDS = {dict: "objects", list: "lists", str: "texts"}


class _Generator(GenerateJsonSchema):
    """Does not allow null for optional keys: in a rule file, null means that the value is missing."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> Schema:
        return self.generate_inner(schema["schema"])


def schema_text(tools: Iterable[str], files: Iterable[Path]) -> bytes:
    """Return the schema as JSON in UTF-8, with the types and conditions that rule files define. Raises OSError."""
    entities: set[str] = set()
    conditions: set[str] = set()
    for file in files:
        tree, _ = parse(read_file(file, MAX_RULE_BYTES), str(file))
        if tree is not None:
            entities |= _names(tree, "entities")
            conditions |= _names(tree, "conditions")
    schema = rule_schema(tools, sorted(entities), conditions)
    text = json.dumps(schema, ensure_ascii=False, indent=1)
    return f"{text}\n".encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape


def _names(tree: Tree, section: str) -> set[str]:
    """Return the names that a section of a rule file defines; the file may contain any errors."""
    names = plain(locate(tree, (section,)))
    return set(map(str, names)) if type(names) is dict and names != plain(tree) else set()


def rule_schema(tools: Iterable[str] = (), entities: Iterable[str] = (), conditions: Iterable[str] = ()) -> Schema:
    """Return the JSON Schema (draft 2020-12) of rule files.

    Editors suggest `tools` and `conditions`. `entities` are the custom entity types, which are valid in addition to the
    built-in types.
    """
    models: tuple[type[BaseModel], ...] = (RuleFile, EntityKeys, *operations().values())
    _, whole = models_json_schema([(model, "validation") for model in models], schema_generator=_Generator)
    definitions: dict[str, Schema] = whole["$defs"]
    rule = definitions.pop("RuleFile")
    actions = {action: definitions.pop(op.__name__) for action, op in operations().items()}
    step = _step(actions)
    keys = rule["properties"]
    keys["steps"]["items"] = {"$ref": "#/$defs/Step"}
    keys["entities"]["additionalProperties"] = {"$ref": "#/$defs/EntityKeys"}
    for described, names in ((keys["tool"], tools), (step["properties"]["always_keep"], conditions)):
        if examples := sorted(set(names)):
            described["examples"] = examples
    schema: Schema = _tidy(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **rule,
            "description": "A rule file of reducer.",
            "required": ["version"],
            "anyOf": [
                {"required": ["tool", "steps"]},
                {"required": ["tool", "max_chars"]},
                {"propertyNames": {"enum": list(SHARED_KEYS)}, "minProperties": 2},
            ],
            "$defs": {**definitions, "Step": step},
        }
    )
    schema["$defs"]["Entity"] = {"enum": [*dict.fromkeys((*ALL_TYPES, *GROUPS, *entities))]}
    return schema


def _step(actions: Mapping[str, Schema]) -> Schema:
    """Return the schema of a step, which requires exactly one action."""
    keys: dict[str, Schema] = {}
    owners: dict[str, list[str]] = {}
    for action, schema in actions.items():
        for key, described in schema["properties"].items():
            if key == action:
                op = operations()[action]
                described |= {"description": _summary(op), "markdownDescription": hover(op)}
            elif key not in StepKeys.model_fields:
                owners.setdefault(key, []).append(action)
            keys[key] = described if keys.get(key, described) == described else {"anyOf": [keys[key], described]}
    return {
        "type": "object",
        "description": "One step: where (`path`), and exactly one action.",
        "properties": keys,
        "additionalProperties": False,
        "oneOf": _required(actions),
        "dependentSchemas": {key: {"anyOf": _required(names)} for key, names in owners.items()},
    }


def _required(keys: Iterable[str]) -> list[Schema]:
    return [{"required": [key]} for key in keys]


def _tidy(schema: Any) -> Any:
    """Remove what editors do not use, and mark descriptions that contain code as Markdown."""
    if type(schema) is list:
        return [_tidy(item) for item in schema]
    if type(schema) is not dict:
        return schema
    if schema.get("format") == ENTITY:
        return {"$ref": "#/$defs/Entity"}
    tidied: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            tidied[key] = {name: _tidy(item) for name, item in value.items()}
        elif key != "title" and not (key == "default" and value in (None, "", [])):
            tidied[key] = _tidy(value)
    if tidied.get("type") == "array" and "minLength" in tidied:
        tidied["minItems"] = tidied.pop("minLength")
    described = tidied.get("description")
    if type(described) is str and "`" in described:
        tidied.setdefault("markdownDescription", described)
    return tidied


def _summary(op: type[Op]) -> str:
    return " ".join((op.__doc__ or "").split())


def hover(op: type[Op]) -> str:
    """Describe an operation in Markdown, with the types it works on and its examples."""
    on = enumerated(name for kind, name in _KINDS.items() if kind in op.accepts)
    return "\n\n".join([_summary(op), f"Works on {on}; other values stay.", *map(_shown, op.examples)])


def _shown(example: Example) -> str:
    """Format an example as Markdown: the step, the given content and the result."""
    given, result = (json.dumps(value, ensure_ascii=False) for value in (example.given, example.result))
    step = "\n  ".join(f"{key}: {written(item)}" for key, item in example.step.items())
    return (
        f"{example.title[:1].upper()}{example.title[1:]}:\n\n```yaml\n- {step}\n```\n\n```text\n{given}\n{result}\n```"
    )
