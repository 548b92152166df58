"""Turns the validation errors of pydantic into diagnostics with positions and suggestions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import filterfalse
from operator import is_
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from reducer.entities.entity import ALL_TYPES
from reducer.errors import Edit, did_you_mean, is_typo, nearest
from reducer.operations import operations
from reducer.operations.fields import Target, When
from reducer.operations.op import StepKeys
from reducer.paths import Expression, Path
from reducer.paths.habits import tables
from reducer.rules.diagnostics import MAX_DIAGNOSTICS, Report, Span, catalogue, written
from reducer.rules.model import Expect, Given, RuleFile, Test
from reducer.rules.parser import MappingNode, Place, ScalarNode, SequenceNode, Tree, locate, part, plain, replaced
from reducer.rules.trial import Advice, is_tag, place_of

M = TypeVar("M", bound=BaseModel)
_WORD = re.compile("'([^']*)'")
"""A text among the expected values of an error."""
_MAPPING = ("E020", "expected a mapping of keys to values, not {found}")
_MESSAGES = {
    "string_type": ("E020", "expected a text, not {found}"),
    "int_type": ("E020", "expected a whole number, not {found}"),
    "bool_type": ("E020", "expected true or false, not {found}"),
    "list_type": ("E020", "expected a list, whose items start with `- `, not {found}"),
    "tuple_type": ("E020", "expected a text or a list of texts, not {found}"),
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "literal_error": ("E021", "expected {words}, not {shown}"),
    "greater_than_equal": ("E022", "expected at least {ge}, not {input}"),
    "too_short": ("E023", "this must not be empty"),
    "string_too_short": ("E023", "this must not be empty"),
    "too_long": ("E003", "this list has more than {max_length} items"),
}
"""Codes and messages by the errors of pydantic; in our own validators, the type of an error is its code."""
_PLAIN = frozenset({str, int, float, bool, type(None)})
"""The types of values without warnings."""
_NAMES = {str: "a text", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "a mapping"}
_INCOMPLETE = frozenset({"missing", "too_short", "E022", "E023", "E024"})
"""Errors that may be caused by a key that is left out because it is invalid."""
_DATA = frozenset({"json", "equals", "values"})
"""Keys of tests whose values are data and may be null."""


def without_empty_keys(tree: Tree, report: Report) -> Tree:
    """Report the keys that have no value, and return the tree without them."""
    if isinstance(tree, SequenceNode):
        items = tuple(without_empty_keys(item, report) for item in tree.items)
        return tree if all(map(is_, items, tree.items)) else replace(tree, items=items)
    if not isinstance(tree, MappingNode):
        return tree
    is_changed = False
    entries = []
    for key, value in tree.entries:
        if key.value in _DATA:
            entries.append((key, value))
        elif isinstance(value, ScalarNode) and value.value is None and ":" not in key.raw:
            report.add(key, "E023", f"`{key.value}` has no value")
            is_changed = True
        else:
            new = without_empty_keys(value, report)
            is_changed = is_changed or new is not value
            entries.append((key, new))
    if not is_changed:
        return tree
    return replace(tree, entries=tuple(entries), incomplete=tree.incomplete or len(entries) < len(tree.entries))


def validated(model: type[M], data: Any, node: Tree, report: Report, *, context: Any = None) -> M | None:
    """Return the data of a node as an instance of a model, or None if it has errors; report all problems."""
    try:
        instance = model.model_validate(data, context=context)
    except ValidationError as error:
        errors = error.errors(include_url=False)[:MAX_DIAGNOSTICS]
        _report_errors(report, node, model, errors, Advice(model, data, context))
        return None
    _report_warnings(report, node, instance)
    return instance


def _report_errors(
    report: Report, node: Tree, model: type[BaseModel], errors: Iterable[ErrorDetails], advice: Advice
) -> None:
    """Report the errors of pydantic in a node, at most one at each place."""
    placed: list[tuple[ErrorDetails, Place]] = []
    misspelt: set[Place] = set()
    seen: set[Place] = set()
    for details in errors:
        place = place_of(details)
        placed.append((details, place))
        if details["type"] == "extra_forbidden":
            misspelt.add(place[:-1])
        if place and details["type"] != "missing":
            seen.add(place[:-1])
    for details, place in placed:
        if details["type"] == "extra_forbidden":
            _report_extra(report, node, model, details["loc"], advice)
        elif place not in seen and not (details["type"] == "missing" and place[:-1] in misspelt):
            seen.add(place)
            _report(report, details, node, place, advice)


@cache
def _nested() -> Mapping[str | int, type[BaseModel]]:
    """Return the models of nested mappings by their keys."""
    models: dict[str | int, type[BaseModel]] = {"when": When, "tests": Test, "given": Given, "expect": Expect}
    for verb, op in operations().items():
        models[f"[{verb}]"] = op
        argument = _model_of(op.model_fields[verb].annotation)
        if argument is not None:
            models[verb] = argument
    return models


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """Return the model that a type is, or the first model that it contains."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part_of_type in get_args(annotation):
        model = _model_of(part_of_type)
        if model is not None:
            return model
    return None


