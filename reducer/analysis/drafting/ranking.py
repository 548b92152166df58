"""Rank keys: what readers need stays, and what only programs need goes first. `SIGNS` states the reasons as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from reducer.analysis.drafting.profiles import Path, Profile, is_id
from reducer.analysis.texts import API_LINK
from reducer.paths.written import Token, path_text

_SUBSTANCE = """
    type kind restart ready number id ids name names title key login username user host hosts hostname hostnames ip ips
    sourceip destinationip srcip dstip address addresses domain domains fqdn url uri email mail hash sha md5 sha1 sha256
    cve cves status state phase conclusion result verdict severity risk score scores priority image namespace node
    summary description message text body content comment subject created updated modified closed seen date time
    timestamp published started end author owner assignee reporter actor actors malware label labels tag tags reason
    error indicator value commit branch technique techniques outcome action at version product vendor package port ports
    file filename process command query country
    """
_ASKED_FOR = """
    uid guid duration elapsed slug category categories level cwe account protocol service path rule tactic city asn
    malicious suspicious confidence source target destination src dst family campaign count total amount price first
    last start posted submitted observed expires cvss classification threat alert role code method reference references
    """
_FOR_PROGRAMS = """
    css style icon icons avatar avatars logo thumbnail thumbnails picture gravatar color colour etag schema cursor
    pagination paging locale embed embeds widget layout x y permalink self href links resourceversion node_id checksum
    signature nonce raw html xml _class expand
    """
_PICTURES = "icon icons avatar avatars logo logos thumbnail thumbnails picture pictures photo image images img gravatar"
_NAMES = "name title login username key label summary displayname fullname hostname email number path"
_IDS = "id ids uid uuid guid gid oid pk"
_COPIES = ("managedFields", "last-applied-configuration")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PICTURE = re.compile(r"(?i)(?:https?:/|/|data:image).*|.*\.(?:png|svg|jpe?g|gif|ico)\b.*")
_ENCODED = re.compile(r"[A-Za-z0-9+/=_\r\n-]{129,}\Z|-----BEGIN[^\0]*|data:[^\0]{100,}")
_CHECKSUM = re.compile(r"sha(?:1|256|384|512)-[A-Za-z0-9+/]{27,}={0,2}(?:\s|\Z)")
_HASH = re.compile(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})\Z")
_PACKAGE = frozenset({"packagetype", "tarball", "resolved", "purl", "bom-ref"})
"""Keys that only descriptions of packages have. Other hashes may be indicators."""
_TAG = re.compile(r"<[^<>]{1,400}>")
_NO_WORD = re.compile(r"[\W_]+")
_MANY, _SAMPLES, _MAX_KEY, _LONG_ID, _MIN_SPACES, _LEVELS = 5, 50, 200, 16, 3, 4
_START, _ALIKE = 60, 0.7
"""The characters of the beginning of a text, and the share of its length, that its copy has at least."""

_ORDERS = (
    (r"cvss|severity|risk|score|critical|malicious|priority|threat|confidence|weight|impact|hits?$|count$", "highest"),
    (r"(last|latest|most_recent).*(seen|update|modif|activ|observ|chang|date|time)|(seen|updated|modified).*last", ""),
    (r"updated|modified|modification|changed", ""),
    (r"date|time|when|published|created|creation|started|observed|seen|posted|_at$|(?-i:At$)", ""),
)
"""The names of keys that rank records, the best first: by importance (`highest`) or by time."""
_SEVERE = ("critical", "high", "severe", "malicious", "important")
_VERSION, _NUMBER = re.compile(r"v?\d+[.-]\d"), re.compile(r"\d{1,9}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d")
"""Only dates that start with the year can be sorted as texts."""
_MIN_STEADY, _MIN_RANKING, _FIRST_TIME = 0.6, 0.8, 10**8
"""The shares of the records with a key that ranks them, and of its values that can; the first number that is a time."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A key of a record with plain values, or with a list of them.

    record: the path of its records
    keys: the keys that lead from a record to it, or () if no step can name them
    beside: the values of the keys of the same object
    """

    place: Profile
    record: Path
    keys: tuple[str, ...]
    beside: Mapping[str, Profile]

    @classmethod
    def at(cls, place: Profile) -> Leaf:
        """Return the leaf at a place with plain values."""
        holder = place
        while holder.above is not None and type(holder.path[-1]) is not str:
            holder = holder.above
        record = record_of(holder.path)
        is_named = len(place.path) - len(holder.path) < 2 and is_writable_path(holder.path)
        keys = tuple(map(str, holder.path[len(record) :])) if is_named else ()
        return cls(place, record, keys, {} if holder.above is None else holder.above.keys)

    @cached_property
    def texts(self) -> Sequence[str]:
        """Some texts that are not empty."""
        return [text for text in self.place.texts[: _SAMPLES * 4] if text][:_SAMPLES]

    @cached_property
    def _signs(self) -> list[tuple[int, str]]:
        return [(points, reason) for points, reason, holds in SIGNS if holds(self)]

    @cached_property
    def worth(self) -> float:
        """The worth of each value: 1 for an ordinary one, 0 if it only repeats others, or serves programs."""
        points = 1 + sum(points for points, _ in self._signs)
        return 0 if points < _REDUNDANT else 2.0 ** (points - _ORDINARY)

    @cached_property
    def reason(self) -> str:
        """The reason why it may go."""
        worst, reason = min(self._signs, default=(0, ""))
        return reason if worst < -1 else "rarely asked for"

    @property
    def names(self) -> Sequence[str]:
        """The keys that lead to it from the outermost list or map, or from the answer."""
        start = next((number for number, token in enumerate(self.place.path) if type(token) is not str), 0)
        return [token for token in self.place.path[start:] if type(token) is str]

    @property
    def is_empty(self) -> bool:
        """Whether no value says anything."""
        return all(value in (None, "") for value in self.place.scalars)

    @property
    def is_prose(self) -> bool:
        """Whether its texts are mostly sentences."""
        return sum(text.count(" ") for text in self.texts) >= max(1, _MIN_SPACES * len(self.texts))

    @property
    def is_constant(self) -> bool:
        """Whether many values are the same."""
        values = self.place.scalars
        return len(values) >= _MANY and values.count(values[0]) == len(values)

    def is_named(self, meant: str) -> bool:
        """Return whether the first or last word of the last key is one of these."""
        found = words(self.keys[-1]) if self.keys else []
        return not set(meant.split()).isdisjoint((*found[:1], *found[-1:]))

    def mentions(self, meant: str) -> bool:
        """Return whether one of these is a key, or a word of one."""
        return any(not set(meant.split()).isdisjoint({*words(key), key.lower()}) for key in self.keys)

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Return whether all texts match a pattern at their beginning."""
        return bool(self.texts) and all(pattern.match(text) for text in self.texts)


