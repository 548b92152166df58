"""The rule language as a JSON Schema (draft 7) for editors, made from the models that rule files are read by.

One flat object for rule files and one for steps, with `dependencies`: where variants are told apart by `oneOf`, yaml-language-server
offers the keys of all of them and blames a typo on each. A missing key is only told where all others are known: a typo is one error.
"""

from __future__ import annotations

from collections.abc import Iterable

from reducer.entities.entity import GROUPS, TYPES
from reducer.op import Op
from reducer.ops import operations
from reducer.rule.model import RuleFile, SharedFile, StepKeys, Test
from reducer.rule.vocabulary import EntityKeys
from reducer.schema.hints import a_test, hover, snippet, written
from reducer.schema.tidy import Schema, guarded, marked, one_of, schema_of

__all__ = ["Schema", "rule_schema"]

_ADDED = "for one that was added since, run `python -m reducer schema` again"


def rule_schema(tools: Iterable[str] = (), entities: Iterable[str] = (), conditions: Iterable[str] = ()) -> Schema:
    """Give the JSON Schema of rule files.

    `tools`: names of tools that are suggested, others are as good. `entities`, `conditions`: the names that rule files of the folder
    describe: no other entity types are valid than these and the built-in ones.
    """
    root = schema_of(RuleFile)
    keys = root["properties"]
    _suggest(keys["tool"], tools)
    keys["steps"]["items"] = {"$ref": "#/definitions/step"}
    keys["tests"]["items"] = {**schema_of(Test), "defaultSnippets": [a_test()]}
    keys["entities"]["additionalProperties"] = schema_of(EntityKeys)
    keys["conditions"]["additionalProperties"] = {"type": "string", "minLength": 1}
    shared = [key for key in SharedFile.model_fields if key not in ("version", "description")]
    schema: Schema = marked(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "description": "A rule file of reducer.",
            "type": "object",
            "properties": keys,
            "additionalProperties": False,
            "if": {"propertyNames": {"enum": list(SharedFile.model_fields)}, "anyOf": [{"required": [key]} for key in shared]},
            "then": {"required": ["version"]},
            "else": {**guarded(keys, [key for key, field in RuleFile.model_fields.items() if field.is_required()])},
            "dependencies": {"tool": _something_to_do(keys)},
            "definitions": {
                "step": _step(operations(), list(conditions)),
                "step_key": {"enum": list(_step_keys(operations()))},
                "entity": _entity(list(entities)),
            },
        }
    )
    return schema


def _something_to_do(keys: Schema) -> Schema:
    both = [{"required": [key], "errorMessage": "this rule does nothing: add `steps` or `max_chars`"} for key in ("steps", "max_chars")]
    return {"if": {"propertyNames": {"enum": list(keys)}}, "then": {"anyOf": both}}


def _step_keys(verbs: dict[str, type[Op]]) -> dict[str, None]:
    return dict.fromkeys([*StepKeys.model_fields, *verbs, *(key for op in verbs.values() for key in op.model_fields)])


def _step(verbs: dict[str, type[Op]], conditions: list[str]) -> Schema:
    keys: dict[str, Schema] = schema_of(StepKeys)["properties"]
    common = list(keys)
    owners: dict[str, list[str]] = {}
    dependencies = one_of(verbs, "a second action beside `{}`: write one step for each action")
    for verb, op in verbs.items():
        for key, described in schema_of(op)["properties"].items():
            if key == verb:
                keys[key] = {**described, "description": op.__doc__, "markdownDescription": hover(op)}
                continue
            owners.setdefault(key, []).append(verb)
            keys[key] = _either(keys[key], described) if key in keys else described
    if "always_keep" in keys:
        _suggest(keys["always_keep"], conditions)
    for verb, op in verbs.items():
        needed = [key for key, field in op.model_fields.items() if field.is_required() and key != verb]
        dependencies[verb] |= _if_all_known({"required": needed}) if needed else {}
    for key, actions in owners.items():
        goes_with = " or ".join(f"`{verb}`" for verb in actions)
        dependencies[key] = _if_all_known({"anyOf": [{"required": [verb], "errorMessage": f"`{key}` goes with {goes_with}"} for verb in actions]})
    no_action = f"this step has no action: expected one of {', '.join(f'`{verb}`' for verb in verbs)}"
    return {
        "type": "object",
        "description": "One step: where (`path`) and what, exactly one action.",
        "properties": keys,
        "additionalProperties": False,
        "dependencies": dependencies,
        "if": {"propertyNames": {"enum": common}},
        # Here, and not beside the keys, whole steps are offered only as long as there is no action.
        "then": {"anyOf": [{"required": [verb], "errorMessage": no_action} for verb in verbs], "defaultSnippets": [snippet(op) for op in verbs.values()]},
    }


def _if_all_known(then: Schema) -> Schema:
    return {"if": {"propertyNames": {"$ref": "#/definitions/step_key"}}, "then": then}


def _either(one: Schema, other: Schema) -> Schema:
    return one if one == other else {"description": one.get("description", ""), "anyOf": [one, other]}


def _suggest(described: Schema, names: Iterable[str]) -> None:
    """Offer names for a text, and for each text of a list, without forbidding others.

    As snippets: yaml-language-server shows all `examples` whenever the mouse is over the key.
    """
    snippets = [{"label": name, "body": written(name)} for name in dict.fromkeys(names)]
    for text in (described, described.get("items")) if snippets else ():
        if text is not None:
            text["defaultSnippets"] = snippets


def _entity(own: list[str]) -> Schema:
    names = list(dict.fromkeys([*TYPES, *GROUPS, *own]))
    told = [", ".join(GROUPS[name]) if name in GROUPS else "described in this folder" if name not in TYPES else "" for name in names]
    return {"enum": names, "markdownEnumDescriptions": told, "errorMessage": f"no entity type: expected one of {', '.join(names)}; {_ADDED}"}
