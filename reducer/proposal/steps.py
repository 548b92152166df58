"""Which steps are proposed for answers like these, each with its reason from the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reducer.path.written import Token
from reducer.profile import Spot
from reducer.proposal.levels import LITTLE, Level
from reducer.proposal.names import worth
from reducer.proposal.proposed import Proposed
from reducer.proposal.records import Chain, always_kept, keep_keys, key_text, ranked_by, sayable

_MOST_STEPS = 14
_MOST_TEXTS = 5
_WIDE = 8
"""Keys of an object of which there is one, above which some of them are chosen."""
Texts = list[tuple[float, Spot]]
"""Spots with long texts, each with the share of them that earlier steps leave."""


def propose(root: Spot, level: Level) -> list[Proposed]:
    """Propose the steps that take as much as `level` says: of what is left by one step the next ones take less."""
    if root.texts and not root.objects and not root.lists:
        return [_whole_text(root, level)]
    total = max(1, root.chars)
    found = [*_unwraps(root, total)]
    texts: Texts = []
    steps = list(_walk(root, 1.0, total, level, texts))
    found += steps[:_MOST_STEPS]
    found += _cut_texts(texts, level, total)
    blanks = sum(spot.empty for spot in root.everywhere())
    if blanks * 200 >= total:
        found.append(Proposed((), {"compact": True}, f"{_share(blanks, total)} of the characters: keys without a value"))
    return found


def _whole_text(root: Spot, level: Level) -> Proposed:
    lines = max((text.count("\n") for text in root.seen if type(text) is str), default=0)
    reason = f"The answer is a text of up to {root.longest_text:,} characters"
    if lines > 20:
        tail = level.whole // 4
        return Proposed((), {"truncate": {"head": level.whole - tail, "tail": tail}}, f"{reason}, {lines:,} lines: both ends stay")
    return Proposed((), {"truncate": level.whole}, f"{reason}: its opening stays")


def _unwraps(root: Spot, total: int) -> Iterator[Proposed]:
    for spot in root.everywhere():
        if spot.saying and spot.path and spot.said >= LITTLE * total and spot.notation == "JSON" and not _hidden(spot.path):
            count = f"{spot.saying:,} texts hold JSON" if spot.saying > 1 else "A text holds JSON"
            yield Proposed(spot.path, {"unwrap": True}, f"{count}: without its quotes it is shorter, and structure to the reader")


def _walk(spot: Spot, left: float, total: int, level: Level, texts: Texts) -> Iterator[Proposed]:
    """Propose for a spot and below, with `left` the share of its values that earlier steps leave."""
    if spot.chars * left < LITTLE * total or _hidden(spot.path):
        return
    if spot.longest_text > level.text and spot.texts:
        texts.append((left, spot))
    if spot.each is not None:
        most = level.items if -1 not in spot.path and None not in spot.path else level.inner
        average = spot.items / spot.lists
        if spot.longest > most:
            step = _limit(spot, most, total)
            yield step
            left *= min(1.0, most / max(average, most))
        record: Spot | None = spot.each
    else:
        record = spot.keys[None] if spot.is_map else None
    if record is not None and record.objects:
        keep = keep_keys(record, spot.path, left, total, level)
        if keep is not None:
            step, chains = keep
            yield step
            yield from _within(record, chains, (), left, total, level, texts)
            return
    elif record is None and spot.objects:
        keep = keep_keys(spot, spot.path, left, total, level) if level.alone and len(spot.keys) >= _WIDE and spot.path else None
        if keep is not None:
            step, chains = keep
            yield step
            yield from _within(spot, chains, (), left, total, level, texts)
            return
        drop = _drop(spot, left, total, level)
        if drop is not None:
            yield drop
            gone = set(drop.action["drop"])
            for below in spot.keys.values():
                if key_text(str(below.path[-1])) not in gone:
                    yield from _walk(below, left, total, level, texts)
            return
    for below in sorted(spot.below(), key=lambda below: -below.chars):
        yield from _walk(below, left, total, level, texts)


def _within(record: Spot, chains: frozenset[Chain], at: Chain, left: float, total: int, level: Level, texts: Texts) -> Iterator[Proposed]:
    """Propose for what a record keeps."""
    for name, below in record.keys.items():
        chain = (*at, str(name))
        if chain in chains:
            yield from _walk(below, left, total, level, texts)
        elif any(other[: len(chain)] == chain for other in chains):
            inner = below.each if below.each is not None and not below.keys else below
            yield from _within(inner, chains, chain, left, total, level, texts)


def _limit(spot: Spot, most: int, total: int) -> Proposed:
    lists = "" if spot.lists == 1 else f" in {spot.lists:,} lists"
    average = spot.chars // max(1, spot.items)
    reason = f"{_share(spot.chars, total)} of the characters: {spot.items:,} items{lists} of about {average:,} characters"
    action: dict[str, Any] = {"limit": most}
    rank = ranked_by(spot.each) if spot.each is not None else None
    if rank is not None:
        key, why = rank
        action["sort_by"] = key
        reason += f"; {why}"
    bad = always_kept(spot.each) if spot.each is not None else ""
    if bad:
        action["always_keep"] = bad
    return Proposed(spot.path, action, reason)


def _drop(spot: Spot, left: float, total: int, level: Level) -> Proposed | None:
    """Take the large keys of an object that are for screens and machines, from some level on those that nobody asks for."""
    names, size, machines = [], 0, True
    for name, below in spot.keys.items():
        if name is None or not sayable((name,)) or below.chars * left < LITTLE * total:
            continue
        if worth(name) == 0 or (level.record and level.record <= 350 and worth(name) == 1 and below.chars * left < 0.25 * total and below.texts > 0):
            names.append(key_text(name))
            size += below.chars
            machines = machines and worth(name) == 0
    if not names or len(names) == len(spot.keys):
        return None
    why = "for screens and programs, by the names" if machines else "large, and by the names not asked for most"
    return Proposed(spot.path, {"drop": names}, f"{_share(size * left, total)} of the characters: {why}")


def _cut_texts(texts: Texts, level: Level, total: int) -> Iterator[Proposed]:
    texts.sort(key=lambda entry: -entry[0] * entry[1].chars)
    if len(texts) > _MOST_TEXTS:
        longest = max(spot.longest_text for _, spot in texts)
        reason = f"Long texts at {len(texts):,} places, the longest of {longest:,} characters; the indicators in what is cut stay named"
        yield Proposed((), {"truncate": level.text}, reason)
        return
    for left, spot in texts:
        number = f"{spot.texts:,} texts" if spot.texts > 1 else "a text"
        reason = f"{_share(spot.chars * left, total)} of the characters: {number} of up to {spot.longest_text:,} characters"
        yield Proposed(spot.path, {"truncate": level.text}, reason)


def _hidden(path: tuple[Token, ...]) -> bool:
    return not sayable(tuple(token for token in path if type(token) is str))


def _share(size: float, total: int) -> str:
    share = size / total
    return f"{share:.0%}" if share >= 0.01 else "under 1%"
