"""Rows of tables that end alike: what every row says again is cut off, and no column moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from reducer.codecs import decode
from reducer.learn.evidence import Seen

LEAST_SHARE = 0.01
"""Share of a tool's characters that an end must hold."""
_LEAST_RETURNS = 4
_LEAST_ROWS = 20
_MOST_ENDS = 3
_LONGEST_END, _WIDEST, _LONGEST_TEXT = 8, 64, 20
"""Items of an end, items of a row, and characters of a text in an end: what is longer is no filler."""

_End = tuple[str | None, ...]


class Ending(NamedTuple):
    """Rows of `width` items that end in `end`: how many, in how many returns, and the characters that these ends hold."""

    width: int
    end: tuple[str | None, ...]
    rows: int
    returns: int
    chars: int

    def step(self) -> dict[str, Any]:
        """Write the step that cuts them off: a row that ends otherwise stays as it is."""
        first = self.width - len(self.end)
        says = [f"[{first + number}] == {_literal(item)}" for number, item in enumerate(self.end)]
        return {"path": f"[?{' && '.join([f'length(@) == `{self.width}`', *says])}]", "limit": first}

    def told(self, chars: int) -> str:
        """Say what goes, of so many characters in all."""
        shown = ", ".join("null" if item is None else f'"{item}"' for item in self.end)
        return f"Rows that end in {shown}: {self.rows:,} in {self.returns:,} returns, {self.chars / max(1, chars):.0%} of the characters, 0 later uses"


def endings(returns: Sequence[Seen]) -> list[Ending]:
    """Give the ends that most rows of a tool's lists have, none of which was ever used; the first are the ones that hold most."""
    seen: dict[tuple[int, _End], tuple[int, set[int]]] = {}
    used: set[str] = set()
    for number, one in enumerate(returns):
        used |= one.wanted
        for width, end in _ends(one.content):
            rows, inside = seen.get((width, end), (0, set()))
            inside.add(number)
            seen[width, end] = (rows + 1, inside)
    least = LEAST_SHARE * sum(one.chars for one in returns)
    found: list[Ending] = []
    while len(found) < _MOST_ENDS:
        best = max(_counted(seen, used), key=lambda ending: (ending.chars, -len(ending.end), ending.width, str(ending.end)), default=None)
        if best is None or best.chars < max(1, least):
            break
        found.append(best)
        seen = {(width, end): counts for (width, end), counts in seen.items() if width != best.width or end[-len(best.end) :] != best.end}
    return found


def _ends(content: Any) -> Iterator[tuple[int, _End]]:
    """Give of each row its width and the short texts and nulls that it ends in."""
    opened = decode(content) if type(content) is str else content
    for row in opened if type(opened) is list else ():
        if type(row) is list and 2 <= len(row) <= _WIDEST:
            start = len(row)
            while start > max(1, len(row) - _LONGEST_END) and _is_short(row[start - 1]):
                start -= 1
            if start < len(row):
                yield len(row), tuple(row[start:])


def _is_short(item: Any) -> bool:
    return item is None or (type(item) is str and len(item) <= _LONGEST_TEXT and item.isprintable() and "'" not in item and "\\" not in item)


def _counted(seen: dict[tuple[int, _End], tuple[int, set[int]]], used: set[str]) -> Iterator[Ending]:
    """Count for every end, and what it ends in itself, the rows that have it."""
    totals: dict[tuple[int, _End], tuple[int, set[int]]] = {}
    for (width, end), (rows, inside) in seen.items():
        for start in range(len(end)):
            have, within = totals.get((width, end[start:]), (0, set()))
            totals[width, end[start:]] = (have + rows, within | inside)
    for (width, end), (rows, inside) in totals.items():
        if rows >= _LEAST_ROWS and len(inside) >= _LEAST_RETURNS and not any(item in used for item in end):
            yield Ending(width, end, rows, len(inside), rows * sum(len(item or "") + 4 for item in end))


def _literal(item: str | None) -> str:
    return "`null`" if item is None else f"'{item}'"
