"""`max_chars`: a fixed series of limits, each stricter than the one before, on all texts and lists of a return."""

from __future__ import annotations

from collections.abc import Sequence

from reducer.engine.place import Place, Work
from reducer.engine.plan import build
from reducer.engine.restore import Restored, restore
from reducer.rules import Step
from reducer.values import chars

LEVELS = ((4000, 100), (2000, 50), (1000, 25), (500, 12), (250, 6), (120, 3))
"""Characters of a text and items of a list that stay at each level. Each about halves what the one before left; at the
last a return can still be read.
"""


def fit(work: Work, ran: Sequence[Step]) -> Restored:
    """Restore what must not vanish, after as many levels of limits as it takes to have at most `max_chars` characters.

    `ran` has the steps that ran.
    """
    for level in (None, *LEVELS):
        edits = work.edits
        if level is not None:
            _limit_all(work, level, ran)
        if (level is None or work.edits > edits) and _fits(work):  # restoring only adds
            restored = restore(work)
            if _fits(work):
                return restored
            restored.undo()
    return restore(work)


def _fits(work: Work) -> bool:
    top, most = work.top, work.rule.max_chars or 0
    left = build(top.value, top.inside.get(0))
    return chars(left if top.is_json else top.write(left), most) <= most


def _limit_all(work: Work, level: tuple[int, int], ran: Sequence[Step]) -> None:
    """Cut every text and shorten every list of a return to a level.

    A list that a step orders keeps its best items, others keep their first. (Restored items are thin and come last in
    such an order, so a second pass chooses alike.) Steps that `ran` and look at what is left of the return run again:
    edges of removed nodes go too.
    """
    longest, most = level
    for step in work.rule.steps:
        if step.op.prefers():
            for place in work.root().find(step.path):
                if type(place.value) is list and len(items := place.contents()) > most:
                    place.keep_items(step.op.best(items, most))
        if step in ran:
            _run_again(step, work)
    _limit(work.root(), longest, most)
    for step in ran:
        _run_again(step, work)


def _run_again(step: Step, work: Work) -> None:
    if step.op.reads_return():
        for place in work.root().find(step.path):
            if type(place.value) in step.op.accepts:
                step.op.apply(place, work.root())


def _limit(place: Place, longest: int, most: int) -> None:
    if type(place.value) is str:
        if len(place.value) > longest:
            place.cut(longest, 0)
        return
    if type(place.value) is list and len(place.indices()) > most:
        place.keep_items(range(most))
    for child in place.children():
        _limit(child, longest, most)
