"""How drafts limit lists: the severe and the newest items stay, and those with rare states."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reducer.analysis.drafting.fields import Field
from reducer.analysis.drafting.profiles import Path, Profile
from reducer.analysis.drafting.rule_text import ends
from reducer.paths.ranks import rank
from reducer.paths.written import path_text

_SEVERITY = re.compile(r"(?i)severity|risk|score|priority|cvss|critical|threat_?level|confidence")
_TIME = re.compile(r"(?i)seen|updated|modified|changed|activity|date|time|created|published|observed|_at$|(?-i:At$)")
_NUMBER, _DATE, _WORD = 1, 2, 3
"""The kinds of ranks of values."""
_FIRST_TIME = 10**8
"""Smaller numbers are no times."""
_MARKED = 8
"""The different values that a marker counts."""
_NO_COUNT = re.compile(r"[,;\]]")
_PLAIN = re.compile(r"[\w. -]+")
"""A value that needs no escapes in a condition."""
_MOST = 0.8
"""The share of the items that must have a key that ranks them."""


@dataclass(frozen=True)
class Items:
    """The items of lists or maps at a place, and their own fields."""

    place: Profile
    fields: Sequence[Field]

    @property
    def count(self) -> int:
        """The number of items."""
        return sum(self.place.lengths)

    def severity(self) -> Field | None:
        """Return the field that ranks items by severity or score, or None."""
        for field in sorted(self.fields, key=lambda field: not field.is_small_set):
            if _SEVERITY.search(path_text(field.keys)) and self._has_ranks(field, (_NUMBER, _WORD)):
                return field
        return None

    def time(self) -> Field | None:
        """Return the field with the latest times of items, or None."""
        for field in sorted(self.fields, key=lambda field: "create" in field.name.lower()):
            if _TIME.search(field.name) and self._has_ranks(field, (_NUMBER, _DATE)):
                numbers = [value for value in field.place.scalars if type(value) in (int, float)]
                if min(numbers, default=_FIRST_TIME) >= _FIRST_TIME:
                    return field
        return None

    def _has_ranks(self, field: Field, kinds: Sequence[int]) -> bool:
        """Return whether almost all items have values of one kind, and not all the same."""
        values = field.place.scalars
        ranks = {found[0] for found in map(rank, values) if found is not None}
        is_known = len(ranks) == 1 and not ranks.isdisjoint(kinds)
        return is_known and len(values) >= _MOST * self.count and len(field.place.distinct) > 1


def items_at(place: Profile, fields: Mapping[Path, Field]) -> Items:
    """Return the items at a place with those of their fields that stay."""
    record = (*place.path, None if place.is_map else -1)
    own = []
    for field in fields.values():
        if field.record == record and field.path[-1] != -1 and not field.place.below:
            own.append(field)
    return Items(place, own)


def limited(items: Items, amount: int) -> tuple[dict[str, Any], str]:
    """Return the action that keeps about `amount` items of each list, and which of them stay."""
    severity, time = items.severity(), items.time()
    mark = {} if items.place.is_map else {"mark": _mark(severity)}
    action: dict[str, Any] = {"limit": ends(amount)}
    sorting = [*filter(None, (severity, time))]
    which = "both ends stay"
    if sorting:
        names = _paths(sorting)
        action = {"limit": amount, "sort_by": names if len(names) > 1 else names[0]}
        which = f"the highest by {_names(sorting)} stay"
    if condition := _rare(items):
        action["always_keep"] = condition
        which += f", and all where {condition}"
    if items.place.is_map:
        which += "; maps have no marker"
    return {**action, **mark}, which


def _names(fields: Sequence[Field]) -> str:
    return f"`{'` and `'.join(_paths(fields))}`"


def _paths(fields: Sequence[Field]) -> list[str]:
    found = []
    for field in fields:
        found.append(path_text(field.keys))
    return found


def _rare(items: Items) -> str:
    """Return the condition for the few items with rare values of a small set of words, or an empty text."""
    for field in sorted(items.fields, key=lambda field: _SEVERITY.search(path_text(field.keys)) is None):
        if not field.is_small_set or len(field.place.texts) < items.count:
            continue
        rare: list[str] = []
        found = 0
        for value, count in reversed(field.place.distinct.most_common()):
            found += count
            if found * 4 <= items.count and _PLAIN.fullmatch(value):
                rare.append(value)
        text = path_text(field.keys)
        if rare:
            return f"{text} == '{rare[0]}'" if len(rare) == 1 else f"contains({sorted(rare)!r}, {text})"
    return ""


def _mark(field: Field | None) -> bool | str:
    """Return the expression whose values the marker counts, or true."""
    if field is None or len(field.place.distinct) > _MARKED or not field.is_small_set:
        return True
    return True if any(map(_NO_COUNT.search, field.place.distinct)) else path_text(field.keys)
