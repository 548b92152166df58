"""Turns what pydantic finds wrong with a rule file into diagnostics at their places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from reducer.entities.entity import TYPES
from reducer.rules.diagnostics import Report
from reducer.rules.tree import Mapping, Place, Tree, locate, replaced

_EXPECTED = {
    "string_type": "expected a text",
    "int_type": "expected a whole number",
    "bool_type": "expected true or false",
    "list_type": "expected a list",
    "tuple_type": "expected a text or a list of texts",
    "dict_type": "expected a mapping of keys to values",
    "model_type": "expected a mapping of keys to values",
    "model_attributes_type": "expected a mapping of keys to values",
    "too_short": "expected at least one",
    "string_too_short": "expected a text that is not empty",
}
_KINDS: dict[type, str] = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
    type(None): "nothing",
}
_CODES = (
    ("expected at least 1;", "E022"),
    ("expected at least one ", "E023"),
    ("expected `min_chars` or `where`", "E023"),
    ("expected exactly one of ", "E024"),
    ("expected a share", "E025"),
    ("expected a file in the folder", "E098"),
)
"""How the messages of our own validators begin."""


def is_typo(word: str, name: str, known: Iterable[str]) -> bool:
    """Return whether `word` is a misspelling of `name` and of no other of `known`.

    At most one letter differs, two in words of six letters or more. The first letter and the digits are the same: `md4`
    and `crop` are not misspellings of `md5` and `drop`.
    """
    limit = 2 if len(word) >= 6 else 1

    def distance(other: str) -> int:
        alike = word[:1] == other[:1] and re.findall(r"\d", word) == re.findall(r"\d", other)
        return edit_distance(word, other) if alike and abs(len(word) - len(other)) <= limit else limit + 1

    return distance(name) <= limit and all(other == name or distance(other) > distance(name) for other in known)


def edit_distance(a: str, b: str) -> int:
    """Return how many letters to insert, remove, replace or swap with their neighbour to get from `a` to `b`."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, char in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, other in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (char != other)))
            if i > 1 and j > 1 and char == b[j - 2] and a[i - 2] == other:
                row[j] = min(row[j], older[j - 2] + 1)
    return row[-1]


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
    kind, context, value = details["type"], details.get("ctx", {}), details["input"]
    node = locate(tree, place)
    parent = locate(tree, place[:-1]) if kind == "missing" else node
    if kind in ("missing", "value_error", "too_short") and isinstance(parent, Mapping) and parent.incomplete:
        return  # the missing key is probably the wrong one, which is reported
    message = details["msg"].removeprefix("Value error, ")
    if kind == "missing":
        report.add(locate(tree, place[:-1], key=True), "E011", f"`{place[-1]}` is missing")
    elif kind == "extra_forbidden":
        report.add(locate(tree, place, key=True), "E010", f"unknown key `{place[-1]}`")
    elif kind == "path":
        offset, width = context["column"] - 1, context["width"]
        report.add(node, context["code"], message, context["help"], offset=offset, width=width)
    elif kind == "entity_type":
        near = re.fullmatch(r"did you mean `(\w+)`\?", context["help"])
        fix = replaced(node, near[1]) if near and is_typo(str(value), near[1], TYPES) else ()
        is_key = "[key]" in details["loc"]
        report.add(locate(tree, place, key=is_key), "E090", message, context["help"], fix=fix if not is_key else ())
    elif kind == "literal_error":
        near_word = nearest(str(value), re.findall(r"'(\w+)'", context["expected"]))
        help = f"did you mean `{near_word}`?" if near_word else ""
        report.add(node, "E021", f"expected {context['expected']}, not {_shown(value)}", help)
    elif kind in ("greater_than_equal", "greater_than"):
        report.add(node, "E022", f"expected at least {context.get('ge', context.get('gt'))}, not {value}")
    elif kind.endswith("_type") and kind in _EXPECTED:
        report.add(node, "E020", f"{_EXPECTED[kind]}, not {_KINDS.get(type(value), 'this')}", _type_help(kind, value))
    elif kind in _EXPECTED:
        report.add(node, "E023", _EXPECTED[kind])
    else:
        report.add(node, next((code for start, code in _CODES if message.startswith(start)), "E020"), message)


def _shown(value: Any) -> str:
    return f"`{value}`" if type(value) in (str, int, float) else _KINDS.get(type(value), "this")


def _type_help(kind: str, value: Any) -> str:
    return "put `- ` before the first key of each item" if kind == "list_type" and type(value) is dict else ""
