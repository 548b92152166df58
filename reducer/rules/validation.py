"""Turns what pydantic finds wrong with a rule file into diagnostics at their places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from reducer.entities.entity import TYPES
from reducer.operations.fields import Amount
from reducer.operations.op import Op
from reducer.rules.diagnostics import Report, catalogue
from reducer.rules.keys import is_typo, nearest, report_unknown
from reducer.rules.model import Expect, Given, StepKeys, When
from reducer.rules.tree import Mapping, Place, Tree, locate, replaced

_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a text or a list of texts",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping of keys to values"),
}
_NAMES: dict[type, str] = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
    type(None): "nothing",
}
_DASHES = "put `- ` before the first key of each item"


_NESTED: dict[str | int, type[BaseModel]] = {
    "when": When,
    "given": Given,
    "expect": Expect,
    "limit": Amount,
    "truncate": Amount,
}
"""The models of mappings in mappings, by their keys."""


def validated(model: Any, data: Any, report: Report, at: tuple[Tree, Place], context: Any = None) -> Any:
    """Return `data` as an instance of a model, or None after reporting what is wrong with it.

    `at` is the tree of the rule file and the place of `data` in it.
    """
    try:
        return model.model_validate(data, context=context)
    except ValidationError as error:
        tree, place = at
        seen: set[Place] = set()
        errors = [(details, tuple(_keys(details["loc"]))) for details in error.errors(include_url=False)]
        incomplete = {keys[:-1] for details, keys in errors if details["type"] == "extra_forbidden"}
        for details, keys in errors:
            if details["type"] == "extra_forbidden":
                nested = _NESTED.get(keys[-2], model) if len(keys) > 1 else model
                _report_key(report, locate(tree, (*place, *keys[:-1])), str(keys[-1]), nested)
            elif keys not in seen and not (details["type"] == "missing" and keys[:-1] in incomplete):
                seen.add(keys)
                _report(report, details, tree, (*place, *keys))
        return None


def _keys(loc: Iterable[str | int]) -> Iterator[str | int]:
    # Unions name their branches in between, such as `literal[True]` or `function-before[...]`.
    return (step for step in loc if type(step) is int or not ("[" in str(step) and str(step).endswith("]")))


def _report_key(report: Report, node: Tree, word: str, model: type[BaseModel]) -> None:
    known, where = [field.alias or name for name, field in model.model_fields.items()], " here"
    if issubclass(model, Op):
        known, where = [*known, *StepKeys.model_fields], f" with `{model.verb()}`"
    report_unknown(report, node, word, known, where)


def _report(report: Report, details: ErrorDetails, tree: Tree, place: Place) -> None:
    """Report one error of pydantic; the type of an error of our own validators is its code."""
    kind, message, context, value = details["type"], details["msg"], details.get("ctx", {}), details["input"]
    node = locate(tree, place)
    parent = locate(tree, place[:-1]) if kind == "missing" else node
    if kind in ("missing", "too_short", "E022", "E023", "E024") and isinstance(parent, Mapping) and parent.incomplete:
        return  # the missing key is probably the wrong one, which is reported
    name = _NAMES.get(type(value), "this")
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
        at, offset, width = locate(tree, place, key=is_key), context.get("offset"), context.get("width")
        report.add(at, code, message, help, fix=fix, offset=offset, width=width)
