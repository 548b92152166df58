"""How drafts limit lists: the severe and the newest items stay, otherwise both ends, and those with rare states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from reducer.analysis.drafting.fields import Field
from reducer.analysis.drafting.profiles import Profile
from reducer.analysis.drafting.rule_text import ends
from reducer.paths.ranks import DATE, LEVEL, NUMBER, rank
from reducer.paths.written import path_text

_SCORE = re.compile(r"(?i)severity|risk|score|priority|cvss|critical|threat_?level|confidence")
"""Numbers with such names rank items."""
_TIME = re.compile(r"(?i)seen|updated|modified|changed|activity|date|time|created|published|observed|_at$|(?-i:At$)")
"""Dates with such names rank items; others may be in the future."""
_PLAIN = re.compile(r"[\w. -]+")
"""A value that needs no escapes in a condition."""
_MOST = 0.8
"""The share of the items that must have a key that ranks them."""


def limited(place: Profile, fields: Iterable[Field], amount: int) -> tuple[dict[str, Any], str]:
    """Return the action that keeps about `amount` items of each list, and which of them stay.

    fields: those that stay
    """
    record = (*place.path, None if place.is_map else -1)
    own = [field for field in fields if field.record == record and not field.place.below]
    names, condition = _ranking(own, sum(place.lengths)), _rare(own, sum(place.lengths))
    action: dict[str, Any] = {"limit": ends(amount)}
    which = "both ends stay"
    if names:
        action = {"limit": amount, "sort_by": names if len(names) > 1 else names[0]}
        which = f"the highest by `{'` and `'.join(names)}` stay"
    if condition:
        action["always_keep"] = condition
        which += f", and all where {condition}"
    if place.is_map:
        return action, f"{which}; maps have no marker"
    return {**action, "mark": True}, which


def _ranking(fields: Iterable[Field], count: int) -> Sequence[str]:
    """Return the first key of `count` items that has levels or scores, and the first one that has dates."""
    found: dict[bool, str] = {}
    for field in sorted(fields, key=lambda field: "create" in field.name.lower()):  # rather the last change
        values = field.place.scalars
        kinds = {ranked[0] for ranked in map(rank, values) if ranked is not None}
        name, pattern = path_text(field.keys), _TIME if kinds == {DATE} else _SCORE
        is_order = kinds == {LEVEL} or (kinds in ({DATE}, {NUMBER}) and pattern.search(name))
        if is_order and len(field.place.distinct) > 1 and len(values) >= _MOST * count:
            found.setdefault(kinds == {DATE}, name)
    return [found[is_date] for is_date in sorted(found)]


def _rare(fields: Iterable[Field], count: int) -> str:
    """Return the condition for the few of `count` items with rare values of a small set of words, or an empty text."""
    for field in fields:
        if not field.is_small_set or len(field.place.texts) < count:
            continue
        rare: list[str] = []
        found = 0
        for value, times in reversed(field.place.distinct.most_common()):
            found += times
            if found * 4 <= count and _PLAIN.fullmatch(value):
                rare.append(value)
        if rare:
            return f"contains({sorted(rare)!r}, {path_text(field.keys)})"
    return ""
