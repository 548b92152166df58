"""Values without quotes: YAML 1.2 where it agrees with 1.1, and a problem where the two would differ."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple, TypeAlias

from yaml import ScalarNode
from yaml.resolver import Resolver

Value: TypeAlias = str | int | float | bool | None

MAX_DIGITS = 640
"""Characters of a number: `int` reads as many under every setting of the interpreter's own limit."""

_WORDS: dict[str, Value] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_AMBIGUOUS = {
    "bool": ("E040", "a boolean", ", or true or false"),
    "timestamp": ("E040", "a date", ""),
    "int": ("E041", "a number", ", or only digits for the number"),
    "float": ("E041", "a number", ", or only digits for the number"),
}
"""Code, kind and more help by what YAML 1.1 reads where YAML 1.2 reads a text or something else."""
_CURLY = re.compile("[“”„‘’‚«].*[“”‘’»]", re.DOTALL)
_RESOLVER: Any = Resolver()


class PlainValue(NamedTuple):
    """The value of a scalar without quotes and, if something is wrong with it, code, message and help.

    `is_text`: it can only be meant as a text, so quotes correct it.
    """

    value: Value
    code: str = ""
    message: str = ""
    help: str = ""
    is_text: bool = False


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
    if _NUMBER.fullmatch(raw):
        number = math.inf if len(raw) > MAX_DIGITS else float(raw) if set(raw) & set(".eE") else int(raw)
        if math.isinf(number):
            return PlainValue(raw, "E041", f"the number `{shortened(raw)}` is too large", "put it in quotes")
        return PlainValue(number)
    if _CURLY.fullmatch(raw):
        return PlainValue(raw, "E045", "curly quotes are not quotes in YAML")
    code, kind, more = _AMBIGUOUS.get(
        _RESOLVER.resolve(ScalarNode, raw, (True, False)).rpartition(":")[2], ("", "", "")
    )
    if not code:
        return PlainValue(raw)
    message = f"`{shortened(raw)}` is ambiguous without quotes: a text or {kind}"
    return PlainValue(raw, code, message, f"write {quoted(shortened(raw))} for the text{more}", is_text=not more)
