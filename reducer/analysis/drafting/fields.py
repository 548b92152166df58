"""Fields of answers, and the reasons why they say nothing that an analyst needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from reducer.analysis.drafting.names import is_writable, words
from reducer.analysis.drafting.profiles import Path, Profile, is_below
from reducer.analysis.texts import API_LINK
from reducer.paths.written import path_text
from reducer.values import Unreducible, dump

_PICTURES = {"icon", "icons", "avatar", "avatars", "logo", "logos", "thumbnail", "thumbnails", "gravatar", "favicon"}
_PICTURE = re.compile(r"(?i)(?:https?:/|/|data:image).*|.*\.(?:png|svg|jpe?g|gif|ico)\b.*")
_ENCODED = re.compile(r"[A-Za-z0-9+/=_\r\n-]{129,}\Z|-----BEGIN[^\0]*|data:[^\0]{100,}")
_CHECKSUM = re.compile(r"sha(?:1|256|384|512)[-:][A-Za-z0-9+/]{27,}={0,2}(?:\s|\Z)")
_FINGERPRINTS = {"digest", "checksum", "shasum", "integrity", "etag", "signature", "fingerprint", "thumbprint"}
_HEX = re.compile(r"[0-9a-fA-F:]{32,}\Z")
_MANY, _SAMPLES, _FEW = 3, 50, 12
"""Values that are enough to judge a key, those that are compared, and different ones that are a small set."""
_SHORT = 40
_LARGE = 200
"""Longer values are copies if they are equal once."""


@dataclass(frozen=True, eq=False)
class Field:
    """A key with plain values, or with lists of them.

    record: the path of its records, which are items of lists, values of maps, or answers
    count: the number of its records
    """

    place: Profile
    record: Path
    count: int

    @property
    def path(self) -> Path:
        """The path of the key."""
        return self.place.path

    @property
    def name(self) -> str:
        """The last key."""
        return str(self.place.path[-1])

    @property
    def keys(self) -> Path:
        """The keys that lead from a record to it."""
        return self.path[len(self.record) :]

    @cached_property
    def some(self) -> Sequence[str]:
        """Some texts that are not empty."""
        return self.place.texts[:_SAMPLES]

    @property
    def is_in_list(self) -> bool:
        """Whether its records are items of lists or values of maps, of which there are enough to compare."""
        return bool(self.record) and len(self.place.values) >= _MANY

    @property
    def is_constant(self) -> bool:
        """Whether all items of its lists have it, with the same long sentence: a word may differ in other answers."""
        distinct = self.place.distinct
        is_same = len(distinct) == 1 and len(self.place.texts) == self.count
        return self.is_in_list and is_same and len(min(distinct)) > _SHORT and " " in min(distinct)

    @property
    def is_small_set(self) -> bool:
        """Whether its values are few different ones, which are short, and differ between items: flags, states, tags."""
        distinct = self.place.distinct
        is_repeated = 1 < len(distinct) <= _FEW and len(distinct) * 2 <= distinct.total()
        return self.is_in_list and is_repeated and max(map(len, distinct)) <= _SHORT

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Return whether all texts match a pattern at their beginning."""
        return bool(self.some) and all(map(pattern.match, self.some))


def fields(root: Profile) -> dict[Path, Field]:
    """Return the fields that have values and that a step can name, by path."""
    found = {}
    counts = {}
    for place in root.walk():
        counts[place.path] = len(place.values)
        if place.is_field and is_writable(place.path) and not place.is_empty:
            record = place.path
            while record and type(record[-1]) is str:
                record = record[:-1]
            found[place.path] = Field(place, record, counts[record])
    return found


# --- reasons to drop a field, whatever the draft saves

NEVER_COUNTED = ("links of an API", "pictures", "encoded bytes", "fingerprints of files")
"""Entities that only such values contain are not counted."""


def reason_of_value(field: Field) -> str:
    """Return what the values are that only programs read, or an empty text."""
    names = set(words(field.name))
    if field.matches(_ENCODED):
        return "encoded bytes"
    if not _PICTURES.isdisjoint(names) and field.matches(_PICTURE):
        return "pictures"
    if field.matches(API_LINK):
        return "links of an API"
    if field.matches(_CHECKSUM) or (not _FINGERPRINTS.isdisjoint(names) and field.matches(_HEX)):
        return "fingerprints of files"
    return ""


def copies(root: Profile) -> dict[Path, Path]:
    """Map the places whose values another place has too to that place: the one that is less deep.

    Only long values are copies, of which three differ, and very long ones. Short values may be equal by chance.
    """
    originals: dict[str, Profile] = {}
    found: dict[Path, Path] = {}
    for place in sorted(root.inner(), key=_rank):
        if type(place.path[-1]) is not str or is_below(place.path, found):
            continue
        if place.is_empty or not _proves(place):
            continue
        original = originals.setdefault(_values(place), place)
        is_around = place.path[: len(original.path)] == original.path or original.path[: len(place.path)] == place.path
        if original is not place and not is_around:
            found[place.path] = original.path
    return found


def _proves(place: Profile) -> bool:
    """Return whether equal values at another place are no chance."""
    size = place.chars / len(place.values)
    return size > _LARGE or (size > _SHORT and len(place.distinct) >= _MANY)


def _rank(place: Profile) -> tuple[int, int]:
    return len(place.path), len(path_text(place.path))


def _values(place: Profile) -> str:
    """Return a text that is the same for places with the same values."""
    try:
        return dump(place.values)
    except (Unreducible, ValueError, RecursionError):
        return path_text(place.path)
