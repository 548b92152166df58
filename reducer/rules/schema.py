"""The JSON Schema of rule files for editors, based on the schema of pydantic."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from reducer.entities.entity import ALL_NAMES
from reducer.files import MAX_RULE_BYTES, read_file
from reducer.operations import operations
from reducer.operations.op import Example, Op, enumerated
from reducer.rules.definitions import definitions
from reducer.rules.diagnostics import written
from reducer.rules.model import SHARED_KEYS, EntityKeys, RuleFile
from reducer.rules.parser import parse

Schema = dict[str, Any]

_KINDS = {dict: "objects", list: "lists", str: "texts"}


class _Generator(GenerateJsonSchema):
    """Leaves out titles, defaults and null: in a rule file, null means that the value is missing."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> Schema:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> Schema:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_text(tools: Iterable[str], files: Iterable[Path]) -> bytes:
    """Return the schema as JSON in UTF-8, with the types and conditions that rule files define. Raises OSError."""
    trees = []
    for file in files:
        tree, report = parse(read_file(file, MAX_RULE_BYTES), str(file))
        if tree is not None:
            trees.append((tree, report))
    entities = sorted(each.name for each in definitions(trees, "entities"))
    conditions = [each.name for each in definitions(trees, "conditions")]
    text = json.dumps(rule_schema(tools, entities, conditions), ensure_ascii=False, indent=1)
    return f"{text}\n".encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape


def rule_schema(tools: Iterable[str] = (), entities: Iterable[str] = (), conditions: Iterable[str] = ()) -> Schema:
    """Return the JSON Schema (draft 2020-12) of rule files.

    Editors suggest `tools` and `conditions`. `entities` are the custom entity types, which are valid in addition to the
    built-in types.
    """
    _, whole = models_json_schema([(RuleFile, "validation"), (EntityKeys, "validation")], schema_generator=_Generator)
    kinds: dict[str, Schema] = whole["$defs"]
    rule = kinds.pop("RuleFile")
    keys = rule["properties"]
    keys["entities"]["additionalProperties"] = {"$ref": "#/$defs/EntityKeys"}
    kinds["EntityType"] = {"enum": [*dict.fromkeys((*ALL_NAMES, *entities))]}
    for action, op in operations().items():
        described = kinds[op.__name__]["properties"]
        described[action] |= {"description": _summary(op), "markdownDescription": hover(op)}
        if "always_keep" in described:
            described["always_keep"]["examples"] = sorted(set(conditions))
    keys["tool"]["examples"] = sorted(set(tools))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **rule,
        "description": "A rule file of reducer.",
        "required": ["version"],
        "anyOf": [
            {"required": ["tool", "steps"]},
            {"required": ["tool", "max_chars"]},
            {"propertyNames": {"enum": list(SHARED_KEYS)}, "minProperties": 2},
        ],
        "$defs": kinds,
    }


def _summary(op: type[Op]) -> str:
    return " ".join((op.__doc__ or "").split())


def hover(op: type[Op]) -> str:
    """Describe an operation in Markdown, with the types it works on and its examples."""
    on = enumerated(name for kind, name in _KINDS.items() if kind in op.accepts)
    return "\n\n".join([_summary(op), f"Works on {on}; other values stay.", *map(_shown, op.examples)])


def _shown(example: Example) -> str:
    """Format an example as Markdown: the step, the given content and the result."""
    given, result = json.dumps(example.given, ensure_ascii=False), json.dumps(example.result, ensure_ascii=False)
    step = "\n  ".join(f"{key}: {written(item)}" for key, item in example.step.items())
    return (
        f"{example.title[:1].upper()}{example.title[1:]}:\n\n```yaml\n- {step}\n```\n\n```text\n{given}\n{result}\n```"
    )
