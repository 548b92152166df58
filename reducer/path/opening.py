"""Values as conditions see them: any object in its stored form, opened no further than a condition looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..values import PLAIN, plain, shown

Closure: TypeAlias = Callable[[Any], Any]

# Every closure takes and gives an *open* value: one whose own type is a plain JSON type and that is no NaN; what lies inside a
# container may still be closed. Most values are of these types and need no call to be opened: 25 ns instead of 150.
OPEN = PLAIN - {float}
NUMBERS = frozenset({int, float})
COMPARABLE = frozenset({int, float, str})
SCALARS = OPEN - {dict, list}


def opened(value: Any) -> Any:
    """Give `value` as stored, what it contains untouched; a media item as its fields. Raises `Unreducible`."""
    value = shown(value)
    return value if type(value) in PLAIN else plain(value)


def plainly(value: Any) -> Any:
    """Give an open value with all that it contains as stored. Raises `Unreducible`."""
    if type(value) in SCALARS or (type(value) is list and SCALARS.issuperset(map(type, value))):
        return value
    return plain(value)
