"""Python literals: the `repr` of lists, tuples, dicts, sets, models and dataclasses.

Nothing is ever evaluated. Commas and blanks are skipped, so malformed texts are read too: they are refused afterwards,
because the `repr` of the value must be equal to the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate
from string import ascii_letters, digits
from typing import Any, NamedTuple

from reducer.formats.json_text import in_range
from reducer.formats.nodes import EDGE, Atom, Bracketed
from reducer.values import MAX_DEPTH

# A string in a text, and in its frame, in which a placeholder stands for each string. `isprintable` excludes all three
# placeholders: for a string, an escaped backslash, and the gap between two strings.
_HOLE, _BACKSLASH, _BETWEEN = "\x01", "\x02", "\x03"
# An unterminated string also matches, so no text is scanned twice.
_STRING = re.compile(r"""('[^'\\]*+(?:\\.[^'\\]*+)*+'?|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)""")
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_ATOM = rf"b{_HOLE}|<[A-Za-z_][^<>]*+>|[A-Za-z_][\w.]*+\(-?[0-9][-0-9., ]*+\)"
_TOKEN = re.compile(
    rf"(?:{_HOLE}(?:, ?{_HOLE})*+:?|[\]}})]|{_NUMBER}(?:, ?{_NUMBER})*+|{_ATOM}|-inf\b(?!\.))[, ]*+"
    r"|[\[{(]|[A-Za-z_]\w*+=|[A-Za-z_][\w.]*+(?:\(|[, ]*+)|.[, ]*+"
)
_IS_ATOM = re.compile(_ATOM)
_FIELD = re.compile(r"[A-Za-z_]\w*=")
_MODULE = re.compile(r"[a-z_]\w*\.")
_BLANK = re.compile(rf"(?:{_STRING.pattern}|({EDGE}[^{EDGE}]*+{EDGE})|([,:]) )")
_ESCAPE = re.compile(rf"{_BACKSLASH}|\\(?:x[0-9a-f]{{2}}|u[0-9a-f]{{4}}|U[0-9a-f]{{8}})")
_OPENING, _DIGITS, _LETTERS = frozenset("[{("), frozenset("-" + digits), frozenset("_" + ascii_letters)
_TEXTS = frozenset({str})
_CLOSING = {"": "", "[": "]", "{": "}", "(": ")"}
_WORDS = {"None": None, "True": True, "False": False, "nan": Atom("nan"), "inf": Atom("inf"), "-inf": Atom("-inf")}
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
    return _BLANK.sub(r"\1\2\3", repr(value)).replace(EDGE, "")


def _read(text: str, has_fields: bool) -> Any:
    """Return the value of a literal. Raise `ValueError`."""
    parts = _STRING.split(text)
    strings, tokens = parts[1::2], _TOKEN.findall(_HOLE.join(parts[::2]))
    values = _values(strings)
    # Where each string and token ends
    string_ends, token_ends = [0, *accumulate(map(len, strings))], [0, *accumulate(map(len, tokens))]
    string = 0
    whole = _Open("", 0, [], [])
    opened = [whole]
    _, _, items, names = whole
    for number, token in enumerate(tokens):
        first, last = token[0], token[-1]
        if first == _HOLE:
            until = string + token.count(_HOLE)
            items += values[string:until]
            string = until
            if ":" in token:
                names.append(items.pop())
        elif last in _OPENING:
            if len(opened) + has_fields > MAX_DEPTH:
                raise ValueError(f"deeper than {MAX_DEPTH} levels")
            start = token_ends[number] + string_ends[string] - string
            opened.append(_Open(token, start, items := [], names := []))
        elif first in "]})":
            bracket = opened.pop()
            if first != _CLOSING[bracket.opening[-1:]]:
                raise ValueError("unbalanced brackets")
            _, _, items, names = opened[-1]
            end = token_ends[number] + 1 + string_ends[string] - string
            items.append(_closed(bracket, text[bracket.start : end]))
        elif last == "=":
            names.append(token[:-1])
        elif (bare := token.rstrip(", ")) in _WORDS:
            items.append(_WORDS[bare])
        elif first in _DIGITS:
            items += map(_number, bare.split(","))
        elif first == ":":
            names += items[-1:]
            del items[-1:]
        elif _IS_ATOM.match(bare):
            start = token_ends[number] + string_ends[string] - string
            string += bare.count(_HOLE)
            end = token_ends[number] + len(bare) + string_ends[string] - string
            items.append(Atom(text[start:end]))
        elif first in _LETTERS:
            items.append(_UNKNOWN)
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
    has_texts = _TEXTS.issuperset(map(type, names))
    if opening == "{":
        if items and not names:
            return Bracketed(items, "{", "}")
        return dict(zip(names, items, strict=True)) if has_texts else Atom(source)
    if source == "set()":
        return Bracketed(items, "{", "}")
    is_call = items and not _FIELD.match(source, len(opening))
    if is_call or not has_texts or _MODULE.match(opening):
        return Atom(source)
    value = dict(zip(names, items, strict=True))
    return Bracketed(value, opening, ")") if opening else Bracketed(value, glue=" ", least=1)


def _values(strings: list[str]) -> list[str]:
    """Return what strings express. An escape that `repr` does not write stays."""
    text = _BETWEEN.join([string[1:-1] for string in strings])
    if "\\" in text:
        text = text.replace("\\\\", _BACKSLASH).replace("\\'", "'")
        text = text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")
    if "\\" in text:
        return [_ESCAPE.sub(_unescaped, one) for one in text.split(_BETWEEN)]
    return text.replace(_BACKSLASH, "\\").split(_BETWEEN)


def _unescaped(escape: re.Match[str]) -> str:
    return "\\" if escape[0] == _BACKSLASH else chr(int(escape[0][2:], 16))


def _number(text: str) -> float | Atom:
    if text.lstrip(" -").isdecimal():
        return int(text)
    text = text.strip()
    number = in_range(text)
    return number if repr(number) == text else Atom(text)
