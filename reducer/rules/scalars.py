"""Values without quotes: YAML 1.2 where it agrees with 1.1, and a problem where the two would differ."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

Value: TypeAlias = str | int | float | bool | None

MAX_DIGITS = 640
"""Digits of an integer: `int` reads as many under every setting of the interpreter's own limit."""

_WORDS: dict[str, Value] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_BOOLEANS = {"yes": "true", "no": "false", "on": "true", "off": "false"}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}.*)?", re.DOTALL)
_BASE_60 = re.compile(r"[-+]?[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9]*)?")
_OTHER_BASE = re.compile(r"[-+]?0(?:[xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+|[0-9_]+)|[-+]?[0-9][0-9_]*_[0-9_]*")
_CURLY = re.compile("[“”„‘’‚«].*[“”‘’»]", re.DOTALL)


class PlainValue(NamedTuple):
    """The value of a scalar without quotes and, if something is wrong with it, code, message and help.

    With `needs_quotes` it can only be meant as a text, so quotes correct it.
    """

    value: Value
    code: str = ""
    message: str = ""
    help: str = ""
    needs_quotes: bool = False


def shortened(text: str) -> str:
    """Return what a message quotes of `text`: its first line, at most 60 characters."""
    head = text.split("\n", 1)[0]
    return head if len(head) <= 60 and head == text else head[:59] + "…"


def quoted(text: str) -> str:
    """Write `text` in quotes, without escapes if possible."""
    if '"' not in text and "\\" not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read_scalar(raw: str) -> PlainValue:
    """Read a scalar without quotes."""
    if raw in _WORDS:
        return PlainValue(_WORDS[raw])
    first = raw[0]
    if first.isalpha():
        boolean = _BOOLEANS.get(raw.lower())
        if boolean is None:
            return PlainValue(raw)
        help = f'write "{raw}" for the text, or {boolean}'
        return PlainValue(raw, "E040", f"`{raw}` without quotes can be the text or {boolean}", help)
    if first in "“”„‘’‚«" and _CURLY.fullmatch(raw):
        return PlainValue(raw, "E045", "curly quotes do not quote a text")
    return _read_number(raw) if (first.isascii() and first.isdigit()) or first in "-+." else PlainValue(raw)


def _read_number(raw: str) -> PlainValue:
    text, in_quotes = shortened(raw), f"write {quoted(shortened(raw))}"
    if _INTEGER.fullmatch(raw):
        if len(raw) > MAX_DIGITS:
            return PlainValue(raw, "E041", f"the number has {len(raw)} digits", "put it in quotes")
        return PlainValue(int(raw))
    if _NOT_FINITE.fullmatch(raw):
        return PlainValue(raw, "E041", f"`{raw}` is a number that JSON does not have", f"{in_quotes} for the text")
    if _DATE.fullmatch(raw):
        message = f"`{text}` without quotes can be a text or a date"
        return PlainValue(raw, "E040", message, in_quotes, needs_quotes=True)
    if _BASE_60.fullmatch(raw):
        message = f"`{text}` without quotes can be a text or a number in base 60"
        return PlainValue(raw, "E040", message, in_quotes, needs_quotes=True)
    if _OTHER_BASE.fullmatch(raw):
        return PlainValue(raw, "E041", f"`{text}` is not a decimal number", f"{in_quotes} for the text")
    if _FLOAT.fullmatch(raw):
        number = float(raw)
        if number - number != 0:
            return PlainValue(raw, "E041", f"`{text}` is too large for a number", f"{in_quotes} for the text")
        return PlainValue(number)
    return PlainValue(raw)
