"""The steps that a profile of answers suggests without evidence, each with its reason from the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reducer.analysis.drafting.keys import Keys, always_keep, is_writable, key_text, sort_key, worth
from reducer.analysis.drafting.profiles import Profile
from reducer.analysis.drafting.rule_text import Step, at
from reducer.paths.written import path_text


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
"""The largest `part` at which single objects lose keys that are rarely asked for."""
_LITTLE = 0.02
"""The share of an answer below which a place is not worth a step."""
_MAX_STEPS = 14
_MAX_TEXTS = 5
_MANY_LINES = 20
_WIDE = 8
"""Keys of a single object from which on some of them are chosen."""
_MIN_KEYS, _MAX_KEYS = 3, 60
"""Keys of a record that stay."""
_TOLERANCE = 1.25
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
    record = place.keys[None] if place.is_map else place.each
    if place.each is not None:
        limit = _max_items(place, draft.level)
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
            yield from _walk_kept(record, frozenset(keys for keys, stays in chosen.items() if stays), (), left, draft)
            return
    dropped = _dropped(place, left, draft) if is_single else []
    if dropped:
        yield _drop(place, dropped, left, draft)
    for below in sorted(place.below.values(), key=lambda below: -below.chars):
        if below not in dropped:
            yield from _walk(below, left, draft)


def _walk_kept(record: Profile, kept: frozenset[Keys], above: Keys, left: float, draft: _Draft) -> Iterator[Step]:
    """Yield steps for what a record keeps."""
    for name, below in record.keys.items():
        keys = (*above, str(name))
        if keys in kept:
            yield from _walk(below, left, draft)
        elif any(other[: len(keys)] == keys for other in kept):
            yield from _walk_kept(below if below.keys or not below.each else below.each, kept, keys, left, draft)


def _max_items(place: Profile, level: Level) -> int:
    """Return how many items of a list stay: fewer of one within a list or a map."""
    return level.items if -1 not in place.path and None not in place.path else max(5, level.items // 2)


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
    if not level.record or record.is_map or is_small:
        return {}
    costs = {keys: _cost(below, level) / record.objects for keys, below in leaves.items()}
    budget = sum(costs.values()) * level.part
    if _is_one_of_many(record):
        budget = min(level.record, budget)
    if sum(costs.values()) <= budget * _TOLERANCE:
        return {}
    order = sorted(leaves, key=lambda keys: (-_worth(keys, leaves[keys]), len(keys), costs[keys]))
    chosen = {keys for keys in (sort_key(record)[0], always_keep(record)[0]) if keys in leaves}
    for keys in order:
        rest = budget - sum(costs[other] for other in chosen)
        has_room = len(chosen) < _MAX_KEYS and (costs[keys] <= rest or len(chosen) < _MIN_KEYS)
        if _worth(keys, leaves[keys]) and has_room:
            chosen.add(keys)
    if not 0 < len(chosen) < len(leaves):
        return {}
    return {keys: True for keys in leaves if keys in chosen} | {keys: False for keys in order if keys not in chosen}


def _keep(record: Profile, path: str, chosen: dict[Keys, bool]) -> Step:
    kept, others = ([key_text(*keys) for keys, stays in chosen.items() if stays is which] for which in (True, False))
    more = f" and {len(others) - _MAX_NAMED:,} more" if len(others) > _MAX_NAMED else ""
    reason = (
        f"{'Each' if _is_one_of_many(record) else 'This object'} has {len(chosen):,} keys in about "
        f"{record.chars // record.objects:,} characters; these are asked for most, by their names. Left out: "
        f"{', '.join(others[:_MAX_NAMED])}{more}"
    )
    return Step(at(path, {"keep": kept}), reason)


def _is_one_of_many(record: Profile) -> bool:
    return record.path[-1:] in ((-1,), (None,))


def _cost(place: Profile, level: Level) -> float:
    """Estimate the characters that a leaf of all records has after its lists and texts are cut."""
    size = float(place.chars)
    if place.each is not None:
        size *= min(1.0, _max_items(place, level) * len(place.lengths) / max(1, sum(place.lengths)))
    return min(size, len(place.texts) * (level.text + 40.0)) if place.max_text > level.text else size


def _leaves(record: Profile, depth: int, above: Keys = ()) -> Iterator[tuple[Keys, Profile]]:
    """Yield the keys of a record; for small objects in it, their keys instead."""
    for name, below in record.keys.items():
        if name is not None:
            keys = (*above, name)
            inner = below if below.objects or below.each is None else below.each
            if depth > 1 and inner.keys and not inner.is_map and len(inner.keys) <= _MAX_KEYS:
                yield from _leaves(inner, depth - 1, keys)
            else:
                yield keys, below


def _worth(keys: Keys, place: Profile) -> int:
    own = 0 if 0 in map(worth, keys) else worth(keys[-1])
    # A value that is the same in all records does not identify any of them.
    is_constant = len(place.scalars) >= _MANY and place.scalars.count(place.scalars[0]) == len(place.scalars)
    return own - 1 if own and is_constant else own


def _dropped(place: Profile, left: float, draft: _Draft) -> list[Profile]:
    """Return large keys for screens and machines, and at strict levels those rarely asked for; [] for all keys."""
    found: list[Profile] = []
    for name, below in place.keys.items():
        size = below.chars * left
        is_unasked = worth(str(name)) == 1 and size < 0.25 * draft.total and below.texts
        is_useless = worth(str(name)) == 0 or (draft.level.part <= _STRICT and is_unasked)
        if is_useless and is_writable((str(name),)) and not draft.is_little(size):
            found.append(below)
    return found if len(found) < len(place.keys) else []


def _drop(place: Profile, dropped: list[Profile], left: float, draft: _Draft) -> Step:
    names = [str(below.path[-1]) for below in dropped]
    is_for_machines = not any(map(worth, names))
    why = "for screens and programs, by the names" if is_for_machines else "large, and rarely asked for, by the names"
    share = draft.share(sum(below.chars for below in dropped) * left)
    return Step(at(place.text, {"drop": [key_text(name) for name in names]}), f"{share}: {why}")


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
    return is_writable(tuple(token for token in place.path if type(token) is str))
