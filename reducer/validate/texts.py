"""Whether a text is a text of the original with pieces cut out, and whether the mark in their place counts what went."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARK = re.compile(r" ?…\[([1-9][0-9]{0,11}) more characters(?=[;\]])")
_ITEMS = re.compile(r"…\[([1-9][0-9]{0,11}) more items(?=[;\]])")
_MENTIONS = "; mentions "
_MOST = 16
"""Marks in one text, and brackets behind a mark, that are tried: tools may forge marks."""


def cut(old: str, new: str) -> tuple[str, str]:
    """Say what is wrong with `new` as a cut of `old`: the code, empty when nothing is, and the message, or else what the mark mentions.

    Right is `old` itself, nothing at all, and a head and a tail of it with a mark between them that counts the characters that went.
    """
    if new == old or not new:
        return "", ""
    marks = [mark for mark, _ in zip(_MARK.finditer(new), range(_MOST), strict=False)]
    for mark in marks:
        end = _counted(old, new, mark)
        what = "" if end is None else new[mark.end() : end]
        if end is not None and (not what or (what.startswith(_MENTIONS) and "…[" not in what)):
            return "", what
    for mark in marks:
        # The head is one of the original, and so is what follows one of the brackets: only the count is wrong.
        head = new[: mark.start()]
        if old.startswith(head):
            for end in _brackets(new, mark.end()):
                tail = new[end:]
                if old.endswith(tail) and len(head) + len(tail) <= len(old):
                    return "V111", f"the mark counts {int(mark[1]):,} characters, and {len(old) - len(head) - len(tail):,} went"
    if old.startswith(new):
        return "V110", f"{len(old) - len(new):,} characters are cut off without a mark"
    same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return "V110", f"the text is not the original's from character {same + 1:,} on"


def mentions(text: str) -> list[str]:
    """Give piece by piece what a mark mentions behind its count."""
    return text.removeprefix(_MENTIONS).split(", ") if text else []


def items_left_out(item: object) -> tuple[int, str] | None:
    """Read the mark at the end of a list of texts: how many items it counts, and what it mentions; None for what is no such mark."""
    mark = _ITEMS.match(item) if isinstance(item, str) else None
    return (int(mark[1]), item[mark.end() : -1]) if mark and isinstance(item, str) and item.endswith("]") else None


def _counted(old: str, new: str, mark: re.Match[str]) -> int | None:
    """Give the place of the bracket that ends a mark with the right count; None for a wrong one."""
    head, count = new[: mark.start()], int(mark[1])
    begin = len(old) - (left := len(old) - len(head) - count)
    if left >= 0 and old.startswith(head) and new.endswith(f"]{old[begin:]}") and len(head) <= begin:
        return len(new) - (len(old) - begin) - 1
    # A text that was reduced before: its own mark went into this one.
    for before, _ in zip(_MARK.finditer(old), range(_MOST), strict=False):
        first = old[: before.start()]
        if not first.startswith(head):
            continue
        for end in _brackets(old, before.end()):
            last = old[end:]
            kept = len(last) - (count - int(before[1]) - (len(first) - len(head)))
            if 0 <= kept <= len(last) and new.endswith(f"]{last[len(last) - kept :]}"):
                return len(new) - kept - 1
    return None


def _brackets(text: str, at: int) -> Iterator[int]:
    """Give the places behind the first brackets from a place on."""
    for _ in range(_MOST):
        at = text.find("]", at) + 1
        if not at:
            return
        yield at
