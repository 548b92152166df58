"""Places in data, written as JMESPath."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

Token = str | int | None
"""A key, an index (negative: each item), or None for every key of an object that is used as a map."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def path_text(tokens: Sequence[Token]) -> str:
    """Write keys and indexes as JMESPath; `@` for none."""
    text = ""
    for token in tokens:
        if type(token) is int:
            text += "[*]" if token < 0 else f"[{token}]"
        elif token is None:
            text += ".*"
        else:
            name = str(token) if _WORD.fullmatch(str(token)) else json.dumps(token, ensure_ascii=False)
            text += f".{name}"
    return text.removeprefix(".") or "@"
