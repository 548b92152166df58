"""How much memory a line takes when it is read, estimated from its bytes."""

from __future__ import annotations

import re

_LIGHT = 4 * 1024 * 1024
"""Bytes up to which no line can take too much."""
_MOST = 225_000_000
"""Bytes of memory that a line may take: with 60 MB for the rest it stays below 300 MB."""
_WIDE = re.compile(rb"[\xf0-\xf4]|\\u[dD][89aAbB]")
_WIDER_THAN_A_BYTE = re.compile(rb"[\xc4-\xef]|\\u(?!00)")


def is_heavy(line: bytes) -> bool:
    """Tell whether reading a line would take more memory than there may be, as 5,000,000 empty objects or 13 MB of text with one emoji do.

    Measured on lines of 16 MB: a text is there three times with a byte for each character, five times with two or four if one of its characters
    needs them; an object or list takes 200 bytes, a key with its value 190, another value 60.
    """
    if len(line) <= _LIGHT:
        return False
    width = 1 if line.isascii() and b"\\u" not in line else 4 if _WIDE.search(line) else 2 if _WIDER_THAN_A_BYTE.search(line) else 1
    texts = len(line) * (3 + 5 * (width - 1))
    return texts + 200 * (line.count(b"{") + line.count(b"[")) + 190 * line.count(b'":') + 60 * line.count(b",") > _MOST
