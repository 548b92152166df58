"""Writes positions in data as JMESPath."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

Token = str | int | None
"""A key, an index (negative for every item), or None for every key of an object that is used as a map."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def path_text(tokens: Sequence[Token]) -> str:
    """Write keys and indexes as JMESPath, or `@` if there are none."""
    text, lists = "", 0
    for number, token in enumerate(tokens):
        if type(token) is int:
            text += "[*]" if token < 0 else f"[{token}]"
            lists += token < 0
        elif token is None:
            lists += 1
            text += f".* | {'[*]' * lists}" if _is_lost(tokens[number + 1 :]) else ".*"
        else:
            name = str(token) if _WORD.fullmatch(str(token)) else json.dumps(token, ensure_ascii=False)
            text += f".{name}"
    return text.removeprefix(".") or "@"


def _is_lost(following: Sequence[Token]) -> bool:
    """Return whether a pipe is needed after `.*`: jmespath parses `a.*.b.c` as `(a.*.b).c`, which finds nothing."""
    for number, token in enumerate(following):
        if type(token) is int and token < 0:
            return False
        if number and type(token) is not int:
            return True
    return False
