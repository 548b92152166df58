"""The steps that a profile of answers suggests without evidence, each with its reason from the data.

Which keys matter shows in their names and values: what readers ask for, what ranks and dates items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reducer.analysis.drafting.profiles import Profile
from reducer.analysis.drafting.rule_text import Step, at
from reducer.paths.written import path_text

Keys = tuple[str, ...]
"""The keys that lead from a record (an item of a list, a value of a map) to a value in it."""
_ASKED_FOR = """
    id ids uid guid key name names title type kind status state severity risk score scores verdict category categories
    level priority cve cves cwe ip ips address addresses host hosts hostname hostnames domain domains fqdn url uri email
    mail user username account port ports protocol service hash md5 sha1 sha256 file filename path process version
    product vendor package action result outcome message summary description subject rule technique techniques tactic
    country city asn label labels tag tags malicious suspicious confidence source target destination src dst family
    actor actors campaign malware count total number amount price date time timestamp created updated modified seen
    first last start end published posted submitted observed expires cvss classification threat alert reason value text
    content query command owner role code error method
    """
_FOR_MACHINES = """
    raw html xml css link links href self permalink icon icons avatar image images img logo thumbnail thumbnails picture
    photo screenshot color colour style pem base64 blob binary etag template schema cursor pagination paging locale x509
    bytes hex embed embeds widget layout x y gravatar
    """
_ASKED_FOR_WORDS, _FOR_MACHINES_WORDS = (frozenset(words.split()) for words in (_ASKED_FOR, _FOR_MACHINES))
_RANK = re.compile(
    r"(?i)cvss|severity|risk|score|critical|malicious|priority|threat|confidence|weight|impact|hits?$|count$|stars"
    r"|rating|popularity"
)
_TIMES = (
    re.compile(
        r"(?i)(last|latest|most_recent).*(seen|update|modif|activ|observ|chang|date|time)|(seen|updated|modified).*last"
    ),
    re.compile(r"(?i)updated|modified|modification|changed"),
    re.compile(r"(?i)date|time|timestamp|when|published|created|creation|started|observed|seen|posted|_at$|At$"),
)
_SEVERE = ("critical", "high", "severe", "malicious", "important")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HASHES = re.compile("sha256|sha1|md5")
_MIN_DIFFERENT = 2
_MIN_SHARE = 0.6
"""The share of the records that must have a key that ranks them."""
_MAX_KEY = 200


class Level(NamedTuple):
    """Limits: `items` of a list, characters of a `text`, and characters of an answer that is one text (`whole`).

    `record`: characters of one record (an item of a list, a value of a map), 0 for all its keys; `part`: the largest
    share of its size that a record keeps. `share`: the share of a typical answer that becomes `max_chars`, 0 for none.
    """

    items: int
    text: int
    whole: int
    record: int = 0
    part: float = 1
    share: float = 0


LEVELS = (
    Level(50, 1000, 4000),
    Level(30, 500, 2000),
    Level(25, 400, 1500, 800, 0.7),
    Level(20, 300, 1000, 500, 0.5),
    Level(15, 200, 700, 350, 0.4),
    Level(10, 160, 500, 250, 0.3),
    Level(10, 160, 400, 250, 0.3, 0.27),
    Level(10, 120, 300, 160, 0.2, 0.2),
)
"""From harmless to strict: the first that saves enough is chosen."""
_STRICT = 0.4
"""The largest `part` at which single objects lose keys."""
_LITTLE = 0.02
"""The share of an answer below which a place is not worth a step."""
_MAX_STEPS = 14
_MAX_TEXTS = 5
_MANY_LINES = 20
_WIDE = 8
"""Keys of a single object from which on some of them are chosen."""
_MIN_KEYS, _MAX_KEYS = 3, 60
"""Keys of a record that stay."""
_MANY = 5
_MAX_NAMED = 10


@dataclass(frozen=True, slots=True)
class _Draft:
    """The draft in progress: the characters of all answers, and the places with long texts and the share left there."""

    total: int
    level: Level
    texts: list[tuple[float, Profile]] = field(default_factory=list)

    def is_little(self, chars: float) -> bool:
        return chars < _LITTLE * self.total

    def share(self, chars: float) -> str:
        share = chars / self.total
        return (f"{share:.0%}" if share >= 0.01 else "under 1%") + " of the characters"


def suggested_steps(root: Profile, level: Level) -> list[Step]:
    """Return the steps for answers with this profile; later steps take into account what earlier ones leave."""
    if not root.below:
        return [_cut_answer(root, level)] if root.texts else []
    draft = _Draft(max(1, root.chars), level)
    steps = [*_unwraps(root, draft), *[*_walk(root, 1.0, draft)][:_MAX_STEPS], *_cut_texts(draft)]
    keyed = (place for place in root.walk() if place.path and place.path[-1] != -1)
    empty = sum(entry.chars for place in keyed for entry in place.entries if entry.value in (None, "", [], {}))
    if empty * 200 >= draft.total:
        steps.append(Step({"compact": True}, f"{draft.share(empty)}: keys without a value"))
    return steps


def _cut_answer(root: Profile, level: Level) -> Step:
    lines, tail = max(text.count("\n") for text in root.texts), level.whole // 4
    reason = f"The answer is a text of up to {root.max_text:,} characters"
    if lines > _MANY_LINES:
        ends = {"head": level.whole - tail, "tail": tail}
        return Step({"truncate": ends}, f"{reason}, {lines:,} lines: both ends stay")
    return Step({"truncate": level.whole}, f"{reason}: its beginning stays")


def _unwraps(root: Profile, draft: _Draft) -> Iterator[Step]:
    for place in root.walk():
        sizes = [chars for encoding, chars in place.encoded if encoding == "JSON"]
        if place.path and sizes and not draft.is_little(sum(sizes)) and _is_writable(place):
            count = f"{len(sizes):,} texts contain JSON" if len(sizes) > 1 else "A text contains JSON"
            yield Step(at(place.text, {"unwrap": True}), f"{count}: it is shorter without its quotes, and readable")


def _walk(place: Profile, left: float, draft: _Draft) -> Iterator[Step]:
    """Yield steps for a place and below, with `left` the share of its values that earlier steps leave."""
    if draft.is_little(place.chars * left) or not _is_writable(place):
        return
    if place.max_text > draft.level.text:
        draft.texts.append((left, place))
    record = place.keys[None] if None in place.below else place.each
    if place.each is not None:
        is_inner = -1 in place.path or None in place.path
        limit = max(5, draft.level.items // 2) if is_inner else draft.level.items
        if max(place.lengths) > limit:
            yield _limit(place, place.each, limit, draft)
            left *= min(1.0, limit * len(place.lengths) / sum(place.lengths))
    is_single = record is None
    if is_single and draft.level.part <= _STRICT and len(place.keys) >= _WIDE and place.path:
        record = place
    if record is not None and record.objects:
        chosen = _chosen(record, left, draft)
        if chosen:
            # `keep` at a list means each of its items. The values of a map are named by `.*`.
            yield _keep(record, place.text if record is place.each else record.text, chosen)
            for below in (below for keys, below in _leaves(record, 3) if chosen.get(keys)):
                yield from _walk(below, left, draft)
            return
    large = [below for below in place.keys.values() if is_single and not draft.is_little(below.chars * left)]
    dropped = [below for below in large if worth(str(below.path[-1])) == 0 and _is_writable(below)]
    if 0 < len(dropped) < len(place.keys):
        share = draft.share(sum(below.chars for below in dropped) * left)
        names = [key_text(str(below.path[-1])) for below in dropped]
        yield Step(at(place.text, {"drop": names}), f"{share}: for screens and programs, by the names")
    for below in sorted(place.below.values(), key=lambda below: -below.chars):
        if below not in dropped or len(dropped) == len(place.keys):
            yield from _walk(below, left, draft)


def _limit(place: Profile, record: Profile, limit: int, draft: _Draft) -> Step:
    items, lists = sum(place.lengths), "" if len(place.lengths) == 1 else f" in {len(place.lengths):,} lists"
    reason = f"{draft.share(place.chars)}: {items:,} items{lists} of about {place.chars // items:,} characters"
    action: dict[str, Any] = {"limit": limit}
    rank, what_stays = sort_key(record)
    if rank:
        action["sort_by"] = path_text(rank)
        reason += f"; {what_stays}"
    _, condition = always_keep(record)
    if condition:
        action["always_keep"] = condition
    return Step(at(place.text, action), reason)


def _chosen(record: Profile, left: float, draft: _Draft) -> dict[Keys, bool]:
    """Return for each key of a record whether it stays within the characters of the level; {} if all can stay.

    What conditions read comes first, then by worth, the shorter first.
    """
    level = draft.level
    leaves = {keys: below for keys, below in _leaves(record, 3) if is_writable(keys)}
    is_small = draft.is_little(record.chars * left / 3) or len(leaves) <= _MIN_KEYS
    if not level.record or None in record.below or is_small:
        return {}
    costs = {keys: below.chars / record.objects for keys, below in leaves.items()}
    budget = sum(costs.values()) * level.part
    if record.path[-1] in (-1, None):
        budget = min(level.record, budget)
    if sum(costs.values()) <= budget:
        return {}
    order = sorted(leaves, key=lambda keys: (-_worth(keys, leaves[keys]), len(keys), costs[keys]))
    chosen = {keys for keys in (sort_key(record)[0], always_keep(record)[0]) if keys in leaves}
    for keys in order[:_MAX_KEYS]:
        rest = budget - sum(costs[other] for other in chosen)
        if _worth(keys, leaves[keys]) and (costs[keys] <= rest or len(chosen) < _MIN_KEYS):
            chosen.add(keys)
    if not 0 < len(chosen) < len(leaves):
        return {}
    return {keys: True for keys in leaves if keys in chosen} | {keys: False for keys in order if keys not in chosen}


def _keep(record: Profile, path: str, chosen: dict[Keys, bool]) -> Step:
    kept, others = ([key_text(*keys) for keys, stays in chosen.items() if stays is which] for which in (True, False))
    more = f" and {len(others) - _MAX_NAMED:,} more" if len(others) > _MAX_NAMED else ""
    sizes = f"{len(chosen):,} keys in about {record.chars // record.objects:,} characters"
    reason = f"An object has {sizes}; these are asked for most, by their names. Left out: "
    reason += ", ".join(others[:_MAX_NAMED]) + more
    return Step(at(path, {"keep": kept}), reason)


def _leaves(record: Profile, depth: int, above: Keys = ()) -> Iterator[tuple[Keys, Profile]]:
    """Yield the keys of a record; for small objects in it, their keys instead."""
    for name, below in record.keys.items():
        if name is not None:
            keys = (*above, name)
            inner = below if below.objects or below.each is None else below.each
            if depth > 1 and inner.keys and None not in inner.below and len(inner.keys) <= _MAX_KEYS:
                yield from _leaves(inner, depth - 1, keys)
            else:
                yield keys, below


def _worth(keys: Keys, place: Profile) -> int:
    own = 0 if 0 in map(worth, keys) else worth(keys[-1])
    # A value that is the same in all records does not identify any of them.
    is_constant = len(place.scalars) >= _MANY and place.scalars.count(place.scalars[0]) == len(place.scalars)
    return own - 1 if own and is_constant else own


def _cut_texts(draft: _Draft) -> Iterator[Step]:
    texts = sorted(draft.texts, key=lambda entry: -entry[0] * entry[1].chars)
    if len(texts) > _MAX_TEXTS:
        longest = f"the longest of {max(place.max_text for _, place in texts):,} characters"
        reason = f"Long texts at {len(texts):,} places, {longest}; markers name the indicators"
        yield Step({"truncate": draft.level.text}, reason)
        return
    for left, place in texts:
        number = f"{len(place.texts):,} texts" if len(place.texts) > 1 else "a text"
        reason = f"{draft.share(place.chars * left)}: {number} of up to {place.max_text:,} characters"
        yield Step(at(place.text, {"truncate": draft.level.text}), reason)


def _is_writable(place: Profile) -> bool:
    return is_writable([token for token in place.path if type(token) is str])


# --- keys


def worth(name: str) -> int:
    """Return by its name how much a key is asked for.

    0 is for screens and machines, 2 for what identifies or rates things, 1 for all others.
    """
    if name.startswith("_") and name.strip("_") not in _ASKED_FOR_WORDS:
        return 0
    words = [word.lower() for word in _WORDS.findall(_HASHES.sub("hash", name))]
    if any(word in _FOR_MACHINES_WORDS for word in words):
        return 0
    return 2 if words and (words[-1] in _ASKED_FOR_WORDS or words[0] in _ASKED_FOR_WORDS) else 1


def is_writable(keys: Sequence[str]) -> bool:
    """Return whether all keys can be written in a rule."""
    return all(name and name != "*" and name.isprintable() and len(name) <= _MAX_KEY for name in keys)


def key_text(*keys: str) -> str:
    """Write a key for `keep` and `drop`, where a bare word stands for itself."""
    return path_text(keys) if any(set(name) & set('."[]|') for name in keys) else ".".join(keys)


def sort_key(record: Profile) -> tuple[Keys, str]:
    """Return the keys to choose records by, how much they matter or else their time, and what stays; () for none."""
    best = 0
    found: tuple[Keys, str] = ((), "")
    for keys, below in scalars(record):
        is_steady = below.scalars and not below.below and len(below.entries) >= record.objects * _MIN_SHARE
        if is_steady and is_writable(keys):
            time, depth = _time_rank(keys[-1], below.scalars), len(keys) - 1
            rank = 10 - depth if _is_rank(keys[-1], below.scalars) else time * 2 - depth if time else 0
            if rank > best:
                best, found = rank, (keys, "the highest stay" if rank > 2 * len(_TIMES) else "the newest stay")
    return found


def always_keep(record: Profile) -> tuple[Keys, str]:
    """Return the key that rates records and the condition that the severe ones meet; () if there are none or many."""
    for name, below in record.keys.items():
        words = [value for value in below.texts if value.casefold() in _SEVERE]
        if name and worth(name) == 2 and "'" not in name and words and len(words) * 4 <= len(below.texts):
            text, different = path_text((name,)), sorted(set(words))
            condition = f"{text} == '{words[0]}'" if len(different) == 1 else f"contains({different!r}, {text})"
            return (name,), condition
    return (), ""


def scalars(record: Profile) -> Iterator[tuple[Keys, Profile]]:
    """Yield the keys of a record and of objects in it: what an expression reads as one value."""
    for name, below in record.keys.items():
        if name is not None:
            yield (name,), below
            yield from (((name, inner), value) for inner, value in below.keys.items() if inner is not None)


def _is_rank(name: str, samples: Sequence[Any]) -> bool:
    """Return whether values under a key say how much an item matters: different numbers under such a name."""
    numbers = [value for value in samples if type(value) in (int, float)]
    return bool(_RANK.search(name)) and len(numbers) * 2 > len(samples) and len(set(numbers)) >= _MIN_DIFFERENT


def _time_rank(name: str, samples: Sequence[Any]) -> int:
    """Return how well values under a key order items by time: 0 for not at all, 3 for the time of the last change."""
    rank = next((3 - number for number, pattern in enumerate(_TIMES) if pattern.search(name)), 0)
    if not rank or len({str(value) for value in samples}) < _MIN_DIFFERENT:
        return 0
    dates = sum(
        bool(_DATE.match(value)) if type(value) is str else type(value) in (int, float) and value > 10**8
        for value in samples
    )
    # Only dates that begin with the year can be sorted as texts.
    return rank if dates * 10 >= len(samples) * 8 else 0
