"""Which cuts hold from which size on: the ones that save most at a price for each reference that is lost."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reducer.learn.cuts import GATES, Cut
from reducer.learn.evidence import Seen
from reducer.learn.trial import Try

LEAST_SAVED = 0.01
"""Share of a tool's characters that a further choice must save: few choices generalise."""


class Tier(NamedTuple):
    """From `gate` characters on a return is cut so, until the next tier."""

    gate: int
    cut: Cut


Plan = tuple[Tier, ...]


class Worth(NamedTuple):
    """What a cut does to the returns of one range of sizes: characters saved, references that are lost, and the risk of losing more."""

    saved: float = 0.0
    lost: float = 0.0
    risk: float = 0.0


Table = Mapping[tuple[Cut, int], Worth]


def table(returns: Sequence[Seen], cuts: Sequence[Cut], tried: Try, weigh: Mapping[int, float], doubt: float) -> Table:
    """Try every cut on every return, and sum up by cut and range of sizes. `weigh` gives for a return, by its id, what its references count."""
    ranges: dict[int, list[Seen]] = {}
    for seen in returns:
        number = bisect_right(GATES, seen.chars) - 1
        if number >= 0:
            ranges.setdefault(number, []).append(seen)
    found: dict[tuple[Cut, int], Worth] = {}
    for number, inside in ranges.items():
        wanted = sum(len(seen.wanted) * weigh.get(id(seen), 1.0) for seen in inside)
        for cut in cuts:
            saved = lost = changed = 0.0
            for seen in inside:
                left = tried(cut, seen)
                saved += seen.chars - left.chars
                lost += len(left.gone) * weigh.get(id(seen), 1.0)
                changed += left.chars < seen.chars
            if changed:
                # As if one reference more had been seen, of which a part was lost: nothing is sure after few.
                risk = lost if cut.is_bare else (wanted + doubt) * (lost + doubt) / (wanted + 2 * doubt)
                found[cut, number] = Worth(saved, lost, risk)
    return found


def planned(worth: Table, price: float, total: int) -> Plan:
    """Give the best tiers when a lost reference costs `price` characters: of one family, stricter for larger returns. `total`: all characters."""
    families: dict[object, list[Cut]] = {}
    for cut, _ in worth:
        members = families.setdefault(cut.family, [])
        if cut not in members:
            members.append(cut)
    best: tuple[float, Plan] = (0.0, ())
    for members in families.values():
        found = _of_family(members, worth, price, LEAST_SAVED * total)
        if found[0] > best[0] + 1e-9:
            best = found
    return best[1]


def _of_family(members: Sequence[Cut], worth: Table, price: float, least: float) -> tuple[float, Plan]:
    nothing: tuple[float, Plan] = (0.0, ())
    bare = Cut(members[0].way)
    # For each cut that holds at a size, the best tiers that lead to it. What costs nothing is done at all sizes.
    reached: dict[Cut | None, tuple[float, Plan]] = {bare: (0.0, (Tier(GATES[0], bare),))} if bare.way else {None: nothing}
    for number, gate in enumerate(GATES):
        following: dict[Cut | None, tuple[float, Plan]] = {} if bare.way else {None: nothing}
        for cut in [bare, *(cut for cut in members if not cut.is_bare)] if bare.way else members:
            gain = _gain(worth.get((cut, number)), price)
            ways = [reached[cut]] if cut in reached else []
            # A tier begins where something shows that it pays, but for one that holds at all sizes.
            if not cut.is_bare and (number == 0 if cut.holds_always else (cut, number) in worth):
                ways += [
                    (value - least, (*plan, Tier(gate, cut)))
                    for other, (value, plan) in reached.items()
                    if other != cut and (other is None or other.is_bare or (cut.target is None and cut.is_stricter(other)))
                ]
            if ways:
                value, plan = max(ways, key=lambda way: (way[0], -len(way[1])))
                following[cut] = (value + gain, plan)
        reached = following
    return max(reached.values(), key=lambda way: (way[0], -len(way[1])))


def _gain(worth: Worth | None, price: float) -> float:
    return 0.0 if worth is None else worth.saved - price * worth.risk


def cut_for(plan: Plan, chars: int) -> Cut | None:
    """Give the cut that a plan has for a return of so many characters."""
    found = None
    for tier in plan:
        if chars >= tier.gate:
            found = tier.cut
    return found
