"""Fields of answers, and the reasons why they say nothing that an analyst needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reducer.analysis.drafting.names import is_known, is_writable, words
from reducer.analysis.drafting.profiles import Path, Profile
from reducer.analysis.texts import API_LINK
from reducer.paths.written import path_text
from reducer.values import Unreducible, dump

_PICTURES = {"icon", "icons", "avatar", "avatars", "logo", "logos", "thumbnail", "thumbnails", "gravatar", "favicon"}
_PICTURE = re.compile(r"(?i)(?:https?:/|/|data:image).*|.*\.(?:png|svg|jpe?g|gif|ico)\b.*")
_ENCODED = re.compile(r"[A-Za-z0-9+/=_\r\n-]{129,}\Z|-----BEGIN[^\0]*|data:[^\0]{100,}")
_CHECKSUM = re.compile(r"sha(?:1|256|384|512)[-:][A-Za-z0-9+/]{27,}={0,2}(?:\s|\Z)")
_FINGERPRINTS = {"digest", "checksum", "shasum", "integrity", "etag", "signature", "fingerprint", "thumbprint"}
_HEX = re.compile(r"[0-9a-fA-F:]{32,}\Z")
_IDS = {"id", "ids", "uid", "uuid", "guid", "gid", "oid", "pk", "sha"}
_OTHER_IDS = {"uid", "uuid", "guid", "gid", "oid", "pk", "sha"}
_LONG_ID = 16
_REFERENCES = {"from", "to", "source", "target", "ref", "refs", "parent"}
_TAG = re.compile(r"<[^<>]{1,400}>")
_NO_WORD = re.compile(r"[\W_]+")
_START = 60
"""The beginning of a text without tags; that of its copy is the same."""
_MANY, _SAMPLES, _FEW = 3, 50, 12
"""Values that are enough to judge a key, those that are compared, and different ones that are a small set."""
_SHORT = 40
_SENTENCE = 3
"""The blanks that make a text a sentence."""


@dataclass(frozen=True, eq=False)
class Field:
    """A key with plain values, or with lists of them.

    record: the path of its records, which are items of lists, values of maps, or answers
    """

    place: Profile
    record: Path

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

    @property
    def beside(self) -> Mapping[str, Profile]:
        """The keys of the same objects."""
        return {} if self.place.above is None else self.place.above.keys

    @cached_property
    def some(self) -> Sequence[str]:
        """Some texts that are not empty."""
        return self.place.texts[:_SAMPLES]

    @property
    def is_in_list(self) -> bool:
        """Whether its records are items of lists or values of maps, of which there are enough to compare."""
        return bool(self.record) and len(self.place.values) >= _MANY

    @property
    def is_known(self) -> bool:
        """Whether it is named like a key that analysts use."""
        return is_known(self.path)

    @property
    def is_prose(self) -> bool:
        """Whether its texts are sentences."""
        spaces = 0
        for text in self.some:
            spaces += text.count(" ")
        return bool(self.some) and spaces >= _SENTENCE * len(self.some)

    @property
    def is_constant(self) -> bool:
        """Whether it is equal in all items of its lists."""
        return self.is_in_list and len(self.place.distinct) == 1

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
    for place in root.walk():
        if place.is_field and is_writable(place.path) and not place.is_empty:
            record = max((number for number, token in enumerate(place.path, 1) if type(token) is not str), default=0)
            found[place.path] = Field(place, place.path[:record])
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
    if _is_api_link(field):
        return "links of an API"
    if field.matches(_CHECKSUM) or (not _FINGERPRINTS.isdisjoint(names) and field.matches(_HEX)):
        return "fingerprints of files"
    return ""


def _is_api_link(field: Field) -> bool:
    """Return whether an address is for programs: that of an object itself ends with another value of the object."""
    if field.name not in ("url", "uri", "link"):
        return field.matches(API_LINK)
    values = set[str]()
    for place in field.beside.values():
        values.update(map(str, place.scalars[:1]))
    return field.matches(API_LINK) and field.some[0].rstrip("/").rpartition("/")[2] in values


def html_copy_of(field: Field) -> str:
    """Return the key beside it that has the same texts without tags, or an empty text."""
    if not (field.is_prose and all(map(_TAG.search, field.some))):
        return ""
    starts = {_letters(_TAG.sub(" ", text))[:_START] for text in field.some}
    for key, place in field.beside.items():
        others = set()
        for text in place.texts[:_SAMPLES]:
            if not _TAG.search(text):
                others.add(_letters(text)[:_START])
        if starts <= others:
            return key
    return ""


def _letters(text: str) -> str:
    return _NO_WORD.sub("", text)


def copies(root: Profile, little: int) -> dict[Path, Path]:
    """Map the places whose values another place has too to that place: the first one, or one that analysts know.

    Places with less than `little` characters are copies only if their texts differ between items.
    """
    originals: dict[str, Profile] = {}
    found: dict[Path, Path] = {}
    places = [place for place in root.walk() if place.path and type(place.path[-1]) is str]
    for place in sorted(places, key=_rank):
        is_varied = len(place.distinct) >= _MANY and bool(place.texts)
        is_large = place.chars >= little and not place.is_empty
        if not (is_varied or is_large) or any(place.path[:n] in found for n in range(len(place.path))):
            continue
        original = originals.setdefault(_values(place), place)
        is_around = place.path[: len(original.path)] == original.path or original.path[: len(place.path)] == place.path
        if original is not place and not is_around:
            found[place.path] = original.path
    return found


def _rank(place: Profile) -> tuple[int, bool, int]:
    return len(place.path), not is_known(place.path), len(path_text(place.path))


def _values(place: Profile) -> str:
    """Return a text that is the same for places with the same values; a time is the same with fractions of seconds."""
    if not place.below and place.texts and len(place.texts) == len(place.values) and _TIME.match(place.texts[0]):
        return "\0".join(text[:19].replace(" ", "T") for text in place.texts)
    try:
        return dump(place.values)
    except (Unreducible, ValueError, RecursionError):
        return path_text(place.path)


_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")


def linked(found: Mapping[Path, Field]) -> set[Path]:
    """Return the paths of the ids that other keys refer to, and of these references."""
    names: dict[str, set[str]] = {}
    ids = list(_with_ids(found))
    for field in ids:
        for text in field.place.distinct:
            names.setdefault(text, set()).add(field.name)
    several = set()
    for field in ids:
        if any(len(names[text]) > 1 for text in field.place.distinct):
            several.add(field.path)
    return several


def _with_ids(found: Mapping[Path, Field]) -> Iterator[Field]:
    """Yield the fields with ids, and with texts that may refer to ids."""
    for field in found.values():
        is_reference = not _REFERENCES.isdisjoint(words(field.name))
        if field.place.texts and (is_reference or _is_id_name(field.name)):
            yield field


def is_other_id(field: Field) -> bool:
    """Return whether it is a long id of items that have an earlier id."""
    if not field.is_in_list or not (field.name == "node_id" or _OTHER_IDS.intersection(words(field.name)[-1:])):
        return False
    if not field.some or any(" " in text or len(text) < _LONG_ID for text in field.some):
        return False
    for key in field.beside:
        if key == field.name:
            return False
        if _is_id_name(key) or key in ("key", "number"):
            return True
    return False


def _is_id_name(key: str) -> bool:
    return not _IDS.isdisjoint(words(key)[-1:])
