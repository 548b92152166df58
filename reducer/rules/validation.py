"""Turns the validation errors of pydantic into diagnostics with positions and suggestions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from reducer.entities.entity import ALL_TYPES
from reducer.errors import nearest
from reducer.operations.dedupe import Repeats
from reducer.operations.fields import Amount, Target, When
from reducer.operations.op import Op
from reducer.paths import Expression, Path
from reducer.rules.diagnostics import MAX_DIAGNOSTICS, Report, catalogue, quoted, written
from reducer.rules.habits import advice_elsewhere, advice_for_key, habits, variants
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
_NESTED: Mapping[str | int, type[BaseModel]] = {
    "when": When,
    "tests": Test,
    "given": Given,
    "expect": Expect,
    **dict.fromkeys(("limit", "truncate"), Amount),
    "dedupe": Repeats,
}
"""The models of nested mappings by their keys."""
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
            help = f"write {key.value}: {quoted(comment)}" if comment.startswith("#") else ""
            report.add(key, "E023", f"`{key.value}` has no value", help)
        else:
            entries.append((key, value if key.value in _DATA else without_empty_keys(value, report)))
    return replace(tree, entries=tuple(entries), incomplete=tree.incomplete or len(entries) < len(tree.entries))


def validated(model: type[M], data: Any, node: Tree, report: Report, *, context: Any = None) -> M | None:
    """Return the data of a node as an instance of a model, or None if it has errors; report all problems."""
    try:
        instance = model.model_validate(data, context=context)
    except ValidationError as error:
        seen: set[Place] = set()
        every = error.errors(include_url=False)[:MAX_DIAGNOSTICS]
        errors = [(details, tuple(_keys(details["loc"]))) for details in every]
        incomplete = {keys[:-1] for details, keys in errors if details["type"] == "extra_forbidden"}
        for details, keys in errors:
            if details["type"] == "extra_forbidden":
                nested: type[BaseModel] = next((_NESTED[key] for key in reversed(keys[:-1]) if key in _NESTED), model)
                known = [field.alias or name for name, field in nested.model_fields.items()]
                action = nested.verb() if issubclass(nested, Op) else ""
                report_unknown(report, locate(node, keys[:-1]), str(keys[-1]), known, action=action)
            elif keys not in seen and not (details["type"] == "missing" and keys[:-1] in incomplete):
                seen.add(keys)
                meant = "" if details["type"] == "missing" else _meant(model, data, keys, context)
                _report(report, details, node, place=keys, meant=meant)
        return None
    _report_warnings(report, node, instance)
    return instance


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


def _meant(model: Any, data: Any, keys: Place, context: Any) -> str:
    """Return the advice to write the first variant of a value that a model accepts at its place."""
    place: Place = ()
    value: Any = data
    for key in keys:
        if key in (value if type(value) is dict else range(len(value)) if type(value) is list else ()):
            place, value = (*place, key), value[key]
    only = tuple(0 if type(key) is int else key for key in place)
    for variant in variants(place[-1], value) if place else ():
        try:
            model.model_validate(_with(data, place, variant), context=context)
        except ValidationError as error:
            wrong = (tuple(_keys(details["loc"])) for details in error.errors(include_url=False))
            if any(keys[: len(only)] == only for keys in wrong):
                continue
        return f"write {place[-1]}: {written(variant)}" if type(place[-1]) is str else f"write {written(variant)}"
    return ""


def _with(data: Any, place: Place, value: Any) -> Any:
    """Return a copy of data with another value at a place; lists on the way keep only the item that leads to it."""
    if not place:
        return value
    inner = _with(data[place[0]], place[1:], value)
    return [inner] if type(data) is list else {**data, place[0]: inner}


def _keys(loc: Iterable[str | int]) -> Iterator[str | int]:
    # Leave out the branches of unions, such as `literal[True]` or `function-before[...]`.
    return (step for step in loc if type(step) is int or not ("[" in str(step) and str(step).endswith("]")))


def _report(report: Report, details: ErrorDetails, tree: Tree, *, place: Place, meant: str) -> None:
    """Report one error of pydantic with what was `meant`; in our own validators, the type of an error is its code."""
    kind, message, context, value = details["type"], details["msg"], details.get("ctx", {}), details["input"]
    node = locate(tree, place)
    parent = locate(tree, place[:-1]) if kind == "missing" else node
    if kind in ("missing", "too_short", "E022", "E023", "E024") and getattr(parent, "incomplete", False):
        return  # the missing key is probably misspelt, which is already reported
    name = _NAMES.get(type(value), "nothing")
    if kind == "missing":
        at, help = locate(tree, place[:-1], key=True), habits()["missing"].get(place[-1], "")
        report.add(at, "E011", f"`{place[-1]}` is missing", help)
    elif kind in _EXPECTED:
        dash = f"write `- ` before the first key: - {report.lines[node.line - 1].strip(' -')}"
        help = dash if kind == "list_type" and type(value) is dict else meant
        report.add(node, "E020", f"expected {_EXPECTED[kind]}, not {name}", help)
    elif kind == "literal_error":
        expected = context["expected"].replace("True", "true")
        near = nearest(str(value), re.findall(r"'(\w+)'", expected))
        shown = f"`{written(value)}`" if type(value) in (str, int, float) else name
        help = f"did you mean `{near}`?" if near else meant
        report.add(node, "E021", f"expected {expected}, not {shown}", help)
    elif kind == "greater_than_equal":
        report.add(node, "E022", f"expected at least {context['ge']}, not {value}", meant)
    elif kind in ("too_short", "string_too_short"):
        report.add(node, "E023", "this must not be empty")
    else:
        code, help = kind if kind in catalogue() else "E020", context.get("help", "")
        is_key = "[key]" in details["loc"]
        match = re.fullmatch(r"did you mean `(\w+)`\?", help) if code == "E090" and not is_key else None
        fix = replaced(node, match[1]) if match and is_typo(str(value), match[1], ALL_TYPES) else ()
        at = locate(tree, place, key=is_key)
        span = part(at, context["offset"], context["width"]) if "offset" in context else at
        report.add(span, code, message, meant or help, fix=fix)


def report_unknown(report: Report, tree: Tree, word: str, known: Collection[str], *, action: str = "") -> None:
    """Report the key `word` of a mapping that allows only the keys `known`: a step if it has an `action`."""
    key = locate(tree, (word,), key=True)
    present = {name.value for name, _ in tree.entries} if isinstance(tree, MappingNode) else ()
    name = nearest(word, [other for other in known if other not in present])
    value = plain(tree).get(word) if isinstance(tree, MappingNode) else None
    if advice := advice_for_key(word, value, known):
        report.add(key, "E010", f"unknown key `{word}`", advice)
    elif advice := advice_elsewhere(word, value):
        report.add(key, "E018", f"`{word}` is not valid {f'with `{action}`' if action else 'here'}", advice)
    elif name:
        fix = replaced(key, name) if is_typo(word, name, known) else ()
        report.add(key, "E010", f"unknown key `{word}`", f"did you mean `{name}`?", fix=fix)
    else:
        report.add(key, "E010", f"unknown key `{word}`", f"expected one of {listed(known)}")


def is_typo(word: str, name: str, known: Iterable[str]) -> bool:
    """Return whether `word` is a misspelling of `name` and of no other word in `known`.

    The first letter and the digits must be equal: `md4` and `crop` are not misspellings of `md5` and `drop`.
    """
    alike = word[:1] == name[:1] and re.findall(r"\d", word) == re.findall(r"\d", name)
    return alike and get_close_matches(word, {*known, name}, 2, 0.8) == [name]


def listed(names: Iterable[str]) -> str:
    """Return names in backticks, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)
