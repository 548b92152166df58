"""What pydantic finds wrong with a rule file, in the words of rule files and at their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Protocol

from pydantic import ValidationError

from reducer.errors import Problem
from reducer.path import PathError
from reducer.rule.sayings import meant
from reducer.source import Mapping, Tree, locate, problem_at

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
_CODES = (
    ("expected at least 1;", "E022"),
    ("expected at least one ", "E023"),
    ("expected `min_chars` or `where`", "E023"),
    ("expected exactly one of ", "E024"),
    ("expected a share ", "E025"),
)
"""What models say of themselves begins so."""
_KINDS = {str: "a text", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "a mapping", type(None): "nothing"}


_READABLE = 120

Place = tuple[str | int, ...]
"""Keys and list indexes from the root of a rule file."""


class Report(Protocol):
    """Notes a problem at a node; `fix` is what its value should be."""

    def __call__(
        self,
        node: Tree,
        code: str,
        message: str,
        help: str = "",
        *,
        offset: int | None = None,
        width: int | None = None,
        fix: str | None = None,
    ) -> None: ...


def near(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest known word, or list all."""
    known = list(known)
    found = get_close_matches(word, known, 1)
    return f"did you mean `{found[0]}`?" if found else f"expected one of {', '.join(f'`{name}`' for name in known)}"


def reporter(text: str | bytes, file: str, found: list[Problem]) -> Report:
    """Make the function that notes problems of one file in `found`."""

    def report(
        node: Tree,
        code: str,
        message: str,
        help: str = "",
        *,
        offset: int | None = None,
        width: int | None = None,
        fix: str | None = None,
    ) -> None:
        found.append(problem_at(text, file, node, code, message, help, offset=offset, width=width, fix=fix))

    return report


def report_all(report: Report, error: ValidationError, tree: Tree, place: Place, known: Callable[[Place], Iterable[str]]) -> None:
    """Note every finding of `error`, raised for the part of `tree` at `place`, one for each place; `known` gives the keys that a part may have."""
    seen: set[tuple[str | int, ...]] = set()
    for entry in error.errors(include_url=False, include_input=True):
        keys = tuple(_steps(entry["loc"]))
        if keys in seen:
            continue
        seen.add(keys)
        kind, context, value = entry["type"], entry.get("ctx", {}), entry["input"]
        node = locate(tree, (*place, *keys))
        around = locate(tree, (*place, *keys[:-1])) if kind == "missing" else node
        if kind in ("missing", "value_error", "too_short") and isinstance(around, Mapping) and around.lost:
            continue  # what is missing there is what was wrong with it
        if kind == "extra_forbidden":
            word = str(keys[-1])
            report(locate(tree, (*place, *keys), key=True), "E010", f"unknown key `{word}`", near(word, known(keys[:-1])))
        elif kind == "missing":
            report(locate(tree, (*place, *keys[:-1]), key=True), "E011", f"`{keys[-1]}` is missing")
        elif kind == "path":
            fix = context["fix"]
            help = corrected(context["help"], fix)
            report(node, context["code"], context["message"], help, offset=context["column"] - 1, width=context["width"], fix=fix or None)
        elif kind == "entity_type":
            one = re.fullmatch(r"did you mean `(\w+)`\?", context["help"])
            report(locate(tree, (*place, *keys), key="[key]" in entry["loc"]), "E090", entry["msg"], context["help"], fix=one[1] if one else None)
        elif kind == "literal_error":
            word = meant(value, re.findall(r"'(\w+)'", context["expected"])) if type(value) is str else ""
            report(node, "E021", f"expected {context['expected']}, not {_said(value)}", f"did you mean `{word}`?" if word else "", fix=word or None)
        elif kind in ("greater_than_equal", "greater_than"):
            report(node, "E022", f"expected at least {context.get('ge', context.get('gt'))}, not {value}")
        elif kind in _EXPECTED:
            code = "E020" if kind.endswith("_type") else "E023"
            report(node, code, f"{_EXPECTED[kind]}, not {_KINDS.get(type(value), 'this')}" if kind.endswith("_type") else _EXPECTED[kind])
        else:
            said = entry["msg"].removeprefix("Value error, ")
            report(node, next((code for start, code in _CODES if said.startswith(start)), "E020"), said)


def corrected(help: str, fix: str) -> str:
    """Give a help with the corrected text, where there is one that can be read."""
    if not fix or len(fix) > _READABLE or fix in help:
        return help
    return f"{help}: `{fix}`" if help else f"write `{fix}`"


def doubted(text: str, doubt: PathError) -> str | None:
    """Give an expression without what is hardly meant in it; None where that is not clear."""
    if doubt.edit is None:
        return None
    start, end, new = doubt.edit
    return text[:start] + new + text[end:]


def _steps(loc: Iterable[str | int]) -> Iterator[str | int]:
    # Unions name their branches in between, such as `literal[True]` or `function-before[...]`.
    return (step for step in loc if type(step) is int or not ("[" in str(step) and str(step).endswith("]")))


def _said(value: Any) -> str:
    return f"`{value}`" if type(value) in (str, int, float) else _KINDS.get(type(value), "this")
