"""Whether the form of a rule proves that a second pass over its result changes nothing (law 5).

The proof only decides whether the engine can skip that second pass: loading rejects no rule for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from reducer.paths import Chain, names_of
from reducer.rules.model import Step

_STRUCTURAL = frozenset({"limit", "keep", "drop"})
"""Actions that only select keys and items."""


def is_statically_idempotent(steps: tuple[Step, ...]) -> bool:
    """Return whether all steps only select keys and items, and none can change what a condition reads."""
    structural = all(
        step.op.verb() in _STRUCTURAL and not step.preserves and not (step.when and step.when.where) for step in steps
    )
    return structural and not any(
        _removes(later, *read) for number, step in enumerate(steps) for read in _reads(step) for later in steps[number:]
    )


def same_place(a: Chain, b: Chain) -> bool:
    """Return whether two chains of keys may lead to one place."""
    return len(a) == len(b) and _starts(a, b)


def _reads(step: Step) -> Iterator[tuple[Chain, Chain, bool]]:
    """Yield what a step depends on: a chain below a base, of the whole return (true) or of one item after the other."""
    place = names_of(step.path.shape)
    for shape, expression in step.path.filters:
        yield from ((names_of(shape), chain, False) for chain in expression.reads)
    yield from (((*place, *base), chain, False) for base, chain in step.op.reads())
    yield from (((), chain, True) for chain in step.op.reads_return())


def _removes(step: Step, base: Chain, chain: Chain, whole: bool) -> bool:
    """Return whether a step can remove or change what another one reads."""
    place, full = names_of(step.path.shape), (*base, *chain)
    for below in step.op.shortens():
        items = (*place, *below)
        # Items of the list that is read one by one are removed as a whole: nothing depends on them any more.
        if (whole or len(items) > len(base)) and (_starts(items, full) or _starts(full, items)):
            return True
    if _starts(full, place):
        return step.op.takes(full[len(place) :])
    # Reading a value includes reading everything in it.
    return _starts(place, full) and step.op.takes(())


def _starts(chain: Chain, head: Chain) -> bool:
    return len(chain) >= len(head) and all(a == b or "*" in (a, b) for a, b in zip(chain, head, strict=False))
