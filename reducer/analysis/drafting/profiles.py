"""Profiles of tool answers: which places contain how many characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from reducer.formats import decode, parse_nested, plain
from reducer.paths.written import Token
from reducer.values import MAX_DEPTH, chars, dump, is_media

_MIN_ENCODED = 40
"""Shorter texts are not parsed."""
_MIN_MAP_KEYS = 5
_MIN_ALIKE = 0.6
"""The share of all keys that the average value of a map must contain."""
_ID = re.compile(r"\d.*\d|[.:/@ ]|^\d+$|^[0-9a-f-]{8,}$")


class Entry(NamedTuple):
    """A value, parsed if it was a text: the number of its answer, and its characters with those of its key."""

    answer: int
    value: Any
    chars: int


@dataclass(eq=False)
class Profile:
    """All values at one kind of place.

    path: keys, with -1 for the items of a list and None for the values of a map
    json_texts: the characters of each text that contains JSON
    below: the profiles one level deeper
    """

    path: tuple[Token, ...] = ()
    entries: list[Entry] = field(default_factory=list)
    json_texts: list[int] = field(default_factory=list)
    below: dict[Token, Profile] = field(default_factory=dict)

    @property
    def keys(self) -> dict[str, Profile]:
        """The profiles of the values of an object by key; empty for a map."""
        return {token: below for token, below in self.below.items() if type(token) is str}

    @property
    def each(self) -> Profile | None:
        """The profile of the items of lists."""
        return self.below.get(-1)

    @cached_property
    def chars(self) -> int:
        """The characters of all values as compact JSON, with those of their keys."""
        return sum(entry.chars for entry in self.entries)

    @cached_property
    def objects(self) -> int:
        """The number of objects."""
        return sum(type(entry.value) is dict for entry in self.entries)

    @cached_property
    def lengths(self) -> list[int]:
        """The number of items of each list."""
        return [len(entry.value) for entry in self.entries if type(entry.value) is list]

    @cached_property
    def scalars(self) -> list[Any]:
        """The texts, numbers, booleans and nulls."""
        return [entry.value for entry in self.entries if type(entry.value) not in (dict, list)]

    @cached_property
    def texts(self) -> list[str]:
        """The texts."""
        return [value for value in self.scalars if type(value) is str]

    @cached_property
    def max_text(self) -> int:
        """The characters of the longest text."""
        return max(map(len, self.texts), default=0)

    def walk(self) -> Iterator[Profile]:
        """Yield this profile and all deeper ones, parents first."""
        yield self
        for below in self.below.values():
            yield from below.walk()

    def at(self, token: Token) -> Profile:
        """Return the profile one level deeper; create it if there is none."""
        return self.below.setdefault(token, Profile((*self.path, token)))


def profile(contents: Iterable[Any]) -> Profile:
    """Count the characters at each place of tool answers (plain JSON values); texts with structure are parsed.

    Levels beyond `MAX_DEPTH` are left out because rules never change them.
    """
    root = Profile()
    for number, content in enumerate(contents):
        _add(root, Entry(number, decode(content) if type(content) is str else content, 0), MAX_DEPTH)
    _merge_maps(root)
    return root


def _add(place: Profile, entry: Entry, depth: int) -> int:
    """Add a value, whose entry counts only its key so far, and return its characters."""
    number, value, size = entry
    is_encoded = type(value) is str and depth > 0 and bool(place.path) and len(value) >= _MIN_ENCODED
    if is_encoded and (parsed := parse_nested(value)):
        if parsed[1].name == "JSON":
            place.json_texts.append(len(dump(value)))
        value, depth = plain(parsed[0]), depth - 1
    if type(value) not in (dict, list):
        size += chars([value]) - 2
    elif depth < 0 or is_media(value):
        size += 2
    elif type(value) is dict:
        # The key, its colon and the comma after it are removed with the value.
        entries = [(place.at(key), Entry(number, item, len(dump(key)) + 2)) for key, item in value.items()]
        size += 2 + sum(_add(below, entry, depth - 1) for below, entry in entries)
    else:
        size += 2 + sum(1 + _add(place.at(-1), Entry(number, item, 0), depth - 1) for item in value)
    place.entries.append(Entry(number, value, size))
    return size


def _merge_maps(place: Profile) -> None:
    """Merge the values of each object that is used as a map into one profile at the key None."""
    for below in place.below.values():
        _merge_maps(below)
    if _is_map(place):
        values, place.below = place.keys.values(), {}
        for below in values:
            _merge(place.at(None), below)


def _is_map(place: Profile) -> bool:
    """Return whether the values have mostly the same keys, and are either all objects or all lists under ids."""
    values = [*place.keys.values()]
    if len(values) < _MIN_MAP_KEYS or any(value.texts for value in values):
        return False
    if all(value.objects and not value.lengths for value in values):
        return _are_alike([value.below for value in values])
    are_ids = sum(bool(_ID.search(name)) for name in place.keys) * 2 >= len(values)
    are_lists = all(value.lengths and not value.objects for value in values)
    return are_ids and are_lists and _are_alike([value.each.below if value.each else () for value in values])


def _are_alike(groups: Sequence[Iterable[Token]]) -> bool:
    sets = [frozenset(group) for group in groups]
    every = frozenset[Token]().union(*sets)
    return not every or sum(map(len, sets)) >= _MIN_ALIKE * len(every) * len(sets)


def _merge(into: Profile, other: Profile) -> None:
    into.entries += other.entries
    into.json_texts += other.json_texts
    for token, below in other.below.items():
        _merge(into.at(token), below)
