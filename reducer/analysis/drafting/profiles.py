"""Where the characters of tool answers are: one profile for each kind of place, counted in one walk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reducer.formats import parse, parse_nested, plain
from reducer.paths.written import Token, path_text
from reducer.values import MAX_DEPTH, dump, is_media

IsUsed = Callable[[int, Any], bool]
"""Tells whether the agent later used a leaf of the answer with this number."""
_MAX_SAMPLES = 400
"""Scalars that are kept per place: enough to tell dates from words, and how often one value occurs."""
_MIN_ENCODED = 40
"""Characters below which a text is not parsed."""
_MIN_MAP_KEYS = 5
_MIN_ALIKE = 0.6
"""The share of all keys in the values of a map that the average value has."""
_ID = re.compile(r"\d.*\d|[.:/@ ]|^\d+$|^[0-9a-f-]{8,}$")


@dataclass(slots=True, eq=False)
class Profile:
    """The values at one kind of place: `path` has a key, -1 for the items of a list, None for the values of a map.

    `values` counts them and `chars` their characters as compact JSON; `objects`, `lists` and `texts` count those kinds.
    `items` are the items of all lists, `max_items` those of the longest; `max_text` is in characters. `encoded` counts
    texts that contain structure, `encoded_chars` their characters; `encoding` names the first format. `empty` are the
    characters of keys below without a value. `samples` are some of the scalars. `answers` are the numbers of the
    answers that have the place; `used` is true if the agent used a value here later.
    """

    path: tuple[Token, ...] = ()
    values: int = 0
    chars: int = 0
    objects: int = 0
    lists: int = 0
    texts: int = 0
    items: int = 0
    max_items: int = 0
    max_text: int = 0
    encoded: int = 0
    encoded_chars: int = 0
    encoding: str = ""
    empty: int = 0
    samples: list[Any] = field(default_factory=list)
    answers: set[int] = field(default_factory=set)
    used: bool = False
    keys: dict[str | None, Profile] = field(default_factory=dict)
    each: Profile | None = None

    @property
    def text(self) -> str:
        """Return the place as JMESPath."""
        return path_text(self.path)

    @property
    def is_map(self) -> bool:
        """Return whether the objects here are used as maps: their keys differ from one answer to the next."""
        return None in self.keys

    def below(self) -> Iterator[Profile]:
        """Yield the profiles one level further in."""
        yield from self.keys.values()
        if self.each is not None:
            yield self.each

    def walk(self) -> Iterator[Profile]:
        """Yield this profile and all further in, each before those below it."""
        waiting = [self]
        while waiting:
            found = waiting.pop()
            yield found
            waiting.extend(reversed([*found.below()]))

    def key(self, name: str | None) -> Profile:
        """Return the profile at a key; a new one if there is none."""
        found = self.keys.get(name)
        if found is None:
            found = self.keys[name] = Profile((*self.path, name))
        return found

    def item(self) -> Profile:
        """Return the profile of the items; a new one if there is none."""
        if self.each is None:
            self.each = Profile((*self.path, -1))
        return self.each


class _Answer(NamedTuple):
    number: int
    is_used: IsUsed | None


def profile(contents: Iterable[Any], is_used: IsUsed | None = None) -> Profile:
    """Count where the characters of tool answers (plain JSON values) are; texts that contain structure are parsed.

    `is_used` is the evidence, if there is any. Levels beyond `MAX_DEPTH` are left out, as rules leave them alone.
    """
    root = Profile()
    for number, content in enumerate(contents):
        if type(content) is str and (found := parse(content)) is not None:
            _count_encoded(root, len(content), found[1].name)
            content = plain(found[0])
        _add(root, content, MAX_DEPTH, _Answer(number, is_used))
    _merge_maps(root)
    return root


def _count_encoded(place: Profile, chars: int, encoding: str) -> None:
    place.encoded += 1
    place.encoded_chars += chars
    place.encoding = place.encoding or encoding


def _add(place: Profile, value: Any, depth: int, answer: _Answer) -> int:
    """Add a value and return its characters."""
    kind = type(value)
    if kind is str and depth > 0 and place.path and len(value) >= _MIN_ENCODED:
        found = parse_nested(value)
        if found is not None:
            _count_encoded(place, len(dump(value)), found[1].name)
            return _add(place, plain(found[0]), depth - 1, answer)
    is_leaf = kind not in (dict, list) or depth < 0 or (kind is dict and is_media(value))
    if not is_leaf:
        size = _add_object(place, value, depth, answer) if kind is dict else _add_list(place, value, depth, answer)
    elif kind in (dict, list):
        size = 2
    elif kind is str:
        size = len(dump(value))
        place.texts += 1
        place.max_text = max(place.max_text, len(value))
    else:
        size = len(dump(value)) if value == value and value not in (float("inf"), float("-inf")) else 4
    place.values += 1
    place.chars += size
    place.answers.add(answer.number)
    if is_leaf:
        if kind not in (dict, list) and len(place.samples) < _MAX_SAMPLES:
            place.samples.append(value)
        if answer.is_used is not None and not place.used:
            place.used = answer.is_used(answer.number, value)
    return size


def _add_object(place: Profile, value: dict[str, Any], depth: int, answer: _Answer) -> int:
    place.objects += 1
    size = 2
    for key, item in value.items():
        # The key, its colon and the comma after it are removed with the value.
        head = len(dump(key)) + 2
        below = place.key(key)
        below.chars += head
        one = head + _add(below, item, depth - 1, answer)
        size += one
        if item is None or item == "" or item == [] or item == {}:
            place.empty += one
    return size


def _add_list(place: Profile, value: list[Any], depth: int, answer: _Answer) -> int:
    place.lists += 1
    place.items += len(value)
    place.max_items = max(place.max_items, len(value))
    return 2 + sum(1 + _add(place.item(), item, depth - 1, answer) for item in value)


def _merge_maps(place: Profile) -> None:
    """Replace the keys of each object that is used as a map by one profile at the key None."""
    for below in place.below():
        _merge_maps(below)
    if _is_map(place):
        values = [*place.keys.values()]
        place.keys = {}
        for below in values:
            _merge(place.key(None), below)


def _is_map(place: Profile) -> bool:
    """Return whether all values are objects, or lists under ids, with mostly the same keys."""
    values = [*place.keys.values()]
    if len(values) < _MIN_MAP_KEYS or any(value.texts for value in values):
        return False
    if all(value.objects and not value.lists for value in values):
        return _are_alike([value.keys.keys() for value in values])
    are_ids = sum(bool(_ID.search(str(name))) for name in place.keys) * 2 >= len(values)
    if are_ids and all(value.lists and not value.objects for value in values):
        return _are_alike([() if value.each is None else value.each.keys.keys() for value in values])
    return False


def _are_alike(groups: Sequence[Iterable[object]]) -> bool:
    sets = [frozenset(group) for group in groups]
    every = frozenset[object]().union(*sets)
    return not every or sum(map(len, sets)) >= _MIN_ALIKE * len(every) * len(sets)


def _merge(into: Profile, other: Profile) -> None:
    for count in ("values", "chars", "objects", "lists", "texts", "items", "encoded", "encoded_chars", "empty"):
        setattr(into, count, getattr(into, count) + getattr(other, count))
    into.max_items, into.max_text = max(into.max_items, other.max_items), max(into.max_text, other.max_text)
    into.encoding = into.encoding or other.encoding
    into.samples += other.samples[: _MAX_SAMPLES - len(into.samples)]
    into.answers |= other.answers
    into.used |= other.used
    for name, below in other.keys.items():
        _merge(into.key(name), below)
    if other.each is not None:
        _merge(into.item(), other.each)
