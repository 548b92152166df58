"""Lists, tuples and dicts of plain leaves, as `repr` writes them, turned into JSON text by operations on the whole text at once."""

from __future__ import annotations

import json
import re

from reducer.codecs.brackets import ROUND_KEY

_FOREIGN = re.compile("null|true|false|NaN|Infinity")
_NUMBER = re.compile(r"[-+0-9][-+.0-9eE]*+")
_WIDE = re.compile(r"\\U([0-9a-fA-F]{8})")
# Stand for an escaped backslash and an escaped quote; `isprintable` has made sure that no text has them.
_BACKSLASH, _APOSTROPHE, _BETWEEN = "\\\x00", "\\\x02", "\x01"


def quickly_translated(text: str) -> tuple[str, int] | None:
    """Give the JSON text of a literal, its tuples as objects with the key `ROUND_KEY`, and how many; None if `repr` would not write it so, or it holds more.

    What comes back may still be no JSON. Raises `ValueError`.
    """
    if text[:1] not in "[({" or not text.isprintable():
        return None
    # Now every backslash is one of an escape, and every quote ends a text or stands in one with quotes of the other kind.
    parts = (_veiled(text) if "\\" in text else text).split("'")
    outside, strings, others = parts[::2], parts[1::2], frozenset[int]()
    if any('"' in part for part in outside):
        paired = _paired(parts)
        if paired is None:
            return None
        outside, strings, others = paired
    elif len(parts) % 2 == 0:
        return None
    frame = _BETWEEN.join(outside)
    if not _is_spaced(frame) or _FOREIGN.search(frame) or not all(map(_is_written, _NUMBER.findall(frame))):
        return None
    if "\\" in text and not _are_written(strings, others):
        return None
    tuples = frame.count("(")
    frame = frame.replace("None", "null").replace("True", "true").replace("False", "false")
    if tuples:
        frame = frame.replace(",)", f'],"{ROUND_KEY}":1}}').replace("(", f'{{"{ROUND_KEY}":[').replace(")", "]}")
    whole = [""] * (len(outside) + len(strings))
    whole[::2] = frame.split(_BETWEEN)
    whole[1::2] = _inside_json(strings)
    return '"'.join(whole), tuples


def json_string(string: str) -> str:
    """Give the JSON text of a Python string with its quotes. Raises `ValueError` for what is no text of one."""
    return f'"{_inside_json([_veiled(string[1:-1])])[0]}"'


def _veiled(text: str) -> str:
    return text.replace("\\\\", _BACKSLASH).replace("\\'", _APOSTROPHE)


def _inside_json(strings: list[str]) -> list[str]:
    if not strings:
        return strings
    text = _BETWEEN.join(strings)
    if '"' in text:
        text = text.replace('"', '\\"')
    if "\\" in text:
        text = text.replace("\\x", "\\u00")
        if "\\U" in text:
            text = _WIDE.sub(lambda match: chr(int(match[1], 16)), text)
        text = text.replace(_BACKSLASH, "\\\\").replace(_APOSTROPHE, "'")
    return text.split(_BETWEEN)


def _paired(parts: list[str]) -> tuple[list[str], list[str], frozenset[int]] | None:
    """Tell what is outside of strings, what inside, and which are in double quotes, as those with an apostrophe are.

    `parts` are what stands between single quotes.
    """
    outside: list[str] = []
    strings: list[str] = []
    others: list[int] = []
    rest = iter(parts)
    for part in rest:
        while '"' in part:
            before, _, start = part.partition('"')
            inside = [start]
            while '"' not in inside[-1]:
                following = next(rest, None)
                if following is None:
                    return None
                inside.append(following)
            inside[-1], _, part = inside[-1].partition('"')
            if len(inside) == 1:
                return None
            others.append(len(strings))
            outside.append(before)
            strings.append("'".join(inside))
        outside.append(part)
        string = next(rest, None)
        if string is not None:
            strings.append(string)
    return (outside, strings, frozenset(others)) if len(outside) == len(strings) + 1 else None


def _are_written(strings: list[str], others: frozenset[int]) -> bool:
    """Tell whether `repr` writes every string with an escape so; one without escapes it writes as it stands."""
    places = [place for place, string in enumerate(strings) if "\\" in string]
    chosen = [strings[place] for place in places]
    said = json.loads('["' + '","'.join(_inside_json(chosen)) + '"]') if chosen else []
    for place, inside, value in zip(places, chosen, said, strict=True):
        quote = '"' if place in others else "'"
        if repr(value) != quote + inside.replace(_BACKSLASH, "\\\\").replace(_APOSTROPHE, "\\'") + quote:
            return False
    return True


def _is_spaced(frame: str) -> bool:
    """Tell whether there is one blank after each comma and colon, and no other."""
    blanks = frame.count(", ") + frame.count(": ")
    return frame.count(" ") == blanks and frame.count(",") + frame.count(":") == blanks + frame.count(",)")


def _is_written(number: str) -> bool:
    return number == (repr(float(number)) if "." in number or "e" in number else str(int(number)))
