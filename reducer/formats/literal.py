"""Python literals: the `repr` of lists, tuples, dicts, sets, models and dataclasses.

The text is translated into JSON for the scanner of the standard library, which is several times as fast as
`ast.literal_eval`. Nothing is ever evaluated. The translation accepts malformed texts: they are refused afterwards,
because the `repr` of the result must be equal to the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from reducer.formats.json_text import in_range
from reducer.formats.nodes import EDGE, Atom, Bracketed
from reducer.values import MAX_DEPTH

# An unterminated string also matches, so no text is scanned twice.
_STRING = re.compile(r"""('[^'\\]*+(?:\\.[^'\\]*+)*+'?|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)""")
_WIDE = re.compile(r"\\U([0-9a-fA-F]{8})")
_FIELD = re.compile(r"[A-Za-z_]\w*=")
_MODULE = re.compile(r"[a-z_]\w*\.")

# Placeholders for a string, an escaped backslash, and the gap between two texts. `isprintable` excludes all three.
_HOLE, _BACKSLASH, _BETWEEN = "\x01", "\x02", "\x03"
# Names with a following `(` (a call or a model), `=` (a field) or string; brackets; `<Risk.HIGH: 3>`.
_TOKEN = re.compile(
    rf"([A-Za-z_](?<![0-9].)[\w.]*+[(={_HOLE}]?|[\[({{\])}}]|<[A-Za-z_][^<>]*+>|-inf\b)",
)
_CLOSING = {"[": "]", "{": "}", "(": ")"}
_WORDS = {"None": "null", "True": "true", "False": "false"}
_ATOMS = frozenset({"nan", "inf", "-inf", f"b{_HOLE}"})

# Brackets and their JSON. No literal contains `Infinity`, so an object that starts with it is a node.
_LIST, _DICT = ("[", "]"), ("{", "}")
_TUPLE, _SET = ('{"":Infinity,"(":[', "]}"), ('{"":Infinity,"{":[', "]}")
_FIELDS, _MODEL = ('{"":Infinity,"":{', "}}"), ('{"":Infinity,"%s":{', "}}")
_ATOM = ('{"":Infinity,"!":%s}', "")
_NO_JSON = "?"
_NODE = object()


def read_literal(text: str) -> tuple[Any, Callable[[Any], str]] | None:
    """Return the list, tuple, dict or `Bracketed` that the whole text expresses, and the function that writes it.

    The function is `spaced`, or `compact` for a text without blanks. Return None for a text that neither of them
    writes, and for a value that is nested deeper than `MAX_DEPTH` levels.
    """
    fields = _FIELD.match(text) is not None
    if not text.isprintable() or not (fields or text[-1:] in ("]", ")", "}")):
        return None
    parts = _STRING.split(f"({text})" if fields else text)
    try:
        value = _decode(_HOLE.join(parts[::2]), parts[1::2])
        if type(value) is Atom:
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
    pieces = repr(value).split(EDGE)
    pieces[::2] = map(_without_blanks, pieces[::2])
    return "".join(pieces)


def _without_blanks(text: str) -> str:
    parts = _STRING.split(text)
    frame = _HOLE.join(parts[::2]).replace(", ", ",").replace(": ", ":")
    parts[::2] = frame.split(_HOLE)
    return "".join(parts)


def _decode(frame: str, strings: list[str]) -> Any:
    """Return the value of a literal; its `frame` contains a placeholder for each of its strings. Raise `ValueError`."""
    tokens = _TOKEN.split(frame)
    translated, spans = _translate(tokens)
    kept, token, string = [], 0, 0
    for start, stop in spans:
        first = string + "".join(tokens[token:start]).count(_HOLE)
        kept += strings[string:first]
        source = "".join(tokens[start:stop])
        token, string = stop, first + source.count(_HOLE)
        source = "".join(chain(*zip_longest(source.split(_HOLE), strings[first:string], fillvalue="")))
        translated[start:stop] = [_ATOM[0] % json.dumps(source), *[""] * (stop - start - 1)]
    kept += strings[string:]
    pieces = "".join(translated).split(_HOLE)
    whole = [""] * (2 * len(pieces) - 1)
    whole[::2] = pieces
    whole[1::2] = _bodies(kept)
    return _DECODER.decode('"'.join(whole))


class _Open(NamedTuple):
    """An open bracket: its JSON, its number among the tokens, and the number of atoms before it."""

    kind: tuple[str, str]
    at: int
    atoms: int


def _translate(tokens: list[str]) -> tuple[list[str], list[tuple[int, int]]]:
    """Translate tokens into JSON; return them and the spans of the atoms, which are not translated."""
    translated = tokens.copy()
    opened: list[_Open] = []
    atoms: list[tuple[int, int]] = []
    for at in range(1, len(tokens), 2):
        token = tokens[at]
        last = token[-1]
        if last in _CLOSING:
            if len(opened) == MAX_DEPTH:
                raise ValueError(f"deeper than {MAX_DEPTH} levels")
            kind = _kind(token, tokens[at + 1], tokens[at + 2] if at + 2 < len(tokens) else "", is_first=at == 1)
            opened.append(_Open(kind, at, len(atoms)))
            translated[at] = kind[0] % token if kind is _MODEL else kind[0]
        elif token in "]})":
            _close(tokens, at, translated, opened, atoms)
            _note_key(tokens, at, opened)
        elif last == ">" or token in _ATOMS:
            atoms.append((at, at + 1))
            _note_key(tokens, at, opened)
        elif last == "=":
            is_next = bool(opened) and opened[-1].kind is _FIELDS and opened[-1].at + 2 < at
            translated[at] = f'{"," if is_next else ""}"{token[:-1]}":'
        else:
            translated[at] = _WORDS.get(token, _NO_JSON)
    return translated, atoms


def _close(
    tokens: list[str], at: int, translated: list[str], opened: list[_Open], atoms: list[tuple[int, int]]
) -> None:
    """Translate a closing bracket. Raise `ValueError` if it does not belong to the last one that is open."""
    if not opened or _CLOSING[tokens[opened[-1].at][-1]] != tokens[at]:
        raise ValueError("unbalanced brackets")
    kind, start, outer = opened.pop()
    translated[at] = kind[1]
    if kind is _TUPLE:
        translated[at - 1] = tokens[at - 1].removesuffix(",")
    elif kind is _ATOM:
        atoms[outer:] = [(start, at + 1)]


def _note_key(tokens: list[str], at: int, opened: list[_Open]) -> None:
    """Make the open set an atom if the token is a key: it is a dict whose key is not a text."""
    if opened and opened[-1].kind is _SET and tokens[at + 1].startswith(":"):
        opened[-1] = opened[-1]._replace(kind=_ATOM)


def _kind(token: str, gap: str, following: str, *, is_first: bool) -> tuple[str, str]:
    """Return the JSON brackets for an opening bracket, with the text up to the token that follows, and this token."""
    is_empty = not gap and following == _CLOSING[token[-1]]
    has_field = not gap and following[-1:] == "="
    if token == "[":
        return _LIST
    if token == "(":
        return _FIELDS if is_first and has_field else _TUPLE
    if token == "{":
        if is_empty or gap[:2] == f"{_HOLE}:":
            return _DICT
        return _ATOM if ":" in gap.partition(",")[0] else _SET
    if token == "set(" and is_empty:
        return _SET
    return _MODEL if (has_field or is_empty) and not _MODULE.match(token) else _ATOM


def _bodies(strings: list[str]) -> list[str]:
    """Translate Python strings into the bodies of JSON strings."""
    if not strings:
        return []
    text = _BETWEEN.join([string[1:-1] for string in strings])
    if "\\" in text:
        text = text.replace("\\\\", _BACKSLASH).replace("\\'", "'").replace('"', '\\"').replace("\\x", "\\u00")
        text = _WIDE.sub(lambda match: chr(int(match[1], 16)), text).replace(_BACKSLASH, "\\\\")
    else:
        text = text.replace('"', '\\"')
    return text.split(_BETWEEN)


def _node(pairs: list[tuple[str, Any]]) -> Any:
    if not pairs or pairs[0][1] is not _NODE:
        return dict(pairs)
    name, body = pairs[1]
    if name == "(":
        return tuple(body)
    if name == "{":
        return Bracketed(body, "{", "}")
    if name == "!":
        return Atom(body)
    return Bracketed(body, name, ")") if name else Bracketed(body, glue=" ", least=1)


def _number(text: str) -> float | Atom:
    number = in_range(text)
    return number if repr(number) == text else Atom(text)


_DECODER = json.JSONDecoder(object_pairs_hook=_node, parse_constant={"Infinity": _NODE}.get, parse_float=_number)
