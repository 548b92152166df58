"""The steps that a profile of answers suggests at a level, each with its reason from the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reducer.analysis.drafting.levels import LITTLE, Level
from reducer.analysis.drafting.names import worth
from reducer.analysis.drafting.profiles import Profile
from reducer.analysis.drafting.records import Keys, always_keep, at, is_writable, keep_step, key_text, sort_key
from reducer.analysis.drafting.rule_text import Step

_MAX_STEPS = 14
_MAX_TEXTS = 5
_WIDE = 8
"""Keys of a single object from which on some of them are chosen."""
_MANY_LINES = 20


@dataclass(frozen=True, slots=True)
class _Draft:
    """The draft in progress: the characters of all answers, and the places with long texts and the share left there."""

    total: int
    level: Level
    texts: list[tuple[float, Profile]] = field(default_factory=list)

    def is_little(self, chars: float) -> bool:
        return chars < LITTLE * self.total

    def share(self, chars: float) -> str:
        share = chars / self.total
        return (f"{share:.0%}" if share >= 0.01 else "under 1%") + " of the characters"


def suggested_steps(root: Profile, level: Level) -> list[Step]:
    """Return the steps for answers with this profile; later steps take into account what earlier ones leave."""
    if root.texts and not root.objects and not root.lists:
        return [_cut_answer(root, level)]
    draft = _Draft(max(1, root.chars), level)
    steps = [*_unwraps(root, draft)]
    steps += [*_walk(root, 1.0, draft)][:_MAX_STEPS]
    steps += _cut_texts(draft)
    empty = sum(place.empty for place in root.walk())
    if empty * 200 >= draft.total:
        steps.append(Step({"compact": True}, f"{draft.share(empty)}: keys without a value"))
    return steps


def _cut_answer(root: Profile, level: Level) -> Step:
    lines = max((text.count("\n") for text in root.samples if type(text) is str), default=0)
    reason = f"The answer is a text of up to {root.max_text:,} characters"
    if lines > _MANY_LINES:
        tail = level.whole // 4
        return Step(
            {"truncate": {"head": level.whole - tail, "tail": tail}}, f"{reason}, {lines:,} lines: both ends stay"
        )
    return Step({"truncate": level.whole}, f"{reason}: its beginning stays")


def _unwraps(root: Profile, draft: _Draft) -> Iterator[Step]:
    for place in root.walk():
        is_json = place.encoded and place.path and place.encoding == "JSON"
        if is_json and not draft.is_little(place.encoded_chars) and not _is_hidden(place):
            count = f"{place.encoded:,} texts contain JSON" if place.encoded > 1 else "A text contains JSON"
            yield Step(at(place.text, {"unwrap": True}), f"{count}: it is shorter without its quotes, and readable")


def _walk(place: Profile, left: float, draft: _Draft) -> Iterator[Step]:
    """Yield steps for a place and below, with `left` the share of its values that earlier steps leave."""
    level = draft.level
    if draft.is_little(place.chars * left) or _is_hidden(place):
        return
    if place.max_text > level.text and place.texts:
        draft.texts.append((left, place))
    record = place.keys[None] if place.is_map else place.each
    if place.each is not None:
        limit = level.items if -1 not in place.path and None not in place.path else level.inner
        if place.max_items > limit:
            yield _limit(place, place.each, limit, draft)
            left *= min(1.0, limit / max(place.items / place.lists, limit))
        record = place.each
    is_single = record is None and place.objects
    if is_single and level.alone and len(place.keys) >= _WIDE and place.path:
        record = place
    if record is not None and record.objects:
        # `keep` at a list means each of its items. The values of a map are named by `.*`.
        path = place.text if record is place.each else record.text
        found = keep_step(record, path, left, draft.total, level)
        if found is not None:
            yield found[0]
            yield from _walk_kept(record, found[1], (), left, draft)
            return
    dropped: set[str] = set()
    if is_single and (drop := _drop(place, left, draft)) is not None:
        yield drop
        dropped = set(drop.keys["drop"])
    below = place.keys.values() if dropped else sorted(place.below(), key=lambda below: -below.chars)
    for inner in below:
        if not dropped or key_text((str(inner.path[-1]),)) not in dropped:
            yield from _walk(inner, left, draft)


def _walk_kept(record: Profile, kept: frozenset[Keys], above: Keys, left: float, draft: _Draft) -> Iterator[Step]:
    """Yield steps for what a record keeps."""
    for name, below in record.keys.items():
        keys = (*above, str(name))
        if keys in kept:
            yield from _walk(below, left, draft)
        elif any(other[: len(keys)] == keys for other in kept):
            inner = below.each if below.each is not None and not below.keys else below
            yield from _walk_kept(inner, kept, keys, left, draft)


def _limit(place: Profile, record: Profile, limit: int, draft: _Draft) -> Step:
    lists = "" if place.lists == 1 else f" in {place.lists:,} lists"
    average = place.chars // max(1, place.items)
    reason = f"{draft.share(place.chars)}: {place.items:,} items{lists} of about {average:,} characters"
    action: dict[str, Any] = {"limit": limit}
    rank = sort_key(record)
    if rank is not None:
        action["sort_by"] = rank[0]
        reason += f"; {rank[1]}"
    condition = always_keep(record)
    if condition:
        action["always_keep"] = condition
    return Step(at(place.text, action), reason)


def _drop(place: Profile, left: float, draft: _Draft) -> Step | None:
    """Return the step that drops large keys for screens and machines, and at strict levels those rarely asked for."""
    dropped: list[Profile] = []
    for name, below in place.keys.items():
        size = below.chars * left
        if name is None or not is_writable((name,)) or draft.is_little(size):
            continue
        is_unasked = worth(name) == 1 and size < 0.25 * draft.total and below.texts > 0
        if worth(name) == 0 or (0 < draft.level.record <= 350 and is_unasked):
            dropped.append(below)
    if not dropped or len(dropped) == len(place.keys):
        return None
    names = [str(below.path[-1]) for below in dropped]
    is_for_machines = all(worth(name) == 0 for name in names)
    why = "for screens and programs, by the names" if is_for_machines else "large, and rarely asked for, by the names"
    share = draft.share(sum(below.chars for below in dropped) * left)
    return Step(at(place.text, {"drop": [key_text((name,)) for name in names]}), f"{share}: {why}")


def _cut_texts(draft: _Draft) -> Iterator[Step]:
    texts = sorted(draft.texts, key=lambda entry: -entry[0] * entry[1].chars)
    if len(texts) > _MAX_TEXTS:
        longest = max(place.max_text for _, place in texts)
        reason = (
            f"Long texts at {len(texts):,} places, the longest of {longest:,} characters; markers name the indicators"
        )
        yield Step({"truncate": draft.level.text}, reason)
        return
    for left, place in texts:
        number = f"{place.texts:,} texts" if place.texts > 1 else "a text"
        reason = f"{draft.share(place.chars * left)}: {number} of up to {place.max_text:,} characters"
        yield Step(at(place.text, {"truncate": draft.level.text}), reason)


def _is_hidden(place: Profile) -> bool:
    return not is_writable(tuple(token for token in place.path if type(token) is str))
