"""What is said of a record, an item of a list or a value of a map: which of its keys stay, and what ranks it."""

from __future__ import annotations

from collections.abc import Iterator

from reducer.path.written import Token, path_text
from reducer.profile import Spot
from reducer.proposal.levels import LITTLE, Level
from reducer.proposal.names import grave, ranks, tells_time, worth
from reducer.proposal.proposed import Proposed

Chain = tuple[str, ...]
_MOST_LEAVES = 60
_FEWEST_KEYS = 3
_ROOMY = 1.25
_SUREST = 0.6
_MANY = 5
_NAMED = 10


def keep_keys(record: Spot, at: tuple[Token, ...], left: float, total: int, level: Level) -> tuple[Proposed, frozenset[Chain]] | None:
    """Choose the keys of a record: by what their names tell, the shorter first, to the characters that the level has for one."""
    if not level.record or record.is_map or record.chars * left < 3 * LITTLE * total:
        return None
    leaves = [(chain, below) for chain, below in _leaves(record, 3) if sayable(chain)]
    by_chain = dict(leaves)
    if len(leaves) <= _FEWEST_KEYS:
        return None
    count = max(1, record.objects)
    costs = {chain: _cost(below, level) / count for chain, below in leaves}
    size = sum(costs.values())
    is_one_of_many = record.path[-1:] in ((-1,), (None,))
    most = min(level.record, size * level.part) if is_one_of_many else size * level.part
    if size <= most * _ROOMY:
        return None
    read = _decided_by(record)
    chosen: set[Chain] = {chain for chain in costs if chain in read}
    room = most - sum(costs[chain] for chain in chosen)
    for chain, below in sorted(leaves, key=lambda leaf: (-_worth(*leaf), len(leaf[0]), costs[leaf[0]])):
        if chain not in chosen and _worth(chain, below) and len(chosen) < _MOST_LEAVES and (costs[chain] <= room or len(chosen) < _FEWEST_KEYS):
            chosen.add(chain)
            room -= costs[chain]
    if len(chosen) == len(leaves) or not chosen:
        return None
    names = [key_text(*chain) for chain, _ in leaves if chain in chosen]
    others = sorted(chain for chain, _ in leaves if chain not in chosen)
    others.sort(key=lambda chain: (-_worth(chain, by_chain[chain]), costs[chain]))
    reason = f"{'Each' if is_one_of_many else 'This object'} has {len(leaves):,} keys in about {record.chars // count:,} characters; "
    reason += f"these are asked for most, by their names. Left out: {', '.join(key_text(*chain) for chain in others[:_NAMED])}"
    reason += f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
    # A list is named itself: `keep` means each of its items. The values of a map are named by `.*`.
    return Proposed(at if record.path[-1:] == (-1,) else record.path, {"keep": names}, reason), frozenset(chosen)


def ranked_by(item: Spot) -> tuple[str, str] | None:
    """Give what to choose items by: how much they matter, else when they were last heard of."""
    found: list[tuple[int, str, str]] = []
    for chain, below in _own(item):
        if below.seen and below.values >= item.objects * _SUREST and not below.objects and not below.lists and sayable(chain):
            further = len(chain) > 1
            when = tells_time(chain[-1], below.seen)
            if ranks(chain[-1], below.seen):
                found.append((10 - further, path_text(chain), "the highest stay"))
            elif when:
                found.append((when * 2 - further, path_text(chain), "the newest stay"))
    best = max(found, key=lambda entry: entry[0], default=None)
    return None if best is None else (best[1], best[2])


def _own(item: Spot) -> Iterator[tuple[Chain, Spot]]:
    """Give the keys of an object, and those of objects in it: what an expression on one item reads as one value."""
    for name, below in item.keys.items():
        if name is not None:
            yield (name,), below
            for inner, further in below.keys.items():
                if inner is not None and not below.lists:
                    yield (name, inner), further


def always_kept(item: Spot) -> str:
    for name in item.keys:
        below = item.keys[name]
        if name is not None and worth(name) == 2 and "'" not in name:
            words = grave(below.seen)
            if words and all("'" not in word and "\\" not in word for word in words):
                text = path_text((name,))
                return f"{text} == '{words[0]}'" if len(words) == 1 else f"contains([{', '.join(repr(word) for word in words)}], {text})"
    return ""


def _decided_by(record: Spot) -> set[Chain]:
    rank, words = ranked_by(record), always_kept(record)
    return {chain for chain, _ in _own(record) if (rank is not None and path_text(chain) == rank[0]) or (words and path_text(chain) in words)}


def _cost(spot: Spot, level: Level) -> float:
    """Estimate the characters that a leaf of all records will have once its lists and texts are cut."""
    size = float(spot.chars)
    if spot.each is not None and spot.lists and spot.longest > level.inner:
        size *= min(1.0, level.inner / max(1.0, spot.items / spot.lists))
    if spot.texts and spot.longest_text > level.text:
        size = min(size, spot.texts * (level.text + 40.0))
    return size


def _leaves(spot: Spot, depth: int, at: Chain = ()) -> Iterator[tuple[Chain, Spot]]:
    """Give the keys of an object, for small objects in it their keys instead."""
    for name, below in spot.keys.items():
        if name is None:
            continue
        chain = (*at, name)
        inner = below.each if below.each is not None and not below.objects else below
        if depth > 1 and inner.objects and inner.keys and not inner.is_map and len(inner.keys) <= _MOST_LEAVES:
            yield from _leaves(inner, depth - 1, chain)
        else:
            yield chain, below


def _worth(chain: Chain, spot: Spot) -> int:
    own = 0 if 0 in map(worth, chain) else worth(chain[-1])
    # What is the same in all records tells nothing about one of them.
    return own - 1 if own and len(spot.seen) >= _MANY and spot.seen.count(spot.seen[0]) == len(spot.seen) else own


def sayable(chain: Chain) -> bool:
    return all(name and name != "*" and name.isprintable() and len(name) <= 200 for name in chain)


def key_text(*chain: str) -> str:
    """Write a key for `keep` and `drop`, where a bare word stands for itself."""
    if any(set(name) & set('."[]|') for name in chain):
        return path_text(chain)
    return ".".join(chain)
