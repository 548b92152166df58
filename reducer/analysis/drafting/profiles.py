"""Profiles of tool answers: which places contain how many characters, and which values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from reducer.analysis.drafting.names import is_id
from reducer.entities import scan
from reducer.formats import decode, parse_nested, plain, unwrapped
from reducer.paths.written import Token
from reducer.values import MAX_DEPTH, chars, dump, is_media

_MIN_ENCODED = 40
"""Shorter texts are not parsed."""
_MIN_MAP_KEYS = 5

Path = tuple[Token, ...]


@dataclass(eq=False)
class Profile:
    """All values at one kind of place.

    path: keys, with -1 for the items of a list and None for the values of a map
    above, below: the profiles one level higher and deeper
    values: the values, parsed where they are texts that contain structure
    chars: the characters of all values as compact JSON, with those of their keys
    json_texts: the characters of the texts that contain JSON
    """

    path: Path = ()
    above: Profile | None = None
    below: dict[Token, Profile] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)
    chars: int = 0
    json_texts: int = 0

    @property
    def keys(self) -> dict[str, Profile]:
        """The profiles of the values of an object by key; empty for a map."""
        found = {}
        for token, below in self.below.items():
            if type(token) is str:
                found[token] = below
        return found

    @property
    def is_map(self) -> bool:
        """Whether its objects are used as maps."""
        return None in self.below

    @property
    def is_record(self) -> bool:
        """Whether its values are answers, items of lists or values of maps."""
        return not self.path or type(self.path[-1]) is not str

    @property
    def is_field(self) -> bool:
        """Whether it is a key whose values are plain, or lists of plain values."""
        return bool(self.path) and type(self.path[-1]) is str and all(one.path[-1] == -1 for one in self.inner())

    @cached_property
    def lengths(self) -> list[int]:
        """The number of items of each list, or of values of each map."""
        kind = dict if self.is_map else list
        return [len(value) for value in self.values if type(value) is kind]

    @cached_property
    def is_record_map(self) -> bool:
        """Whether its maps have objects as values, of which at least one key is the same; only these can be limited."""
        if not self.is_map or not self.path:
            return False
        values = self.below[None].values
        if any(type(value) is not dict for value in values):
            return False
        return bool(set(values[0]).intersection(*values))

    @property
    def items_have_keys(self) -> bool:
        """Whether the items of its lists, or the values of its maps, are objects or lists."""
        return any(below.below for below in self.below.values())

    @cached_property
    def scalars(self) -> list[Any]:
        """The texts, numbers, booleans and nulls, also those in its lists."""
        found = [value for value in self.values if type(value) not in (dict, list)]
        if -1 in self.below:
            found += self.below[-1].scalars
        return found

    @cached_property
    def texts(self) -> list[str]:
        """The texts that are not empty."""
        return [value for value in self.scalars if type(value) is str and value]

    @property
    def is_empty(self) -> bool:
        """Whether there are no values in it."""
        for one in self.walk():
            if not one.below and any(value not in (None, "", [], {}) for value in one.values):
                return False
        return True

    @cached_property
    def distinct(self) -> Counter[str]:
        """The number of times that it has each plain value."""
        return Counter(map(str, self.scalars))

    @cached_property
    def entities(self) -> frozenset[tuple[str, str]]:
        """The type and canonical value of each entity in the texts."""
        found = set()
        for text in dict.fromkeys(self.texts):
            for one in scan(text):
                found.add((one.type, one.canonical))
        return frozenset(found)

    def walk(self) -> Iterator[Profile]:
        """Yield this profile and all deeper ones, parents first."""
        yield self
        yield from self.inner()

    def inner(self) -> Iterator[Profile]:
        """Yield all deeper profiles, parents first."""
        for below in self.below.values():
            yield from below.walk()

    def at(self, token: Token) -> Profile:
        """Return the profile one level deeper; create it if there is none."""
        return self.below.setdefault(token, Profile((*self.path, token), self))


def profile(contents: Iterable[Any]) -> Profile:
    """Count the characters at each place of tool answers (plain JSON values); texts with structure are parsed.

    Levels beyond `MAX_DEPTH` are left out because rules never change them.
    """
    root = Profile()
    for content in contents:
        value = unwrapped(content)
        _add(root, decode(value) if type(value) is str else value, 0, MAX_DEPTH)
    _merge_maps(root)
    return root


def _add(place: Profile, value: Any, size: int, depth: int) -> int:
    """Add a value whose key has `size` characters, and return the size of both."""
    if type(value) is str and depth > 0 and place.path and len(value) >= _MIN_ENCODED:
        value, depth = _opened(place, value, depth)
    if type(value) not in (dict, list):
        size += chars([value]) - 2
    else:
        size += 2
        if depth >= 0 and not is_media(value):
            size += _add_inner(place, value, depth - 1)
    place.values.append(value)
    place.chars += size
    return size


def _opened(place: Profile, text: str, depth: int) -> tuple[Any, int]:
    """Parse a text that contains structure."""
    parsed = parse_nested(text)
    if parsed is None:
        return text, depth
    if parsed[1].name == "JSON":
        place.json_texts += len(dump(text))
    return plain(parsed[0]), depth - 1


def _add_inner(place: Profile, value: Any, depth: int) -> int:
    """Add the values of an object or list, and return their size."""
    size = 0
    if type(value) is list:
        below = place.at(-1)
        for item in value:
            size += _add(below, item, 0, depth) + 1
        return size
    for key, item in value.items():
        # The key, its colon and the comma after it are removed with the value.
        size += _add(place.at(key), item, len(dump(key)) + 2, depth)
    return size


def is_below(path: Path, places: Container[Path]) -> bool:
    """Return whether a path is one of some places, or leads to a value in one of them."""
    return any(path[:depth] in places for depth in range(1, len(path) + 1))


def _merge_maps(place: Profile) -> None:
    """Merge the values of each object that is used as a map into one profile at the key None."""
    for below in [*place.below.values()]:
        _merge_maps(below)
    if _is_map(place):
        for key, below in place.keys.items():
            del place.below[key]
            _merge(place.at(None), below)


def _is_map(place: Profile) -> bool:
    """Return whether half of its keys are ids, or it is no item of a list and its values have mostly the same keys."""
    values = place.keys.values()
    kinds, ids = set[type](), 0
    for key, below in place.keys.items():
        kinds.update(map(_kind, below.values))
        ids += is_id(key) or any(one.value == key for one in scan(key))
    if len(kinds) != 1 or ids * 2 >= len(values):
        return len(kinds) == 1
    if len(values) < _MIN_MAP_KEYS or kinds != {dict} or place.path[-1:] == (-1,):
        return False
    keys = Counter[Token]()
    for below in values:
        keys.update(below.below.keys())
    return keys.total() * 2 > len(keys) * len(values)


def _kind(value: Any) -> type:
    return type(value) if type(value) in (dict, list) else str


def _merge(into: Profile, other: Profile) -> None:
    into.values += other.values
    into.chars += other.chars
    into.json_texts += other.json_texts
    for token, below in other.below.items():
        _merge(into.at(token), below)
