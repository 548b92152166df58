"""JSON Schemas of pydantic's, made plain for editors: draft 7, nothing referred to, no variant that is told twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from reducer.op.fields import ENTITY

Schema = dict[str, Any]
_COPIED = ("type", "enum", "const", "pattern", "description", "minLength", "minimum", "minItems", "minProperties")


def schema_of(model: type[BaseModel]) -> Schema:
    """Give the schema of what a model is read from.

    A key that may be left out may not be null: pydantic allows that, in a file it is a key whose value was forgotten.
    """
    whole = model.model_json_schema(by_alias=True)
    return _tidied(whole, whole.get("$defs", {}))


def guarded(keys: Iterable[str], required: Iterable[str], message: str = "") -> Schema:
    """Demand keys where no unknown one is: else a misspelt key would be told twice."""
    demand: Schema = {"required": list(required), **({"errorMessage": message} if message else {})}
    return {"if": {"propertyNames": {"enum": list(keys)}}, "then": demand}


def one_of(keys: Iterable[str], message: str) -> dict[str, Schema]:
    """Forbid each key beside each other, and say so once; `{}` in `message` stands for the one that is there already."""
    others = list(keys)
    return {key: {"properties": dict.fromkeys(others[number:], False), "errorMessage": message.format(key)} for number, key in enumerate(others, 1)}


def marked(schema: Any) -> Any:
    """Let every description with code in it be read as Markdown: as plain text, yaml-language-server shows the backticks."""
    if type(schema) is list:
        return [marked(item) for item in schema]
    if type(schema) is not dict:
        return schema
    made = {key: marked(value) for key, value in schema.items()}
    described = schema.get("description")
    return {**made, "markdownDescription": schema.get("markdownDescription", described)} if type(described) is str and "`" in described else made


def _tidied(schema: Schema, named: dict[str, Schema]) -> Schema:
    if "$ref" in schema:
        referred = named[schema["$ref"].rpartition("/")[2]]
        return _tidied({**referred, **{key: value for key, value in schema.items() if key != "$ref"}}, named)
    if schema.get("format") == ENTITY:
        return {"$ref": "#/definitions/entity"}
    branches = list(_branches(schema, named))
    if len(branches) == 1:
        return {**branches[0], **{key: schema[key] for key in ("description",) if key in schema}}
    made: Schema = {key: schema[key] for key in _COPIED if key in schema}
    if made.keys() & {"enum", "const"}:
        made.pop("type", None)  # what is wrong is told once
    if schema.get("type") == "array" and "minLength" in made:
        made["minItems"] = made.pop("minLength")
    if branches and _speak_of_different_types(branches):
        # What is said of one type says nothing of the others: side by side, a mistake is told in the words of the branch that was meant.
        for branch in branches:
            made = {**branch, **made}
        made["type"] = [branch["type"] for branch in branches]
    elif branches:
        # Branches without keys are one and the same to yaml-language-server, which then shows nothing but their descriptions over a key.
        plain = [{key: value for key, value in branch.items() if key != "description"} for branch in branches]
        made["anyOf"] = [plain[0], *(branch if branch.get("type") == "object" else {**branch, "properties": {}} for branch in plain[1:])]
    if "properties" in schema:
        made["properties"] = {key: _tidied(value, named) for key, value in schema["properties"].items()}
        made["additionalProperties"] = False
        if "required" in schema:
            made |= guarded(made["properties"], schema["required"])
        goes_with: dict[str, list[str]] = schema.get("dependentRequired", {})
        dependencies = {key: guarded(made["properties"], others, f"`{key}` goes with `{others[0]}`") for key, others in goes_with.items()}
        if schema.get("maxProperties") == 1:  # but for keys that go with another one
            # Said so, it is at the second key, and yaml-language-server goes on to offer the first.
            alternatives = [key for key in made["properties"] if key not in goes_with]
            dependencies |= one_of(alternatives, "`{}` is here already: exactly one is expected")
        made |= {"dependencies": dependencies} if dependencies else {}
    elif type(schema.get("additionalProperties")) is dict:
        made["additionalProperties"] = _tidied(schema["additionalProperties"], named)
    for key in ("items", "propertyNames"):
        if schema.get(key):
            made[key] = _tidied(schema[key], named)
    return made


def _speak_of_different_types(branches: list[Schema]) -> bool:
    types = [branch.get("type") for branch in branches]
    keywords = [key for branch in branches for key in branch if key not in ("type", "description")]
    return all(type(kind) is str for kind in types) and len(set(types)) == len(types) and len(set(keywords)) == len(keywords)


def _branches(schema: Schema, named: dict[str, Schema]) -> Iterable[Schema]:
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if branch != {"type": "null"}:
            made = _tidied(branch, named)
            yield from made["anyOf"] if made.keys() == {"anyOf"} else (made,)
