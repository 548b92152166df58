"""Turns the validation errors of pydantic into diagnostics with positions and suggestions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from reducer.entities.entity import TYPES
from reducer.operations import operations
from reducer.operations.dedupe import Repeats
from reducer.operations.fields import Amount
from reducer.operations.op import Op
from reducer.rules.diagnostics import Report, catalogue
from reducer.rules.model import EntityKeys, Expect, Given, RuleFile, StepKeys, Test, When
from reducer.rules.parser import MappingNode, Place, ScalarNode, SequenceNode, Tree, locate, part, replaced

_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a text or a list of texts",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping of keys to values"),
}
_NAMES = {str: "a text", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "a mapping"}
_DASHES = "put `- ` before the first key of each item"
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
    """Report the keys of the rule language that have no value, and return the tree without them."""
    if isinstance(tree, SequenceNode):
        return replace(tree, items=tuple(without_empty_keys(item, report) for item in tree.items))
    if not isinstance(tree, MappingNode):
        return tree
    entries = []
    for key, value in tree.entries:
        if isinstance(value, ScalarNode) and value.value is None and key.value in _language():
            report.add(key, "E023", f"`{key.value}` has no value", "write a value after the colon, or remove the key")
        else:
            entries.append((key, value if key.value in _DATA else without_empty_keys(value, report)))
    return replace(tree, entries=tuple(entries), incomplete=tree.incomplete or len(entries) < len(tree.entries))


@cache
def _language() -> frozenset[str]:
    """Return the keys of the rule language whose values cannot be null."""
    models: tuple[type[BaseModel], ...] = (RuleFile, StepKeys, EntityKeys, *_NESTED.values(), *operations().values())
    fields = (item for model in models for item in model.model_fields.items())
    return frozenset(field.alias or name for name, field in fields) - _DATA


def validated(model: Any, data: Any, node: Tree, report: Report, *, context: Any = None) -> Any:
    """Return the data of a node as an instance of a model, or report its problems and return None."""
    try:
        return model.model_validate(data, context=context)
    except ValidationError as error:
        seen: set[Place] = set()
        errors = [(details, tuple(_keys(details["loc"]))) for details in error.errors(include_url=False)]
        incomplete = {keys[:-1] for details, keys in errors if details["type"] == "extra_forbidden"}
        for details, keys in errors:
            if details["type"] == "extra_forbidden":
                nested = next((_NESTED[key] for key in reversed(keys[:-1]) if key in _NESTED), model)
                _report_key(report, locate(node, keys[:-1]), str(keys[-1]), nested)
            elif keys not in seen and not (details["type"] == "missing" and keys[:-1] in incomplete):
                seen.add(keys)
                _report(report, details, node, keys)
        return None


def _keys(loc: Iterable[str | int]) -> Iterator[str | int]:
    # Leave out the branches of unions, such as `literal[True]` or `function-before[...]`.
    return (step for step in loc if type(step) is int or not ("[" in str(step) and str(step).endswith("]")))


def _report_key(report: Report, node: Tree, word: str, model: type[BaseModel]) -> None:
    known, where = [field.alias or name for name, field in model.model_fields.items()], " here"
    if issubclass(model, Op):
        known, where = [*known, *StepKeys.model_fields], f" with `{model.verb()}`"
    report_unknown(report, node, word, known, where=where)


def _report(report: Report, details: ErrorDetails, tree: Tree, place: Place) -> None:
    """Report one error of pydantic; in our own validators, the type of an error is its code."""
    kind, message, context, value = details["type"], details["msg"], details.get("ctx", {}), details["input"]
    node = locate(tree, place)
    parent = locate(tree, place[:-1]) if kind == "missing" else node
    if kind in ("missing", "too_short", "E022", "E023", "E024") and getattr(parent, "incomplete", False):
        return  # the missing key is probably misspelt, which is already reported
    name = _NAMES.get(type(value), "nothing")
    if kind == "missing":
        report.add(locate(tree, place[:-1], key=True), "E011", f"`{place[-1]}` is missing")
    elif kind in _EXPECTED:
        help = _DASHES if kind == "list_type" and type(value) is dict else ""
        report.add(node, "E020", f"expected {_EXPECTED[kind]}, not {name}", help)
    elif kind == "literal_error":
        near = nearest(str(value), re.findall(r"'(\w+)'", context["expected"]))
        shown = f"`{value}`" if type(value) in (str, int, float) else name
        help = f"did you mean `{near}`?" if near else ""
        report.add(node, "E021", f"expected {context['expected']}, not {shown}", help)
    elif kind == "greater_than_equal":
        report.add(node, "E022", f"expected at least {context['ge']}, not {value}")
    elif kind in ("too_short", "string_too_short"):
        report.add(node, "E023", "this must not be empty")
    else:
        code, help = kind if kind in catalogue() else "E020", context.get("help", "")
        is_key = "[key]" in details["loc"]
        match = re.fullmatch(r"did you mean `(\w+)`\?", help) if code == "E090" and not is_key else None
        fix = replaced(node, match[1]) if match and is_typo(str(value), match[1], TYPES) else ()
        at = locate(tree, place, key=is_key)
        span = part(at, context["offset"], context["width"]) if "offset" in context else at
        report.add(span, code, message, help, fix=fix)


def report_unknown(report: Report, tree: Tree, word: str, known: Collection[str], *, where: str = " here") -> None:
    """Report the key `word` of a mapping that allows only the keys `known`."""
    key = locate(tree, (word,), key=True)
    present = {name.value for name, _ in tree.entries} if isinstance(tree, MappingNode) else ()
    name = nearest(word, [other for other in known if other not in present])
    if home := _homes().get(word):
        report.add(key, "E018", f"`{word}` is not valid{where}", home)
    elif name:
        fix = replaced(key, name) if is_typo(word, name, known) else ()
        report.add(key, "E010", f"unknown key `{word}`", f"did you mean `{name}`?", fix=fix)
    else:
        report.add(key, "E010", f"unknown key `{word}`", f"expected one of {listed(known)}")


@cache
def _homes() -> Mapping[str, str]:
    """Return advice where the keys of the rule language belong, for keys in the wrong place."""
    owners: dict[str, list[str]] = {}
    for action, op in operations().items():
        for key in op.model_fields:
            owners.setdefault(key, []).append(action)
    top = ("tool", "steps", "max_chars", "keys", "tests")
    return {
        **dict.fromkeys(When.model_fields, "use it in `when`"),
        **dict.fromkeys(top, "move it to the top level of the file"),
        "path": "use it in a step",
        **{key: f"use it with {listed(actions)}" for key, actions in owners.items()},
        **{action: f"use it as the action of a step: `steps: [{{{action}: …}}]`" for action in operations()},
    }


def is_typo(word: str, name: str, known: Iterable[str]) -> bool:
    """Return whether `word` is a misspelling of `name` and of no other word in `known`.

    The first letter and the digits must be equal: `md4` and `crop` are not misspellings of `md5` and `drop`.
    """
    alike = word[:1] == name[:1] and re.findall(r"\d", word) == re.findall(r"\d", name)
    return alike and get_close_matches(word, {*known, name}, 2, 0.8) == [name]


def nearest(word: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """Return the most similar word in `known`, or an empty text if none is similar."""
    plain = word[:60].strip().lower().replace("-", "_").replace(" ", "_")
    return next(iter(get_close_matches(plain, known, 1, cutoff)), "")


def listed(names: Iterable[str]) -> str:
    """Return names in backticks, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)
