"""Python literals: the `repr` of lists, tuples, dicts, sets, models and dataclasses.

Nothing is ever evaluated. Commas and blanks are skipped, so malformed texts are read too: they are refused afterwards,
because the `repr` of the value must be equal to the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from reducer.formats.json_text import in_range
from reducer.formats.nodes import EDGE, Atom, Bracketed
from reducer.values import MAX_DEPTH

# An unterminated string also matches, so no text is scanned twice.
_STRING = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'?|"[^"\\]*+(?:\\.[^"\\]*+)*+"?"""
_TOKEN = re.compile(
    rf"""(?P<string>{_STRING})
    | (?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)
    | (?P<opening>[\[{{(]|[A-Za-z_][\w.]*+\()
    | (?P<closing>[\]}})])
    | (?P<colon>:)
    | (?P<field>[A-Za-z_]\w*+=)
    | (?P<atom>b(?:{_STRING})|<[A-Za-z_](?:[^<>'"]|{_STRING})*+>|(?:nan|-?inf)\b(?![.]))
    | (?P<word>[A-Za-z_][\w.]*+)""",
    re.VERBOSE,
)
_FIELD = re.compile(r"[A-Za-z_]\w*=")
_MODULE = re.compile(r"[a-z_]\w*\.")
_BLANK = re.compile(rf"({_STRING}|{EDGE}[^{EDGE}]*+{EDGE})|([,:]) ")
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_CLOSING = {"": "", "[": "]", "{": "}", "(": ")"}
_WORDS = {"None": None, "True": True, "False": False}
_UNKNOWN = object()
"""The value of a word that no literal contains outside of calls."""


class _Open(NamedTuple):
    """An open bracket with the name before it, where it starts, its items, and their keys or names."""

    opening: str
    start: int
    items: list[Any]
    names: list[Any]


def read_literal(text: str) -> tuple[Any, Callable[[Any], str]] | None:
    """Return the list, tuple, dict or `Bracketed` that the whole text expresses, and the function that writes it.

    The function is `spaced`, or `compact` for a text without blanks. Return None for a text that neither of them
    writes, and for a value that is nested deeper than `MAX_DEPTH` levels.
    """
    has_fields = _FIELD.match(text) is not None
    if not text.isprintable() or not (has_fields or text[-1:] in ("]", ")", "}")):
        return None
    try:
        value = _read(text, has_fields)
        if type(value) not in (list, tuple, dict, Bracketed):
            return None
        for write in (spaced, compact):
            if write(value) == text:
                return value, write
    except (ValueError, OverflowError, RecursionError):
        pass
    return None


def spaced(value: Any) -> str:
    """Return the text of a literal as `repr` writes it."""
    return repr(value).replace(EDGE, "")


def compact(value: Any) -> str:
    """Return the text of a literal without the blanks behind commas and colons, except in strings and atoms."""
    return _BLANK.sub(r"\1\2", repr(value)).replace(EDGE, "")


def _read(text: str, has_fields: bool) -> Any:
    """Return the value of a literal. Raise `ValueError`."""
    whole = _Open("", 0, [], [])
    opened = [whole]
    _, _, items, names = whole
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "string":
            items.append(_string(token))
        elif kind == "colon":
            names += items[-1:]
            del items[-1:]
        elif kind == "number":
            items.append(_number(token))
        elif kind == "opening":
            if len(opened) + has_fields > MAX_DEPTH:
                raise ValueError(f"deeper than {MAX_DEPTH} levels")
            opened.append(_Open(token, match.start(), items := [], names := []))
        elif kind == "closing":
            last = opened.pop()
            if token != _CLOSING[last.opening[-1:]]:
                raise ValueError("unbalanced brackets")
            _, _, items, names = opened[-1]
            items.append(_closed(last, text[last.start : match.end()]))
        elif kind == "field":
            names.append(token[:-1])
        else:
            items.append(Atom(token) if kind == "atom" else _WORDS.get(token, _UNKNOWN))
    if has_fields:
        return _closed(whole, text)
    [value] = whole.items
    return value


def _closed(bracket: _Open, source: str) -> Any:
    """Return the value between two brackets, or of fields without brackets. Raise `ValueError`."""
    opening, _, items, names = bracket
    if opening in ("[", "("):
        if names:
            raise ValueError("a name outside of a call")
        return items if opening == "[" else tuple(items)
    if source == "set()" or (opening == "{" and items and not names):
        return Bracketed(items, "{", "}")
    is_call = items and not _FIELD.match(source, len(opening))
    if any(type(name) is not str for name in names) or (opening != "{" and is_call) or _MODULE.match(opening):
        return Atom(source)
    value = dict(zip(names, items, strict=True))
    if opening == "{":
        return value
    return Bracketed(value, opening, ")") if opening else Bracketed(value, glue=" ", least=1)


def _string(token: str) -> str:
    text = token[1:-1]
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    return chr(int(code, 16)) if code else _CONTROLS.get(escape[4], escape[4])


def _number(text: str) -> float | Atom:
    if text.lstrip("-").isdecimal():
        return int(text)
    number = in_range(text)
    return number if repr(number) == text else Atom(text)
