"""Markers of an earlier pass: conditions must decide as if there were none (law 5).

Places leave out the marker of the list that they select from. `hide_markers` leaves out those of lists inside items
that a condition reads: it is called with an opened return before the first step, and only adds to its plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from reducer import markers
from reducer.paths import Chain
from reducer.plan import Work
from reducer.values import PLAIN

_ESCAPED = "2026["
"""The end of a marker's prefix that is escaped in JSON."""
_SCALARS = PLAIN - {dict, list}
_BRACKETS = ("[", "{", "(")


def hide_markers(work: Work, reads: Iterable[tuple[Chain, Chain]], content: Any) -> None:
    """Leave out all markers of lists if a condition can read one: `reads` are a base and a chain below it each."""
    if any(_holds_list(work.top.value, base, chain) for base, chain in reads) and _may_hold_markers(content):
        work.root().hide_markers()


def _holds_list(value: Any, base: Chain, chain: Chain) -> bool:
    """Return whether an item at `base` can have a list or structured text at, above or below `chain`."""
    level = [value]
    for position, name in enumerate((*base, *chain)):
        if position > len(base) and list in map(type, level):
            return True
        level = _below(_items(level), name)
    return any(map(_is_structure, level if chain else _items(level)))


def _items(level: list[Any]) -> list[Any]:
    """Replace lists by their items."""
    while list in map(type, level):
        items: list[Any] = []
        for value in level:
            items += value if type(value) is list else [value]
        level = items
    return level


def _below(level: list[Any], name: str) -> list[Any]:
    """Return the values at a key of each object, or at all keys for `*`. Other structure stays."""
    below: list[Any] = []
    for value in level:
        if type(value) is not dict:
            below += [value] if _is_structure(value) else []
        elif name == "*":
            below += value.values()
        elif name in value:
            below.append(value[name])
    return below


def _is_structure(value: Any) -> bool:
    return type(value) not in _SCALARS or (type(value) is str and value.lstrip()[:1] in _BRACKETS)


def _may_hold_markers(content: Any) -> bool:
    """Return whether a content can contain markers, also in a text that encodes them."""
    if type(content) is str:
        return markers.PREFIX in content or _ESCAPED in content
    try:
        stored = msgspec.json.encode(content)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return True
    return markers.PREFIX.encode() in stored or _ESCAPED.encode() in stored
