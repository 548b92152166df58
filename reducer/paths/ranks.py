"""Ranks of values: the order in which `sort_by` prefers them, which does not depend on the values next to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import ne
from typing import Any, TypeAlias

from reducer.values import shown

Rank: TypeAlias = tuple[int, Any]
"""The kind of a value, in the order of `rank`, and what values of this kind are compared by."""
NUMBER, DATE, LEVEL, OTHER_TEXT = 1, 2, 3, 4
"""The kinds of values, after words in an order of their own."""
_SCALE = (
    ("debug", "trace", "verbose"),
    ("info", "informational", "negligible", "p5", "sev5"),
    ("low", "minor", "notice", "p4", "sev4"),
    ("medium", "moderate", "warning", "warn", "p3", "sev3"),
    ("high", "error", "err", "major", "p2", "sev2"),
    ("critical", "crit", "fatal", "alert", "emergency", "emerg", "blocker", "p1", "sev1", "very_high"),
)
"""Severities, priorities and log levels, also those of syslog (RFC 5424) and of Jira, the lowest first."""
_LEVELS = {word: level for level, words in enumerate(_SCALE) for word in words}
_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:[T ][0-9:.,+Z -]*)?)?")
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)


def rank(value: Any, order: Sequence[str] = ()) -> Rank | None:
    """Return the rank of a value, or None if it has none, as a list or null.

    Words in `order` come first, the first of them highest. Then come numbers and texts that are numbers, ISO dates,
    words of the scale from debug to critical, and other texts.
    """
    value = shown(value)
    if order and isinstance(value, (str, int, float)) and word(str(value)) in order:
        return 0, -order.index(word(str(value)))
    if isinstance(value, (int, float)):
        return NUMBER, value
    return _rank_of_text(value) if type(value) is str else None


def word(text: str) -> str:
    """Return a text as words are compared: in lower case, with `_` for blanks."""
    return text.strip().lower().replace(" ", "_")


@lru_cache(maxsize=4096)
def _rank_of_text(text: str) -> Rank:
    if _NUMBER.fullmatch(text):
        return NUMBER, int(text) if text.lstrip("+-").isdigit() else float(text)
    if _DATE.fullmatch(text):
        return DATE, text
    level = _LEVELS.get(word(text))
    return (OTHER_TEXT, text) if level is None else (LEVEL, level)


def sorted_by(positions: Sequence[int], values: list[Any], descends: bool, order: Sequence[str]) -> Sequence[int]:
    """Sort positions by the ranks of their values.

    The order of the kinds is always that of `rank`, and ties keep their order. Positions without a rank come last.
    """
    if not order and _are_alike(values):  # as in most real data: compare them at C speed
        return sorted(positions, key=values.__getitem__, reverse=descends)
    ranks = [rank(value, order) for value in values]
    ranked = [position for position in positions if ranks[position] is not None]
    without = [position for position in positions if ranks[position] is None]
    keys: list[Any] = ranks
    if descends:
        keys = [each and (-each[0], each[1]) for each in ranks]
    return [*sorted(ranked, key=keys.__getitem__, reverse=descends), *without]


def _are_alike(values: list[Any]) -> bool:
    """Return whether all values are numbers, or all are ISO dates that differ only in digits."""
    if values and type(values[0]) is str:
        return _DATE.fullmatch(values[0]) is not None and _have_form_of_first(values)
    kinds = set(map(type, values))
    return kinds == {int} or (kinds <= {int, float} and not any(map(ne, values, values)))


def _have_form_of_first(values: list[Any]) -> bool:
    """Return whether all values are texts that differ from the first only in digits."""
    form = f"{values[0]}\n".encode().translate(_DIGITS)
    try:
        written = "\n".join([*values, ""]).encode("utf-8", "replace")
    except TypeError:  # some are not texts
        return False
    return written.translate(_DIGITS) == form * len(values)
