"""Turns the validation errors of pydantic into diagnostics with positions and suggestions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from reducer.entities.entity import ALL_TYPES
from reducer.errors import Edit, did_you_mean, is_typo, nearest
from reducer.operations import operations
from reducer.operations.fields import Target, When
from reducer.operations.op import Op
from reducer.paths import Expression, Path
from reducer.rules.diagnostics import MAX_DIAGNOSTICS, Report, catalogue, quoted, written
from reducer.rules.habits import advice_elsewhere, advice_for_key, habits
from reducer.rules.model import Expect, Given, Test
from reducer.rules.parser import MappingNode, Place, ScalarNode, SequenceNode, Tree, locate, part, plain, replaced

M = TypeVar("M", bound=BaseModel)
_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a text or a list of texts",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping of keys to values"),
}
_NAMES = {str: "a text", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "a mapping"}


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """Return the model that a type is, or the first model that it contains."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_of, get_args(annotation))), None)


_ARGUMENTS = {verb: _model_of(kind.model_fields[verb].annotation) for verb, kind in operations().items()}
_NESTED: Mapping[str | int, type[BaseModel]] = {
    "when": When,
    "tests": Test,
    "given": Given,
    "expect": Expect,
    **{verb: model for verb, model in _ARGUMENTS.items() if model is not None},
}
"""The models of nested mappings by their keys."""
_INCOMPLETE = frozenset({"missing", "too_short", "E022", "E023", "E024"})
"""Errors that may be caused by a key that is left out because it is invalid."""
_DATA = frozenset({"json", "equals", "values"})
"""Keys of tests whose values are data and may be null."""


def without_empty_keys(tree: Tree, report: Report) -> Tree:
    """Report the keys that have no value, and return the tree without them."""
    if isinstance(tree, SequenceNode):
        return replace(tree, items=tuple(without_empty_keys(item, report) for item in tree.items))
    if not isinstance(tree, MappingNode):
        return tree
    entries = []
    for key, value in tree.entries:
        if isinstance(value, ScalarNode) and value.value is None and key.value not in _DATA and ":" not in key.raw:
            comment = report.lines[key.line - 1][key.column + key.width :].strip()
            advice = f"write {key.value}: {quoted(comment)}" if comment.startswith("#") else ""
            report.add(key, "E023", f"`{key.value}` has no value", advice)
        else:
            entries.append((key, value if key.value in _DATA else without_empty_keys(value, report)))
    return replace(tree, entries=tuple(entries), incomplete=tree.incomplete or len(entries) < len(tree.entries))


def validated(model: type[M], data: Any, node: Tree, report: Report, *, context: Any = None) -> M | None:
    """Return the data of a node as an instance of a model, or None if it has errors; report all problems."""
    try:
        instance = model.model_validate(data, context=context)
    except ValidationError as error:
        _report_errors(report, node, model, error.errors(include_url=False)[:MAX_DIAGNOSTICS])
        return None
    _report_warnings(report, node, instance)
    return instance


def _report_errors(report: Report, node: Tree, model: type[BaseModel], errors: Iterable[ErrorDetails]) -> None:
    """Report the errors of pydantic in a node, at most one at each place."""
    placed = [(details, tuple(_keys(details["loc"]))) for details in errors]
    misspelt = {place[:-1] for details, place in placed if details["type"] == "extra_forbidden"}
    seen: set[Place] = set()
    for details, place in placed:
        if details["type"] == "extra_forbidden":
            _report_extra(report, node, model, place)
        elif place not in seen and not (details["type"] == "missing" and place[:-1] in misspelt):
            seen.add(place)
            _report(report, details, node, place)


def _report_extra(report: Report, node: Tree, model: type[BaseModel], place: Place) -> None:
    """Report a key that the model at its place does not have."""
    nested = next((_NESTED[key] for key in reversed(place[:-1]) if key in _NESTED), model)
    known = [field.alias or name for name, field in nested.model_fields.items()]
    action = nested.verb() if issubclass(nested, Op) else ""
    report_unknown(report, locate(node, place[:-1]), str(place[-1]), known, action=action)


