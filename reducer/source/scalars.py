"""What an unquoted word means: YAML 1.2 where 1.1 agrees, and a finding where readers of the two would differ."""

from __future__ import annotations

import re
from typing import TypeAlias

Value: TypeAlias = str | int | float | bool | None

MAX_DIGITS = 640
"""Digits of an integer: what `int` reads under every setting of the interpreter's own limit."""

_WORDS: dict[str, Value] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_BOOLEANS = {"yes": "true", "no": "false", "on": "true", "off": "false"}  # YAML 1.1, type bool; no reader takes its `y` and `n` for one
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}.*)?", re.DOTALL)
_BASE_60 = re.compile(r"[-+]?[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9]*)?")
_OTHER_BASE = re.compile(r"[-+]?0(?:[xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+|[0-9_]+)|[-+]?[0-9][0-9_]*_[0-9_]*")


def short(text: str) -> str:
    """Cut `text` to what a message can hold: its first line, 60 characters."""
    head = text.split("\n", 1)[0]
    return head if len(head) <= 60 and head == text else head[:59] + "…"


def quoted(text: str) -> str:
    """Write `text` in the quotes that need no escapes, if there are such."""
    if '"' not in text and "\\" not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read(raw: str) -> tuple[Value, str, str, str]:
    """Give the value of an unquoted scalar, with code, message and help of what is wrong with it; both are empty where nothing is."""
    if raw in _WORDS:
        return _WORDS[raw], "", "", ""
    first = raw[0]
    if first.isalpha():
        meant = _BOOLEANS.get(raw.lower())
        if meant is None:
            return raw, "", "", ""
        return raw, "E040", f"`{raw}` without quotes can mean the text or {meant}", f'write "{raw}" in quotes, or {meant}'
    if not (first.isascii() and first.isdigit()) and first not in "-+.":
        return raw, "", "", ""
    if _INTEGER.fullmatch(raw):
        if len(raw) > MAX_DIGITS:
            return raw, "E041", f"a number of {len(raw)} digits is too long", "put it in quotes"
        return int(raw), "", "", ""
    if _NOT_FINITE.fullmatch(raw):
        return raw, "E041", f"`{raw}` is a number that JSON does not have", f"write {quoted(raw)} for the text"
    if _DATE.fullmatch(raw):
        return raw, "E040", f"`{short(raw)}` without quotes can mean a text or a date", f"write {quoted(short(raw))}"
    if _BASE_60.fullmatch(raw):
        return raw, "E040", f"`{short(raw)}` without quotes can mean a text or a number in base 60", f"write {quoted(short(raw))}"
    if _OTHER_BASE.fullmatch(raw):
        return raw, "E041", f"`{short(raw)}` is not a decimal number", _decimal(raw)
    if _FLOAT.fullmatch(raw):
        number = float(raw)
        if number - number != 0:
            return raw, "E041", f"`{short(raw)}` is too large for a number", f"write {quoted(short(raw))} for the text"
        return number, "", "", ""
    return raw, "", "", ""


def _decimal(raw: str) -> str:
    digits = raw.replace("_", "").lower()
    # 010 is 8 to some readers and 10 to others; who writes it means the digits as they stand, rarely eight.
    base = next((base for mark, base in (("0x", 16), ("0o", 8), ("0b", 2)) if digits.lstrip("+-").startswith(mark)), 10)
    if len(raw) > 60 or not digits.strip("+-"):
        return "put it in quotes"
    try:
        return f"write {quoted(raw)} for the text, {int(digits, base)} for the number"
    except ValueError:
        return f"write {quoted(raw)} for the text"
