r"""Decode the escapes of JSON text: `\u0440` is a letter of a host, not what stands before it.

JSON within JSON doubles the backslashes, and a character beyond U+FFFF is written as two escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from reducer.entities.pieces import Pieces, replaced

MARK = "\\u"
"""Every escape contains it. It is searched at C speed, before the regex."""
_ESCAPE = re.compile(r"\\\\{0,3}u(?:[Dd][89ABab][0-9A-Fa-f]{2}\\{1,4}u[Dd][C-Fc-f][0-9A-Fa-f]{2}|[0-9A-Fa-f]{4})")


def decoded(text: str) -> tuple[str, Pieces | None]:
    """Return a text with its escapes decoded, and where they were, None if there are none."""
    if "\\" not in text or MARK not in text:
        return text, None
    return replaced(text, ((match.start(), match.end(), _character(match[0])) for match in _ESCAPE.finditer(text)))


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each escape. A cut within one would leave a text that reads as something else."""
    if MARK in text:
        for match in _ESCAPE.finditer(text):
            yield match.span()


@lru_cache(maxsize=4096)  # texts repeat their characters
def _character(escape: str) -> str:
    """Return the character of an escape, or of the two that write a surrogate pair; one surrogate alone stays one."""
    digits = "".join(part[:4] for part in escape.split("u")[1:])
    return bytes.fromhex(digits).decode("utf-16-be", "surrogatepass")
