"""Whether the form of a rule proves that a second pass over its result changes nothing (law 5).

The proof only decides whether the engine can skip that second pass: loading rejects no rule for it. `check` searches
for counterexamples to rules that are not proven (`reducer.analysis.counterexamples`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from reducer.paths import Chain, names_of
from reducer.rules.model import Step

_STRUCTURAL = frozenset({"limit", "keep", "drop"})
"""Actions that only select keys and items."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What a step depends on: `chain` below `base`, of the whole return or of one item after the other."""

    base: Chain
    chain: Chain
    whole: bool


class Conflict(NamedTuple):
    """Step `reader` depends on the keys `chain` of the return, and step `remover` changes what is there."""

    reader: Step
    chain: Chain
    remover: Step


def is_statically_idempotent(steps: tuple[Step, ...]) -> bool:
    """Return whether all steps only select keys and items, and none can change what a condition reads."""
    structural = all(
        step.op.verb() in _STRUCTURAL and not step.preserves and not (step.when and step.when.where) for step in steps
    )
    return structural and not any(conflicts(steps))


def conflicts(steps: tuple[Step, ...]) -> Iterator[Conflict]:
    """Yield each step that may choose otherwise in a second pass, with the step that changes what it depends on."""
    for number, step in enumerate(steps):
        for read in _reads(step):
            for later in steps[number:]:
                if _removes(later, read):
                    yield Conflict(step, (*read.base, *read.chain), later)


def same_place(a: Chain, b: Chain) -> bool:
    """Return whether two chains of keys may lead to one place."""
    return len(a) == len(b) and _starts(a, b)


def _reads(step: Step) -> Iterator[_Read]:
    place = names_of(step.path.shape)
    for shape, expression in step.path.filters:
        for chain in expression.reads:
            yield _Read(names_of(shape), chain, False)
    for base, chain in step.op.reads():
        yield _Read((*place, *base), chain, False)
    for chain in step.op.reads_return():
        yield _Read((), chain, True)


def _removes(step: Step, read: _Read) -> bool:
    place, full = names_of(step.path.shape), (*read.base, *read.chain)
    for below in step.op.shortens():
        items = (*place, *below)
        # Items of the list that is read one by one are removed as a whole: nothing depends on them any more.
        if (read.whole or len(items) > len(read.base)) and (_starts(items, full) or _starts(full, items)):
            return True
    if _starts(full, place):
        return step.op.takes(full[len(place) :])
    # Reading a value includes reading everything in it.
    return _starts(place, full) and step.op.takes(())


def _starts(chain: Chain, head: Chain) -> bool:
    return len(chain) >= len(head) and all(a == b or "*" in (a, b) for a, b in zip(chain, head, strict=False))
