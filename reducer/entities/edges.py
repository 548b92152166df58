"""Where an own entity may begin and end, and what may be written of it."""

from __future__ import annotations

import re

LONGEST = 256
"""Characters of the longest value: what is longer than this is no name of anything."""
_LAST_SPACED = "\u058f"  # Latin, Greek, Cyrillic, Armenian: their words stand between blanks
_UNSOUND = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|, |…\\[")
_MOST_BRACKETS = 3  # a reader of marks tries 16 closing brackets


def free(text: str, start: int, end: int) -> bool:
    """Tell whether a value stands between what is no letter or digit; the `n` of `\\nweb01` is none."""
    if end < len(text) and _letter(text[end]):
        return False
    return not start or not _letter(text[start - 1]) or (text[start - 1] in "nrt" and text[start - 2 : start - 1] == "\\")


def sound(value: str) -> bool:
    """Tell whether a mark can mention a value: it is short, has no white space around it, no `, ` and no line break in it."""
    return 0 < len(value) <= LONGEST and value == value.strip() and not _UNSOUND.search(value) and value.count("]") <= _MOST_BRACKETS


def _letter(char: str) -> bool:
    return char.isalnum() if char <= "\x7f" else char <= _LAST_SPACED and char.isalpha()