def _is_api_link(leaf: Leaf) -> bool:
    """Return whether an address is for programs: that of an object itself ends with another value of the object."""
    if not leaf.matches(API_LINK) or leaf.keys[-1:] not in (("url",), ("uri",), ("link",)):
        return leaf.matches(API_LINK)
    values = {str(value) for place in leaf.beside.values() for value in place.scalars[:1]}
    return any(leaf.texts[0].rstrip("/").endswith(f"/{value}") for value in values)


def _is_of_file(leaf: Leaf) -> bool:
    """Return whether texts are checksums, or links that end in another value, of the files of a package."""
    if leaf.matches(_CHECKSUM):
        return True
    around = leaf.place.above
    for _ in range(_LEVELS):
        if around is not None and not _PACKAGE.isdisjoint(around.below):
            names = {text for place in leaf.beside.values() for text in place.texts[:_SAMPLES]}
            is_link = leaf.is_named("url tarball resolved") and (len(leaf.beside) < _MANY or _ends_in(leaf, names))
            return is_link or leaf.matches(_HASH)
        around = around.above if around is not None else None
    return False


def _ends_in(leaf: Leaf, names: Set[str]) -> bool:
    return all(text.rpartition("/")[2] in names for text in leaf.texts)


def _is_copy(leaf: Leaf) -> bool:
    """Return whether an earlier key of the same objects has the same values, which differ between the objects."""
    values, texts = leaf.place.scalars, leaf.place.texts
    if len(texts) < _MANY or texts.count(texts[0]) == len(texts):
        return False
    if leaf.matches(_DATE):  # with or without fractions of seconds and time zone
        same = [place.path for place in leaf.beside.values() if [*map(_second, place.texts)] == [*map(_second, texts)]]
    else:
        same = [place.path for place in leaf.beside.values() if place.scalars == values]
    return len(same) > 1 and same[0] != leaf.place.path


def _second(time: str) -> str:
    return time[:19].replace(" ", "T")


def _is_html_copy(leaf: Leaf) -> bool:
    """Return whether another key has the texts without tags: at least most of each, with the same beginning."""
    if not leaf.is_prose or not all(map(_TAG.search, leaf.texts)):
        return False
    lengths: dict[str, int] = {}
    for text in (text for place in leaf.beside.values() for text in place.texts[:_SAMPLES] if not _TAG.search(text)):
        plain = _NO_WORD.sub("", text)
        lengths[plain[:_START]] = max(len(plain), lengths.get(plain[:_START], 0))
    without_tags = [_NO_WORD.sub("", _TAG.sub(" ", text)) for text in leaf.texts]
    return all(lengths.get(text[:_START], 0) >= _ALIKE * len(text) > 0 for text in without_tags)


def _is_id_beside_name(leaf: Leaf) -> bool:
    is_id_key = bool(leaf.keys) and words(leaf.keys[-1])[-1:] in [[name] for name in _IDS.split()]
    return is_id_key and any("".join(words(key)) in _NAMES.split() for key, place in leaf.beside.items() if place.texts)


