"""`max_chars`: limit all texts and lists of a return, level by level, until it is short enough."""

from __future__ import annotations

from collections.abc import Sequence

from reducer.engine.restore import Restored, restore
from reducer.plan.nodes import build
from reducer.plan.place import Place, Work
from reducer.rules import Rule, Step
from reducer.values import chars

LEVELS = ((4000, 100), (2000, 50), (1000, 25), (500, 12), (250, 6), (120, 3))
"""The most characters of a text and items of a list at each level. A level about halves the result of the previous one;
a return is still readable at the last level.
"""


def fit(work: Work, rule: Rule, reads: frozenset[str], ran: Sequence[Step]) -> Restored:
    """Apply levels of limits until the return has at most `max_chars` characters, and restore what must not vanish.

    `ran` contains the steps that ran in this pass.
    """
    preserved, most = 0, rule.max_chars or 0
    for level in (None, *LEVELS):
        edits = work.edits
        if level is not None:
            _limit_all(work, rule, level, ran)
        # Restoring can only make a return longer. What one level restores, further levels restore too: more entities
        # than `max_chars` never fit (three times as fast for 90,000 indicators).
        if (level is None or work.edits > edits) and preserved <= most and _fits(work, most):
            restored = restore(work, rule, reads)
            if _fits(work, most):
                return restored
            preserved = restored.preserved
            restored.undo()
    return restore(work, rule, reads)


def _fits(work: Work, most: int) -> bool:
    top = work.top
    value = build(top.value, top.inside.get(0))
    return chars(value if top.is_json else top.write(value)) <= most


def _limit_all(work: Work, rule: Rule, level: tuple[int, int], ran: Sequence[Step]) -> None:
    """Limit every text and list of a return to one level.

    A list that a step sorts keeps its best items, any other list its first items. (Restored items are thin and sort
    last, so a second pass makes the same choice.) Steps that ran and select by what this level cuts run again: for
    example, the edges of nodes that this level removes are removed too.
    """
    longest, most = level
    for step in rule.steps:
        if step.op.prefers():
            for place in work.root().find(step.path):
                if type(place.value) is list and len(items := place.contents()) > most:
                    place.keep_items(step.op.best(items, most))
    _limit(work.root(), longest, most)
    for step in ran:
        if step.op.runs_again or any(step.op.reads()):
            step.apply(work)


def _limit(place: Place, longest: int, most: int) -> None:
    if type(place.value) is str:
        if len(place.value) > longest:
            place.cut(longest, 0)
        return
    if type(place.value) is list and len(place.keys()) > most:
        place.keep_items(range(most))
    for child in place.children():
        _limit(child, longest, most)
