"""Texts that hold what `str()` of a Python object gives: lists, tuples, dicts, sets, None, and the fields of models and dataclasses.

The text is turned into JSON text for the scanner of the standard library. Rows of a database take about 6 times as long as their JSON would,
and `ast.literal_eval`, which recurses too, 40 times. A tuple becomes a list and a model an object; their brackets are remembered.
A leaf that is no plain value (`b'…'`, `Decimal('1.2')`, `datetime.date(2024, 5, 1)`, `<Risk.HIGH: 3>`) is a text to rules and written
as it stood. Nothing is ever evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from reducer.codecs.brackets import FIELDS, MARKS, ROUND, ROUND_KEY, SET, SET_KEY, VERBATIM_KEY, Bracket, Brackets, model
from reducer.codecs.quick_literal import quickly_translated
from reducer.codecs.tokens_literal import translated
from reducer.values import MAX_DEPTH

_LEAVES = frozenset({str, int, float, bool, type(None)})


class Verbatim(str):
    """A leaf that is no plain value: the text that it stood as, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str.__str__(self)


def read_literal(text: str, brackets: Brackets) -> Any:
    """Read a text that as a whole is a Python list, tuple, dict, set or model, and note how it was bracketed.

    Any other text comes back as it is, and so does one that would not be written back exactly. Linear in time.
    """
    for read in (_read_quickly, _read_any):
        found: Brackets = {}
        try:
            value = read(text, found)
        except (ValueError, RecursionError, OverflowError):
            continue
        if type(value) in (list, dict):
            brackets.update(found)
            return value
    return text


def _read_quickly(text: str, found: Brackets) -> Any:
    said = quickly_translated(text)
    if said is None:
        return None
    value = _decoder(found, _bracketed_row).decode(said[0])
    # What is translated quickly was found to be as `repr` writes it: writing it takes as long as reading it.
    return value if len(found) == said[1] and _has_depth(value) else None


def _read_any(text: str, found: Brackets) -> Any:
    said = translated(text)
    value = None if said is None else _decoder(found, _bracketed).decode(said)
    return value if value is not None and write_literal(value, found) == text else None


def write_literal(value: Any, brackets: Brackets, depth: int = MAX_DEPTH) -> str:
    """Write a value as Python does. Raises `ValueError` past `depth` levels."""
    kind = type(value)
    if kind is list:
        # Rows of leaves, as databases answer, are written at C speed.
        inner = repr(value)[1:-1] if _LEAVES.issuperset(map(type, value)) else ", ".join([write_literal(item, brackets, _less(depth)) for item in value])
        bracket = brackets.get(id(value))
        if bracket is None:
            return f"[{inner}]"
        if bracket is SET and not value:
            return "set()"
        return f"{bracket.opening}{inner}{',' if bracket is ROUND and len(value) == 1 else ''}{bracket.closing}"
    if kind is dict:
        bracket = brackets.get(id(value))
        if bracket is not None:
            fields = [f"{key}={write_literal(item, brackets, _less(depth))}" for key, item in value.items()]
            return f"{bracket.opening}{bracket.glue.join(fields)}{bracket.closing}"
        if _LEAVES.issuperset(map(type, value.values())):
            return repr(value)
        return f"{{{', '.join([f'{key!r}: {write_literal(item, brackets, _less(depth))}' for key, item in value.items()])}}}"
    return repr(value)


def _less(depth: int) -> int:
    if depth <= 0:
        raise ValueError(f"deeper than {MAX_DEPTH} levels")
    return depth - 1


def _has_depth(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Tell that a value has at most `depth` levels. Raises `ValueError` if it has more."""
    for item in value.values() if type(value) is dict else value:
        if type(item) is list or type(item) is dict:
            _has_depth(item, _less(depth))
    return True


_Pairs = list[tuple[str, Any]]


def _decoder(brackets: Brackets, bracketed: Callable[[_Pairs], tuple[Any, Bracket | None] | None]) -> json.JSONDecoder:
    def value_of(pairs: _Pairs) -> Any:
        found = bracketed(pairs) if pairs and pairs[0][0] in MARKS else None
        if found is not None:
            value, bracket = found
            if bracket is not None:
                brackets[id(value)] = bracket
            return value
        fields = dict(pairs)
        if len(fields) != len(pairs):
            raise ValueError("a key stands twice")
        return fields

    return json.JSONDecoder(object_pairs_hook=value_of)


def _bracketed_row(pairs: _Pairs) -> tuple[Any, Bracket | None] | None:
    mark, items = pairs[0]
    if mark != ROUND_KEY or type(items) is not list:
        return None
    if len(pairs) != (2 if len(items) == 1 else 1):
        raise ValueError("a comma after the one item of a tuple, and there alone")
    return items, ROUND


def _bracketed(pairs: _Pairs) -> tuple[Any, Bracket | None] | None:
    mark, item = pairs[0]
    if mark == ROUND_KEY:
        return _bracketed_row(pairs)
    if len(pairs) > 1:
        return None
    if mark == VERBATIM_KEY:
        return Verbatim(item), None
    if mark == SET_KEY:
        return (item, SET) if type(item) is list else None
    if type(item) is not list or len(item) != 2 or type(item[1]) is not dict:
        return None
    name, fields = item
    return fields, model(name) if name else FIELDS