def _is_minor_id(leaf: Leaf) -> bool:
    return _is_id_beside_name(leaf) and (len(leaf.keys) > 1 or leaf.place.max_text >= _LONG_ID)


_REDUNDANT, _ORDINARY = -10, 5
NEVER_COUNTED = ("links of an API", "pictures", "hashes and links of files")
"""Entities that only such values contain are not counted."""
SIGNS: tuple[tuple[int, str, Callable[[Leaf], bool]], ...] = (
    (-25, "links of an API", _is_api_link),
    (-25, "pictures", lambda leaf: leaf.mentions(_PICTURES) and leaf.matches(_PICTURE)),
    (-25, "hashes and links of files", _is_of_file),
    (-25, "encoded bytes", lambda leaf: leaf.matches(_ENCODED)),
    (-25, "the same text as HTML", _is_html_copy),
    (-25, "the same value as another key", _is_copy),
    (-25, "copies for programs", lambda leaf: any(name.endswith(_COPIES) for name in leaf.names)),
    (-6, "for screens and programs, by the names", lambda leaf: leaf.mentions(_FOR_PROGRAMS)),
    (-3, "ids next to names", _is_id_beside_name),
    (-5, "ids next to names, long or nested", _is_minor_id),
    (-2, "the same value everywhere", lambda leaf: leaf.is_constant),
    (-1, "nested", lambda leaf: len(leaf.names) > 2),
    (-2, "deeply nested", lambda leaf: len(leaf.names) > 3),
    (-1, "numbers", lambda leaf: not leaf.texts),
    (+7, "identity, time, status or text", lambda leaf: leaf.is_named(_SUBSTANCE)),
    (+3, "asked for", lambda leaf: leaf.is_named(_ASKED_FOR)),
    (+4, "times", lambda leaf: leaf.matches(_DATE)),
    (+4, "sentences", lambda leaf: leaf.is_prose),
    (+3, "entities", lambda leaf: bool(leaf.place.entities)),
)
"""Points for the properties of keys: those with few points go first."""


def words(name: str) -> list[str]:
    """Split a key into words in lower case."""
    return [word.lower() for word in _WORDS.findall(re.sub("sha256|sha1|md5", "hash", name))]


def is_writable_path(path: Path) -> bool:
    """Return whether all keys of a path can be written in a rule; ids of the sample are not written."""
    keys = [token for token in path if type(token) is str]
    return all(key and key != "*" and key.isprintable() and len(key) <= _MAX_KEY and not is_id(key) for key in keys)


def record_of(path: Path) -> Path:
    """Return the path of the records that contain the values at a path: items of lists, values of maps, or answers."""
    return path[: max((number for number, token in enumerate(path, 1) if type(token) is not str), default=0)]


def key_text(*keys: Token) -> str:
    """Write a key for `keep` and `drop`, where a bare word is a key."""
    names = [*map(str, keys)]
    return path_text(names) if any(set(name) & set('."[]|') for name in names) else ".".join(names)


def sort_key(leaves: Iterable[Leaf], records: int) -> tuple[str, str]:
    """Return the key that ranks records best and which records stay, or empty texts."""
    steady = [leaf for leaf in leaves if leaf.keys and len(leaf.place.entries) >= _MIN_STEADY * records]
    for names, which in _ORDERS:
        for leaf in sorted(steady, key=lambda leaf: len(leaf.keys)):
            numbers = [value for value in leaf.place.scalars if type(value) in (int, float)]
            times = [value for value in numbers if value > _FIRST_TIME] + [*filter(_DATE.match, leaf.place.texts)]
            ranking = numbers if which else times
            is_enough = len(ranking) >= _MIN_RANKING * len(leaf.place.entries) and len(set(ranking)) > 1
            if is_enough and re.search(f"(?i:{names})", leaf.keys[-1]):
                return path_text(leaf.keys), f"the {which or 'newest'} stay"
    return "", ""


def always_keep(leaves: Iterable[Leaf]) -> str:
    """Return the condition for severe records, or an empty text if there are none or too many."""
    for leaf in leaves:
        severe = [value for value in leaf.place.texts if value.casefold() in _SEVERE]
        if leaf.keys and severe and len(severe) * 4 <= len(leaf.place.texts):
            text, different = path_text(leaf.keys), sorted(set(severe))
            return f"{text} == '{severe[0]}'" if len(different) == 1 else f"contains({different!r}, {text})"
    return ""


def in_ascending_order(place: Profile) -> bool:
    """Return whether the keys of maps are versions or dates, the newest last."""
    keys = next((list(entry.value) for entry in place.entries if type(entry.value) is dict), [])
    numbers = [[*map(int, _NUMBER.findall(key))][:3] for key in keys if _VERSION.match(key)]
    rising = sum(one <= other for one, other in pairwise(numbers))
    return len(numbers) > 1 and len(numbers) >= _MIN_RANKING * len(keys) and rising >= _MIN_RANKING * (len(numbers) - 1)