def _report_extra(report: Report, node: Tree, model: type[BaseModel], loc: Place, advice: Advice) -> None:
    """Report a key that the model at its place does not have."""
    *steps, word = loc
    nested, owner = model, node
    for key in steps:
        nested = _nested().get(key, nested)
        owner = owner if is_tag(key) else locate(owner, (key,))
    known = [field.alias or name for name, field in nested.model_fields.items()]
    _report_unknown(report, owner, str(word), known, advice.at(tuple(filterfalse(is_tag, loc))))


def _report_no_action(report: Report, node: Tree, place: Place, advice: Advice) -> None:
    """Report a step without an action, perhaps because it is misspelt."""
    if not isinstance(node, MappingNode):
        hint = f"the actions are {listed(operations())}"
        return report.add(node, "E020", "expected a step, which is a mapping with one action", hint)
    is_misspelt = node.incomplete
    for key in plain(node):
        # Do not report the keys that belong to a misspelt action.
        if not any(key in op.model_fields for op in operations().values()):
            _report_unknown(report, node, key, [*operations(), *StepKeys.model_fields], advice.at((*place, key)))
            is_misspelt = True
    if not is_misspelt:
        keys = plain(node)
        lines = (advice.line((*place, key)) for key in keys if len(keys) > 1)
        hint = next(filter(None, lines), "")
        hint = hint or f"write its keys in a step with an action, or add one of {listed(operations())}"
        report.add(node, "E013", "this step has no action", hint)
    return None


def _report_warnings(report: Report, node: Tree, value: Any) -> None:
    """Report the warnings of all paths and expressions in a validated value."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, tuple):
        items = enumerate(value)
    elif isinstance(value, dict):
        items = value.items()
    elif isinstance(value, BaseModel):
        items = value
    elif isinstance(value, Path | Expression | Target):
        for warning in value.warnings:
            span = part(node, warning.column - 1, warning.width)
            report.add(span, warning.code, warning.message, warning.help)
    for key, inner in items:
        if type(inner) not in _PLAIN:
            _report_warnings(report, locate(node, (key,)), inner)


def _report(report: Report, details: ErrorDetails, tree: Tree, place: Place, advice: Advice) -> None:
    """Report one error of pydantic, at the part of a text that the error names."""
    kind = details["type"]
    is_missing, is_key = kind == "missing", "[key]" in details["loc"]
    owner = locate(tree, place[:-1] if is_missing else place)
    if kind in _INCOMPLETE and isinstance(owner, MappingNode) and owner.incomplete:
        return None  # the missing key is probably misspelt, which is already reported
    if kind == "E013":
        return _report_no_action(report, owner, place, advice)
    if is_missing:
        hint = tables("reducer.rules")["missing"].get(place[-1], "")
        return report.add(locate(tree, place[:-1], key=True), "E011", f"`{place[-1]}` is missing", hint)
    own = (kind if kind in catalogue() else "E020", "{msg}")
    code, message = _MESSAGES.get(kind, own)
    value, context = details["input"], details.get("ctx", {})
    found = _NAMES.get(type(value), "nothing")
    shown = f"`{written(value)}`" if type(value) in (str, int, float, bool) else found
    words = str(context.get("expected", "")).replace("True", "true").replace("False", "false")
    hint = context.get("help", "")
    fix: tuple[Edit, ...] = ()
    meant = context.get("near", "")  # only an unknown entity type has it
    if meant and not is_key and is_typo(str(value), meant, ALL_TYPES):
        fix = replaced(owner, meant)
    if kind == "literal_error" and type(value) is str:
        hint = did_you_mean(nearest(value, _WORD.findall(words)))
    if not meant:
        specific = "" if kind == "E090" else hint
        hint = advice.line(place) or specific or advice.general(place) or hint
    at: Span = locate(tree, place, key=is_key)
    if "offset" in context:
        at = part(owner, context["offset"], context["width"])
    text = message.format(**context, msg=details["msg"], input=value, found=found, shown=shown, words=words)
    return report.add(at, code, text, hint, fix=fix)


def _report_unknown(report: Report, tree: Tree, word: str, known: Collection[str], advice: str) -> None:
    """Report the key `word` of a mapping that allows only the keys `known`; `advice` is the line that it means."""
    key = locate(tree, (word,), key=True)
    keys = plain(tree) if isinstance(tree, MappingNode) else {}
    advice = advice or tables("reducer.rules")["elsewhere"].get(word, "")
    if word in _every_key():
        report.add(key, "E018", f"`{word}` is not valid here", advice or f"expected one of {listed(known)}")
    elif advice:
        report.add(key, "E010", f"unknown key `{word}`", advice)
    else:
        name = nearest(word, [other for other in known if other not in keys])
        fix = replaced(key, name) if name and is_typo(word, name, known) else ()
        advice = did_you_mean(name) or f"expected one of {listed(known)}"
        report.add(key, "E010", f"unknown key `{word}`", advice, fix=fix)


@cache
def _every_key() -> frozenset[str]:
    """Return all keys of the rule language."""
    keys = set(RuleFile.model_fields)
    for model in _nested().values():
        keys.update(model.model_fields)
    return frozenset(keys)


def listed(names: Iterable[str]) -> str:
    """Return names in backticks, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)
