"""`max_chars`: a fixed ladder of limits, each stricter than the one before, on all texts and lists of a return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from reducer.engine.draft import Draft
from reducer.engine.step import apply_step
from reducer.rule import Step

RUNGS = ((4000, 100), (2000, 50), (1000, 25), (500, 12), (250, 6), (120, 3))
"""Characters of a text and items of a list that stay, rung by rung. Each about halves what the one before left; at the last a return can still be read."""


def descend(draft: Draft, value: Any, rung: tuple[int, int], steps: Sequence[Step], ran: Sequence[Step]) -> Any:
    """Cut every text and shorten every list in `value` to what `rung` says; the same object if all are short enough.

    A list that one of the `steps` orders keeps its best items, others keep their first. (What is put back of the others is thin and comes
    last in such an order, so a second pass chooses alike.) Those that `ran` and look at what is left of the return do so again: edges
    of nodes that went go too.
    """
    longest, most = rung
    for step in steps:
        if step.op.prefers():
            value = step.path.update(value, partial(_best, draft, step.op.best, most), draft.note)
        if step in ran:
            value = _again(draft, step, value)

    def walk(value: Any) -> Any:
        if type(value) is str:
            return value if len(value) <= longest else draft.cut(value, longest, 0)
        if type(value) is list and len(value) > most:
            value = draft.take_items(value, range(most))
        return draft.replace(value, walk)

    value = walk(value)
    for step in ran:
        value = _again(draft, step, value)
    return value


def _again(draft: Draft, step: Step, value: Any) -> Any:
    if not step.op.reads_return():
        return value
    draft.continue_with(value)
    return apply_step(step, draft, value)[0]


def _best(draft: Draft, best: Callable[[list[Any], int], Sequence[int]], most: int, place: Any) -> Any:
    opened = draft.opened(place)
    if type(opened) is not list or len(opened) <= most:
        return place
    if opened is not place:
        draft.note(opened, place)
    return draft.take_items(opened, best(opened, most))
