"""Turns what pydantic finds wrong with a rule file into diagnostics at their places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from reducer.entities.entity import TYPES
from reducer.rules.diagnostics import Report, catalogue
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


def is_typo(word: str, name: str, known: Iterable[str]) -> bool:
    """Return whether `word` is a misspelling of `name` and of no other of `known`.

    The first letter and the digits are the same: `md4` and `crop` are not misspellings of `md5` and `drop`.
    """
    alike = word[:1] == name[:1] and re.findall(r"\d", word) == re.findall(r"\d", name)
    return alike and get_close_matches(word, {*known, name}, 2, 0.8) == [name]


def nearest(word: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """Return the one of `known` that is spelled most like `word`, or an empty text."""
    plain = word[:60].strip().lower().replace("-", "_").replace(" ", "_")
    return next(iter(get_close_matches(plain, known, 1, cutoff)), "")


def listed(names: Iterable[str]) -> str:
    """Return names in backticks, with commas between them."""
    return ", ".join(f"`{name}`" for name in names)


def validated(model: Any, data: Any, report: Report, at: tuple[Tree, Place], context: Any = None) -> Any:
    """Return `data` as an instance of a model, or None after reporting what is wrong with it.

    `at` is the tree of the rule file and the place of `data` in it.
    """
    try:
        return model.model_validate(data, context=context)
    except ValidationError as error:
        tree, place = at
        seen: set[Place] = set()
        for details in error.errors(include_url=False):
            keys = tuple(_keys(details["loc"]))
            if keys not in seen:
                seen.add(keys)
                _report(report, details, tree, (*place, *keys))
        return None


def _keys(loc: Iterable[str | int]) -> Iterator[str | int]:
    # Unions name their branches in between, such as `literal[True]` or `function-before[...]`.
    return (step for step in loc if type(step) is int or not ("[" in str(step) and str(step).endswith("]")))


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
