"""Profiles of tool answers: which places contain how many characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from reducer.entities import scan
from reducer.formats import decode, parse_nested, plain, unwrapped
from reducer.paths.written import Token
from reducer.values import MAX_DEPTH, chars, dump, is_media

_MIN_ENCODED = 40
"""Shorter texts are not parsed."""
_MIN_SENTENCE, _MIN_SPACES = 40, 3
_MIN_MAP_KEYS, _MAX_ID = 5, 200
_MIN_VARIED, _MAX_PRESENT = 8, 0.5
"""The keys of objects that are maps of texts, and the share of them that the average object has."""
_MIN_ALIKE = 0.6
"""The share of all keys that the average value of a map must contain."""
_ID = re.compile(r"[\d\W_]*\d[\d\W_]*|(?=\D*\d)[0-9a-fA-F:-]{8,}|(?=\D*\d)\S{24,}|.*\d{5}\S*")
"""Keys without letters, such as numbers, dates and addresses, hashes, and words with long numbers or random letters."""


Path = tuple[Token, ...]


class Entry(NamedTuple):
    """A value, parsed if it was a text, and its characters with those of its key."""

    value: Any
    chars: int


@dataclass(eq=False)
class Profile:
    """All values at one kind of place.

    path: keys, with -1 for the items of a list and None for the values of a map
    json_texts: the characters of each text that contains JSON
    longest: the beginnings of the longest sentences in each object, with their paths
    above, below: the profiles one level higher and deeper
    """

    path: Path = ()
    above: Profile | None = None
    entries: list[Entry] = field(default_factory=list)
    json_texts: list[int] = field(default_factory=list)
    longest: dict[str, Path] = field(default_factory=dict)
    below: dict[Token, Profile] = field(default_factory=dict)

    @property
    def keys(self) -> dict[str, Profile]:
        """The profiles of the values of an object by key; empty for a map."""
        return {token: below for token, below in self.below.items() if type(token) is str}

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
        """The number of items of each list, or of values of each map."""
        kinds = (list, dict) if self.is_map else (list,)
        return [len(entry.value) for entry in self.entries if type(entry.value) in kinds]

    @property
    def is_map(self) -> bool:
        """Whether its objects are used as maps."""
        return None in self.below

    @property
    def is_record(self) -> bool:
        """Whether its values are answers, items of lists or values of maps."""
        return not self.path or type(self.path[-1]) is not str

    @cached_property
    def is_record_map(self) -> bool:
        """Whether its maps have objects as values, of which at least one key is the same; only these can be limited."""
        values = [entry.value for entry in self.below[None].entries] if self.is_map and self.path else []
        return bool(values) and {*map(type, values)} == {dict} and bool(set(values[0]).intersection(*values))

    @cached_property
    def scalars(self) -> list[Any]:
        """The texts, numbers, booleans and nulls."""
        return [entry.value for entry in self.entries if type(entry.value) not in (dict, list)]

    @cached_property
    def texts(self) -> list[str]:
        """The texts."""
        return [value for value in self.scalars if type(value) is str]

    @cached_property
    def entities(self) -> frozenset[tuple[str, str]]:
        """The type and canonical value of each entity in the texts."""
        return frozenset((one.type, one.canonical) for text in dict.fromkeys(self.texts) for one in scan(text))

    @cached_property
    def max_text(self) -> int:
        """The characters of the longest text."""
        return max(map(len, self.texts), default=0)

    def walk(self) -> Iterator[Profile]:
        """Yield this profile and all deeper ones, parents first."""
        yield self
        for below in self.below.values():
            yield from below.walk()

    def find(self, path: Path) -> Profile:
        """Return the place of the values at a path, in which keys of maps may replace None."""
        place = self
        for token in path:
            place = place.below[token if token in place.below else None]
        return place

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
        _add(root, Entry(decode(value) if type(value) is str else value, 0), MAX_DEPTH)
    names: set[Token] = set()
    _merge_maps(root, names)
    _merge_maps(root, names)  # other objects with the name of a map
    return root


def _add(place: Profile, entry: Entry, depth: int) -> tuple[int, str, Path]:
    """Add a value, whose entry counts only its key so far. Return length, beginning and path of its longest text."""
    value, size = entry
    is_encoded = type(value) is str and depth > 0 and bool(place.path) and len(value) >= _MIN_ENCODED
    if is_encoded and (parsed := parse_nested(value)):
        if parsed[1].name == "JSON":
            place.json_texts.append(len(dump(value)))
        value, depth = plain(parsed[0]), depth - 1
    inside: list[tuple[Profile, Entry]] = []
    sentence: tuple[int, str, Path] = (0, "", ())
    if type(value) not in (dict, list):
        size += chars([value]) - 2
        if type(value) is str and len(value) >= _MIN_SENTENCE and value.count(" ") >= _MIN_SPACES:
            sentence = (len(value), value[:_MIN_SENTENCE], place.path)
    elif depth < 0 or is_media(value):
        size += 2
    elif type(value) is dict:
        # The key, its colon and the comma after it are removed with the value.
        inside = [(place.at(key), Entry(item, len(dump(key)) + 2)) for key, item in value.items()]
        size += 2
    else:
        inside = [(place.at(-1), Entry(item, 0)) for item in value]
        size += 2 + len(value)
    for below, each in inside:
        sentence = max(sentence, _add(below, each, depth - 1), key=lambda one: one[0])
        size += below.entries[-1].chars
    if type(value) is dict and sentence[0]:
        place.longest[sentence[1]] = sentence[2]
    place.entries.append(Entry(value, size))
    return sentence


def _merge_maps(place: Profile, names: set[Token]) -> None:
    """Merge the values of each object that is used as a map into one profile at the key None, and add its name."""
    for below in [*place.below.values()]:
        _merge_maps(below, names)
    if _is_map(place, names):
        names.update(place.path[-1:])
        values = place.keys
        place.below = {token: below for token, below in place.below.items() if token not in values}
        for below in values.values():
            _merge(place.at(None), below)


def is_id(name: str) -> bool:
    """Return whether a key looks like an id, an address or a date instead of a name."""
    return len(name) <= _MAX_ID and _ID.fullmatch(name) is not None


def _is_map(place: Profile, names: Set[Token]) -> bool:
    """Return whether it has a name of maps, keys that are ids or vary, or at least five objects that are alike."""
    values = [*place.keys.values()]
    if not values:
        return False
    kinds = {_kind(entry.value) for value in values for entry in value.entries}
    is_nested = place.path[-1:] != (-1,) and len(values) >= _MIN_VARIED and not any(value.below for value in values)
    if is_nested and place.objects >= _MIN_MAP_KEYS:
        present = sum(len(value.entries) for value in values)
        if present <= _MAX_PRESENT * len(values) * place.objects and all(value.texts for value in values):
            return kinds == {str}
    are_nested = not any(value.texts for value in values)
    ids = sum(is_id(name) or (are_nested and any(one.value == name for one in scan(name))) for name in place.keys)
    if ids * 2 >= len(values) or not names.isdisjoint(place.path[-1:]):
        return len(kinds) == 1
    if (
        not are_nested
        or len(values) < _MIN_MAP_KEYS
        or not all(value.objects and not value.lengths for value in values)
    ):
        return False
    keys = Counter(token for value in values for token in value.below)
    return keys.total() >= _MIN_ALIKE * len(keys) * len(values)


def _kind(value: Any) -> type:
    return type(value) if type(value) in (dict, list) else str


def _merge(into: Profile, other: Profile) -> None:
    into.entries += other.entries
    into.json_texts += other.json_texts
    into.longest |= other.longest
    for token, below in other.below.items():
        _merge(into.at(token), below)
