"""Python literals: the `repr` of lists, tuples, dicts, sets, models and dataclasses.

Nothing is ever evaluated. Commas and blanks are skipped, so malformed texts are read too: they are refused afterwards,
because the `repr` of the value must be equal to the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate
from string import ascii_letters, digits
from typing import Any

from reducer.formats.json_text import in_range
from reducer.formats.nodes import EDGE, Atom, Bracketed
from reducer.values import MAX_DEPTH

# Placeholders for a string, an escaped backslash, and the gap between two strings. `isprintable` excludes all three.
_HOLE, _BACKSLASH, _BETWEEN = "\x01", "\x02", "\x03"
# An unterminated string also matches, so no text is scanned twice.
_STRING = re.compile(r"""('[^'\\]*+(?:\\.[^'\\]*+)*+'?|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)""")
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_ATOM = rf"b{_HOLE}|<[A-Za-z_][^<>]*+>|[A-Za-z_][\w.]*+\(-?[0-9][-0-9., ]*+\)"
# A bracket, a name, an atom, or a run of strings or numbers, with the commas and blanks behind it.
_TOKEN = re.compile(
    rf"(?:{_HOLE}(?:, ?{_HOLE})*+:?|[\]}})]|{_NUMBER}(?:, ?{_NUMBER})*+|{_ATOM}|-inf\b(?!\.))[, ]*+"
    r"|[\[{(]|[A-Za-z_]\w*+=|[A-Za-z_][\w.]*+(?:\(|[, ]*+)|.[, ]*+"
)
_IS_ATOM = re.compile(_ATOM)
_FIELD = re.compile(r"[A-Za-z_]\w*=")
_MODULE = re.compile(r"[a-z_]\w*\.")
_BLANK = re.compile(rf"(?:{_STRING.pattern}|({EDGE}[^{EDGE}]*+{EDGE})|([,:]) )")
_ESCAPE = re.compile(rf"{_BACKSLASH}|\\(?:x[0-9a-f]{{2}}|u[0-9a-f]{{4}}|U[0-9a-f]{{8}})")
_OPENING = frozenset("[{(")
_CLOSING = {"": "", "[": "]", "{": "}", "(": ")"}
_KEY = f"{_HOLE}: "
_WORDS = {"None": None, "True": True, "False": False, "nan": Atom("nan"), "inf": Atom("inf"), "-inf": Atom("-inf")}
_DIGITS, _LETTERS = frozenset("-" + digits), frozenset("_" + ascii_letters)
_WHOLE = _DIGITS | {",", " "}
_TEXTS = frozenset({str})
_UNKNOWN = object()
"""The value of a word that no literal contains outside of calls."""


_Open = tuple[str, int, list[Any], list[Any]]
"""An open bracket with the name before it, where it starts, its items, and their keys or names."""


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
    # Where each token starts in the text if strings are as short as placeholders, and what the strings add to it.
    starts = [0, *accumulate(map(len, tokens))]
    lengths = [0, *accumulate(map(len, strings))]
    string = 0
    items: list[Any] = []
    names: list[Any] = []
    opening, start = "", 0
    opened: list[_Open] = []
    for number, token in enumerate(tokens):
        first, last = token[0], token[-1]
        if token == _KEY:
            names.append(values[string])
            string += 1
        elif first == _HOLE:
            until = string + token.count(_HOLE)
            items += values[string:until]
            string = until
            if ":" in token:
                names.append(items.pop())
        elif last in _OPENING:
            if len(opened) + has_fields >= MAX_DEPTH:
                raise ValueError(f"deeper than {MAX_DEPTH} levels")
            opened.append((opening, start, items, names))
            opening, items, names = token, [], []
            start = starts[number] + lengths[string] - string
        elif first in "]})":
            if first != _CLOSING[opening[-1:]]:
                raise ValueError("unbalanced brackets")
            end = starts[number] + 1 + lengths[string] - string
            value = _closed(opening, items, names, text[start:end])
            opening, start, items, names = opened.pop()
            items.append(value)
        elif last == "=":
            names.append(token[:-1])
        elif (bare := token.rstrip(", ")) in _WORDS:
            items.append(_WORDS[bare])
        elif first in _DIGITS:
            items += map(int if _WHOLE.issuperset(bare) else _number, bare.replace(" ", "").split(","))
        elif first == ":":
            names += items[-1:]
            del items[-1:]
        elif _IS_ATOM.match(bare):
            begin = starts[number] + lengths[string] - string
            string += bare.count(_HOLE)
            end = starts[number] + len(bare) + lengths[string] - string
            items.append(Atom(text[begin:end]))
        elif first in _LETTERS:
            items.append(_UNKNOWN)
    if opened:
        raise ValueError("unbalanced brackets")
    if has_fields:
        return _closed("", items, names, text)
    [value] = items
    return value


def _closed(opening: str, items: list[Any], names: list[Any], source: str) -> Any:
    """Return the value between two brackets, or of fields without brackets. Raise `ValueError`."""
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
    if text.lstrip("-").isdecimal():
        return int(text)
    number = in_range(text)
    return number if repr(number) == text else Atom(text)
