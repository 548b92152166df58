"""Any literal turned into JSON text token by token: models, sets, and leaves that are no plain value too."""

from __future__ import annotations

import json
import re

from reducer.codecs.brackets import MODEL_KEY, ROUND_KEY, SET_KEY, VERBATIM_KEY
from reducer.codecs.quick_literal import json_string
from reducer.values import MAX_DEPTH

# A string without an end matches too, so that no text is read twice; it is refused later.
_STRING = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'?|"[^"\\]*+(?:\\.[^"\\]*+)*+"?"""
_TOKEN = re.compile(
    rf"(?P<bytes>b(?:{_STRING}))"
    rf"|(?P<string>{_STRING})"
    r"|(?P<open>[A-Za-z_][\w.]{0,200}\(|[\[({])"
    r"|(?P<close>[\])}])"
    r"|(?P<mark>,[ ]|:[ ]|,(?=\)))"
    r"|(?P<key>[A-Za-z_]\w{0,200}=)"
    r"|(?P<word>(?:None|True|False|nan|-?inf)(?![\w.]))"
    r"|(?P<number>-?[0-9][0-9.e+-]*+)"
    rf"|(?P<angle><[A-Za-z_][^<>'\"]{{0,200}}+(?:(?:{_STRING})[^<>'\"]{{0,200}}+)?>)"
    r"|(?P<name>[A-Za-z_][\w.]{0,200}+)"
    r"|(?P<blank>[ ])",
    re.DOTALL,
)
_FIELD = re.compile(r"[A-Za-z_]\w{0,200}=")
_WORDS = {"None": "null", "True": "true", "False": "false", "nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_FIELDS = "="
_NO_JSON = "?"
_ENDS = {"[": "]", "(": ")", "{": "}"}


class _Open:
    """A bracket that is open: where it starts among the pieces and in the text, and what was seen in it."""

    __slots__ = ("bracket", "named", "odd", "place", "start")

    def __init__(self, bracket: str, place: int, start: int) -> None:
        self.bracket = bracket
        self.place = place
        self.start = start
        self.named = False  # a key that is a text, or the name of a field
        self.odd = False  # a key that is no text, or a value without a name among fields


def translated(text: str) -> str | None:
    """Give the JSON text of a literal; None if it is none. What comes back may still be no JSON."""
    pieces: list[str] = []
    opened: list[_Open] = []
    if _FIELD.match(text):
        pieces.append(f'{{"{MODEL_KEY}":["",{{')
        opened.append(_Open(_FIELDS, 0, 0))
    at, waits = 0, True  # for a value
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or (not opened and at):
            return None
        kind, said, at = str(token.lastgroup), token[0], token.end()
        top = opened[-1] if opened else None
        if kind == "open":
            if not waits or len(opened) > MAX_DEPTH:
                return None
            opened.append(_Open(said, len(pieces), token.start()))
            pieces.append("")
        elif top is None:
            return None
        elif kind == "close":
            if _ENDS.get(top.bracket[-1]) != said:
                return None
            opened.pop()
            empty = len(pieces) == top.place + 1
            _close(pieces, top, text[top.start : at], empty)
            waits = False
        elif kind == "key":
            if not waits or (len(top.bracket) == 1 and top.bracket != _FIELDS):
                return None
            top.named = True
            pieces.append(f'"{said[:-1]}":')
        elif kind == "mark" or kind == "blank":
            if waits or (kind == "blank") is not (top.bracket == _FIELDS):
                return None
            waits = said != ","
            if said == ": ":
                if pieces[-1][:1] == '"':
                    top.named = True
                else:
                    top.odd = True
            elif waits and len(top.bracket) > 1 and not top.named:
                top.odd = True
            if waits:
                pieces.append(":" if said == ": " else ",")
        elif not waits:
            return None
        else:
            pieces.append(_leaf(kind, said))
            top.odd = top.odd or (len(top.bracket) > 1 and pieces[-2][-2:] != '":')
            waits = False
    if len(opened) == 1 and opened[0].bracket == _FIELDS:
        pieces.append("}]}")
    elif opened:
        return None
    return "".join(pieces)


def _leaf(kind: str, said: str) -> str:
    if kind == "string":
        return json_string(said) if len(said) > 1 and said[-1] == said[0] else _NO_JSON
    if kind == "word":
        return _WORDS[said]
    if kind == "number":
        return said
    return _NO_JSON if kind == "name" else _verbatim(said)  # a name stands in a call only, which is taken as it is


def _close(pieces: list[str], top: _Open, said: str, empty: bool) -> None:
    place = top.place
    if top.bracket == "[":
        pieces[place] = "["
        pieces.append("]")
    elif top.bracket == "(":
        pieces[place] = f'{{"{ROUND_KEY}":['
        pieces.append(f'],"{ROUND_KEY}":1}}' if said[-2:] == ",)" else "]}")
    elif top.bracket == "{" and not top.odd:
        pieces[place] = "{" if top.named or empty else f'{{"{SET_KEY}":['
        pieces.append("}" if top.named or empty else "]}")
    elif said == "set()":
        pieces[place:] = [f'{{"{SET_KEY}":[]}}']
    elif len(top.bracket) > 1 and not top.odd and (top.named or empty):
        pieces[place] = f'{{"{MODEL_KEY}":["{top.bracket[:-1]}",{{'
        pieces.append("}]}")
    else:
        pieces[place:] = [_verbatim(said)]


def _verbatim(said: str) -> str:
    return f'{{"{VERBATIM_KEY}":{json.dumps(said)}}}'
