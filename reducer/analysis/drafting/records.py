"""Steps for records (items of a list, values of a map): which keys stay, and what ranks them."""

from __future__ import annotations

from collections.abc import Iterator

from reducer.analysis.drafting.levels import LITTLE, Level
from reducer.analysis.drafting.names import is_rank, severe_words, time_rank, worth
from reducer.analysis.drafting.profiles import Profile
from reducer.analysis.drafting.rule_text import Step
from reducer.paths.written import path_text

Keys = tuple[str, ...]
"""The keys that lead from a record to a value in it."""
_MAX_LEAVES = 60
_MIN_KEYS = 3
_TOLERANCE = 1.25
_MIN_SHARE = 0.6
_MANY = 5
_MAX_NAMED = 10
_MAX_KEY = 200


def keep_step(record: Profile, path: str, left: float, total: int, level: Level) -> tuple[Step, frozenset[Keys]] | None:
    """Return the step at `path` that keeps the best keys of a record within the characters of the level, and the keys.

    `left` is the share of the record that earlier steps leave, `total` the characters of the answers.
    """
    if not level.record or record.is_map or record.chars * left < 3 * LITTLE * total:
        return None
    leaves = {keys: below for keys, below in _leaves(record, 3) if is_writable(keys)}
    if len(leaves) <= _MIN_KEYS:
        return None
    count = max(1, record.objects)
    costs = {keys: _cost(below, level) / count for keys, below in leaves.items()}
    size = sum(costs.values())
    is_one_of_many = record.path[-1:] in ((-1,), (None,))
    budget = min(level.record, size * level.part) if is_one_of_many else size * level.part
    if size <= budget * _TOLERANCE:
        return None
    chosen = _chosen(record, leaves, costs, budget)
    if not chosen or len(chosen) == len(leaves):
        return None
    others = sorted(keys for keys in leaves if keys not in chosen)
    others.sort(key=lambda keys: (-_worth(keys, leaves[keys]), costs[keys]))
    more = f" and {len(others) - _MAX_NAMED:,} more" if len(others) > _MAX_NAMED else ""
    reason = (
        f"{'Each' if is_one_of_many else 'This object'} has {len(leaves):,} keys in about {record.chars // count:,} "
        f"characters; these are asked for most, by their names. Left out: "
        f"{', '.join(key_text(keys) for keys in others[:_MAX_NAMED])}{more}"
    )
    return Step(at(path, {"keep": [key_text(keys) for keys in leaves if keys in chosen]}), reason), chosen


def at(path: str, keys: dict[str, object]) -> dict[str, object]:
    """Return the keys of a step at a path; the whole return needs none."""
    return keys if path == "@" else {"path": path, **keys}


def sort_key(record: Profile) -> tuple[str, str] | None:
    """Return the expression to choose records by, how much they matter or else their time, and what stays."""
    found: list[tuple[int, str, str]] = []
    for keys, below in _scalars(record):
        is_steady = bool(below.samples) and below.values >= record.objects * _MIN_SHARE
        if is_steady and not below.objects and not below.lists and is_writable(keys):
            depth = len(keys) - 1
            when = time_rank(keys[-1], below.samples)
            if is_rank(keys[-1], below.samples):
                found.append((10 - depth, path_text(keys), "the highest stay"))
            elif when:
                found.append((when * 2 - depth, path_text(keys), "the newest stay"))
    best = max(found, key=lambda entry: entry[0], default=None)
    return None if best is None else best[1:]


def always_keep(record: Profile) -> str:
    """Return the condition that the severe records meet; empty if nothing rates them."""
    for name, below in record.keys.items():
        if name is not None and worth(name) == 2 and "'" not in name:
            words = severe_words(below.samples)
            if words and all("'" not in word and "\\" not in word for word in words):
                text = path_text((name,))
                return f"{text} == '{words[0]}'" if len(words) == 1 else f"contains({words!r}, {text})"
    return ""


def is_writable(keys: Keys) -> bool:
    """Return whether all keys can be written in a rule."""
    return all(name and name != "*" and name.isprintable() and len(name) <= _MAX_KEY for name in keys)


def key_text(keys: Keys) -> str:
    """Write a key for `keep` and `drop`, where a bare word stands for itself."""
    return path_text(keys) if any(set(name) & set('."[]|') for name in keys) else ".".join(keys)


def _chosen(record: Profile, leaves: dict[Keys, Profile], costs: dict[Keys, float], budget: float) -> frozenset[Keys]:
    """Choose what conditions read, then by worth, the shorter first."""
    rank, condition = sort_key(record), always_keep(record)
    chosen = set()
    for keys, _ in _scalars(record):
        text = path_text(keys)
        if keys in costs and ((rank is not None and text == rank[0]) or (condition and text in condition)):
            chosen.add(keys)
    budget -= sum(costs[keys] for keys in chosen)
    for keys, below in sorted(leaves.items(), key=lambda leaf: (-_worth(*leaf), len(leaf[0]), costs[leaf[0]])):
        has_room = len(chosen) < _MAX_LEAVES and (costs[keys] <= budget or len(chosen) < _MIN_KEYS)
        if keys not in chosen and _worth(keys, below) and has_room:
            chosen.add(keys)
            budget -= costs[keys]
    return frozenset(chosen)


def _scalars(record: Profile) -> Iterator[tuple[Keys, Profile]]:
    """Yield the keys of a record and of objects in it: what an expression reads as one value."""
    for name, below in record.keys.items():
        if name is not None:
            yield (name,), below
            for inner, further in below.keys.items():
                if inner is not None and not below.lists:
                    yield (name, inner), further


def _cost(place: Profile, level: Level) -> float:
    """Estimate the characters that a leaf of all records has after its lists and texts are cut."""
    size = float(place.chars)
    if place.each is not None and place.lists and place.max_items > level.inner:
        size *= min(1.0, level.inner / max(1.0, place.items / place.lists))
    if place.texts and place.max_text > level.text:
        size = min(size, place.texts * (level.text + 40.0))
    return size


def _leaves(record: Profile, depth: int, above: Keys = ()) -> Iterator[tuple[Keys, Profile]]:
    """Yield the keys of a record; for small objects in it, their keys instead."""
    for name, below in record.keys.items():
        if name is None:
            continue
        keys = (*above, name)
        inner = below.each if below.each is not None and not below.objects else below
        if depth > 1 and inner.objects and inner.keys and not inner.is_map and len(inner.keys) <= _MAX_LEAVES:
            yield from _leaves(inner, depth - 1, keys)
        else:
            yield keys, below


def _worth(keys: Keys, place: Profile) -> int:
    own = 0 if 0 in map(worth, keys) else worth(keys[-1])
    # A value that is the same in all records does not identify any of them.
    is_constant = len(place.samples) >= _MANY and place.samples.count(place.samples[0]) == len(place.samples)
    return own - 1 if own and is_constant else own