def _report_warnings(report: Report, node: Tree, value: Any) -> None:
    """Report the warnings of all paths and expressions in a validated value."""
    if isinstance(value, BaseModel | dict | tuple):
        items = enumerate(value) if isinstance(value, tuple) else value.items() if isinstance(value, dict) else value
        for key, inner in items:
            _report_warnings(report, locate(node, (key,)), inner)
    elif isinstance(value, Path | Expression | Target):
        for warning in value.warnings:
            span = part(node, warning.column - 1, warning.width)
            report.add(span, warning.code, warning.message, warning.help)


def _keys(loc: Iterable[str | int]) -> Iterator[str | int]:
    # Leave out the branches of unions, such as `literal[True]` or `function-before[...]`.
    return (step for step in loc if type(step) is int or not ("[" in str(step) and str(step).endswith("]")))


def _report(report: Report, details: ErrorDetails, tree: Tree, place: Place) -> None:
    """Report one error of pydantic; in our own validators, the type of an error is its code."""
    kind, value = details["type"], details["input"]
    node = locate(tree, place)
    if kind in _INCOMPLETE and getattr(locate(tree, place[:-1]) if kind == "missing" else node, "incomplete", False):
        return  # the missing key is probably misspelt, which is already reported
    if kind == "missing":
        at, advice = locate(tree, place[:-1], key=True), habits()["missing"].get(place[-1], "")
        report.add(at, "E011", f"`{place[-1]}` is missing", advice)
    elif kind in _EXPECTED:
        dash = f"write `- ` before the first key: - {report.lines[node.line - 1].strip(' -')}"
        advice = dash if kind == "list_type" and type(value) is dict else ""
        report.add(node, "E020", f"expected {_EXPECTED[kind]}, not {_name(value)}", advice)
    elif kind == "literal_error":
        expected = details["ctx"]["expected"].replace("True", "true")
        shown = f"`{written(value)}`" if type(value) in (str, int, float, bool) else _name(value)
        near = nearest(str(value), re.findall(r"'(\w+)'", expected))
        report.add(node, "E021", f"expected {expected}, not {shown}", did_you_mean(near))
    elif kind == "greater_than_equal":
        report.add(node, "E022", f"expected at least {details['ctx']['ge']}, not {value}")
    elif kind in ("too_short", "string_too_short"):
        report.add(node, "E023", "this must not be empty")
    else:
        _report_own(report, details, tree, place)


def _name(value: Any) -> str:
    return _NAMES.get(type(value), "nothing")


def _report_own(report: Report, details: ErrorDetails, tree: Tree, place: Place) -> None:
    """Report an error of our own validators, which may have a `help`, and an `offset` and `width` in a text."""
    context = details.get("ctx", {})
    code = details["type"] if details["type"] in catalogue() else "E020"
    is_key = "[key]" in details["loc"]
    node = locate(tree, place, key=is_key)
    fix: tuple[Edit, ...] = ()
    meant = context.get("meant", "")  # only an unknown entity type has it
    if meant and not is_key and is_typo(str(details["input"]), meant, ALL_TYPES):
        fix = replaced(locate(tree, place), meant)
    at = part(node, context["offset"], context["width"]) if "offset" in context else node
    report.add(at, code, details["msg"], context.get("help", ""), fix=fix)


def report_unknown(report: Report, tree: Tree, word: str, known: Collection[str], *, action: str = "") -> None:
    """Report the key `word` of a mapping that allows only the keys `known`: a step if it has an `action`."""
    key = locate(tree, (word,), key=True)
    keys = plain(tree) if isinstance(tree, MappingNode) else {}
    value = keys.get(word)
    name = nearest(word, [other for other in known if other not in keys])
    if advice := advice_for_key(word, value, known):
        report.add(key, "E010", f"unknown key `{word}`", advice)
    elif advice := advice_elsewhere(word, value):
        report.add(key, "E018", f"`{word}` is not valid {f'with `{action}`' if action else 'here'}", advice)
    else:
        fix = replaced(key, name) if name and is_typo(word, name, known) else ()
        advice = did_you_mean(name) or f"expected one of {listed(known)}"
        report.add(key, "E010", f"unknown key `{word}`", advice, fix=fix)


def listed(names: Iterable[str]) -> str:
    """Return names in backticks, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)
