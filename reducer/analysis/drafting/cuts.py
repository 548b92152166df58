"""What a learned rule may cut: limits on lists and texts in a few strengths, and the rule that a plan of them makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reducer.analysis.drafting.evidence import RecordedReturn
from reducer.analysis.drafting.reused import as_entities, entity_type
from reducer.analysis.drafting.rule_text import DraftRule, Step

LENGTHS = (400, 800, 1500, 2000, 3000, 4000, 6000, 8000, 12000)
"""Characters of texts that are tried."""
CELL_LENGTHS = (None, 100, 200, 400, 800)
"""Characters of texts that are tried where lists are limited: cells of tables."""
COUNTS = (2, 5, 10, 30, 100)
"""Items of lists that are tried."""
TARGETS = (2000, 3000, 4000, 6000, 8000, 16000)
"""Characters of whole returns that are tried."""
MIN_CHARS = 400
"""Characters below which a return is left alone."""
GATES = (MIN_CHARS, 800, 1500, 3000, 4500, 6000, 8000, 12000, 24000, 48000)
"""Characters from which on a cut may apply."""
KEY_TYPES = ("ioc", "cve", "mitre_attack", "threat_actor")
"""What blind cuts keep by default."""
_BOTH_ENDS = 5


@dataclass(frozen=True, slots=True)
class FreeSteps:
    """Steps that lose nothing: those before all cuts, and those after them."""

    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()


class Cut(NamedTuple):
    """Limits for returns: `items` of the lists at `lists`, characters of texts (`length`), `target` is `max_chars`.

    `free`: the number of the free steps that it goes with; a cut without limits is those alone. `indicators`: key
    indicators stay. `reused`: values that agents used in other tasks stay.
    """

    free: int = 0
    lists: tuple[str, ...] = ()
    items: int | None = None
    length: int | None = None
    indicators: bool = True
    target: int | None = None
    reused: bool = False

    @property
    def family(self) -> tuple[Any, ...]:
        """Return what cuts have in common of which one may follow the other for larger returns."""
        return self.free, self.indicators, self.target, self.reused

    @property
    def is_bare(self) -> bool:
        """Return whether nothing is limited."""
        return self.items is None and self.length is None and self.target is None

    @property
    def is_for_all_sizes(self) -> bool:
        """Return whether the cut needs returns of all sizes: a gate on its target would also gate its steps."""
        return self.target is not None and self.free > 0

    def is_stricter(self, other: Cut) -> bool:
        """Return whether all limits of a cut of the same family are as strict or stricter."""
        pairs = ((self.items, other.items), (self.length, other.length))
        return all(old is None or (new is not None and new <= old) for new, old in pairs)

    def preserve(self, kind: str) -> dict[str, Any]:
        """Return what stays of blind cuts; `kind` is the entity type of the reused values."""
        if self.reused:
            return {"preserve": [*(KEY_TYPES if self.indicators else ()), kind]}
        return {} if self.indicators else {"preserve": []}

    def steps(self, gate: int, kind: str) -> Iterator[dict[str, Any]]:
        """Yield the steps for returns of at least `gate` characters."""
        preserve = self.preserve(kind)
        for path in self.lists if self.items is not None else ():
            limit = {"limit": both_ends(self.items), **_when(gate), **(preserve if self.reused else {})}
            yield {"path": path, **limit} if path != "@" else limit
        if self.length is not None:
            yield {"truncate": self.length, **_when(gate), **preserve}


class Tier(NamedTuple):
    """Returns of `gate` characters and more are cut so, until the next tier."""

    gate: int
    cut: Cut


Plan = tuple[Tier, ...]


def both_ends(items: int | None) -> Any:
    """Return a limit for a list: of few items some are the last ones, as most lists are in an order."""
    return {"head": items - items // 2, "tail": items // 2} if items is not None and items <= _BOTH_ENDS else items


def cuts(lists: tuple[str, ...], free: Sequence[FreeSteps]) -> Iterator[Cut]:
    """Yield every cut to try for a tool whose returns are long lists at `lists`, with each of the free steps."""
    cuts_rows = any(steps.after for steps in free)
    for number in range(len(free)):
        if number:
            yield Cut(number)
        for indicators in (True, False):
            if not (number and cuts_rows):
                yield from _text_cuts(number, lists, indicators)
            elif not indicators:
                # Steps that cut off the ends of rows do not go with limits on texts.
                yield from (Cut(number, lists, items, indicators=False) for items in COUNTS)
            yield from (Cut(number, target=target, indicators=indicators) for target in TARGETS)


def _text_cuts(number: int, lists: tuple[str, ...], indicators: bool) -> Iterator[Cut]:
    for length in LENGTHS:
        if indicators or not number:
            yield Cut(number, length=length, indicators=indicators)
    for items in COUNTS if lists and not indicators else ():
        yield from (Cut(number, lists, items, length, indicators=False) for length in CELL_LENGTHS)


def rule_of(
    tool: str,
    plan: Plan,
    free: FreeSteps,
    extra: Sequence[Step] = (),
    values: Sequence[str] = (),
    returns: Sequence[RecordedReturn] = (),
) -> DraftRule | None:
    """Return the rule for a plan; None if it does nothing.

    `extra` are steps before all cuts, `values` the reused values, `returns` the evidence for the reasons.
    """
    kind, settings, notes = entity_type(tool), dict[str, Any](), dict[str, str]()
    if values and any(tier.cut.reused for tier in plan):
        settings["entities"] = as_entities(tool, values)
        notes["entities"] = (
            f"{len(values):,} values that agents used, and that returns of several tasks show: they stay."
        )
    steps = [*free.before, *extra]
    limiting = [tier for tier in plan if not tier.cut.is_bare]
    for number, (gate, cut) in enumerate(limiting):
        end = limiting[number + 1].gate if number + 1 < len(limiting) else None
        reason = _reason(returns, gate, end)
        for keys in cut.steps(gate if cut.target is None else 0, kind):
            steps.append(Step(keys, reason))
            reason = ""
        if cut.target is not None:
            settings |= {"max_chars": cut.target, **cut.preserve(kind)}
            notes["max_chars"] = f"{_reason(returns, cut.target, end)}."
            if gate > cut.target and not cut.is_for_all_sizes:
                settings["when"] = {"min_chars": gate}
    steps += free.after
    return DraftRule(tool, tuple(steps), settings, notes) if steps or "max_chars" in settings else None


def _reason(returns: Sequence[RecordedReturn], gate: int, end: int | None) -> str:
    """Return how many returns have so many characters, and how much of everything is in them."""
    inside = [one for one in returns if one.chars >= gate and (end is None or one.chars < end)]
    share = sum(one.chars for one in inside) / max(1, sum(one.chars for one in returns))
    used, of = (sum(len(one.used) for one in some) for some in (inside, returns))
    sizes = f"From {gate:,} characters on" if end is None else f"From {gate:,} to {end:,} characters"
    counts = f"{len(inside):,} of {len(returns):,} returns, {share:.0%} of the characters"
    return f"{sizes}: {counts}, {used:,} of {of:,} later uses"


def _when(gate: int) -> dict[str, Any]:
    return {"when": {"min_chars": gate}} if gate > 1 else {}
