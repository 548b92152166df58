"""`max_chars`: limit all texts and lists of a return to the loosest level at which it is short enough."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from reducer.engine.restore import Restored, restore
from reducer.plan.nodes import copied
from reducer.plan.place import Place, Work
from reducer.rules import Rule, Step

_LAST = (120, 3)
"""The most characters of a text and items of a list at the last level, at which a return is still readable."""

Level = tuple[int, int]
"""The most characters of a text and items of a list."""


def levels(most: int) -> list[Level]:
    """Return the limits that are tried for a target of `most` characters, from the loosest to the last.

    Each is close to the previous one, so that one of them uses most of the target. Items become fewer twice as fast as
    texts become shorter, because a list can be as long as a return although its items are short.
    """
    texts, items = max(_LAST[0], most), max(_LAST[1], most // 2)
    found = [(texts, items)]
    while (texts, items) != _LAST:
        texts, items = max(_LAST[0], texts * 23 // 24), max(_LAST[1], items * 11 // 12)
        found.append((texts, items))
    return found


def fit(work: Work, rule: Rule, reads: frozenset[str], ran: Sequence[Step]) -> Restored:
    """Apply the loosest level at which a return has at most `max_chars` characters, and restore what must not vanish.

    `ran` contains the steps that ran in this pass.
    """
    # A return that fits is left alone by a second pass. One that does not fit at any level gets the last one, which
    # leaves its own result alone, as looser levels do: so a second pass takes it again, and the size of the result need
    # not be monotone in the level, because bisecting a size that is not only finds a result that uses less.
    most = rule.max_chars or 0
    base = work.top.plan

    def space() -> int:
        """Return how many more characters the result can have with all markers."""
        left = most - _size(work)
        if left >= 0 and (restored := restore(work, rule, reads, space=None)).nodes:
            left = most - _size(work)
            restored.undo()
        return left

    def space_at(level: Level) -> int:
        work.top.inside = {} if base is None else {0: copied(base)}
        _limit_all(work, rule, level, ran)
        return space()

    left = space()
    if left < 0:
        series = levels(most)
        if space_at(series[-1]) < 0:
            return restore(work, rule, reads, space=0)
        loosest = bisect_left(series, True, hi=len(series) - 1, key=lambda level: space_at(level) >= 0)
        left = space_at(series[loosest])
    restored = restore(work, rule, reads, left)
    # Escapes in a text within a text cost more than what is counted, so a result that is too long gets half as many
    # of the entities that are preserved by default.
    while left > 0 and restored.nodes and rule.preserves_by_default and _size(work) > most:
        restored.undo()
        left //= 2
        restored = restore(work, rule, reads, left)
    return restored


def _size(work: Work) -> int:
    """Count the characters of the result."""
    return work.top.size(work.top.built())


def _limit_all(work: Work, rule: Rule, level: Level, ran: Sequence[Step]) -> None:
    """Limit every text and list of a return to one level.

    A list that a step sorts keeps its best items, any other list items from both ends. (Restored items are thin and
    sort last, so a second pass makes the same choice.) Steps that ran and select by what this level cuts run again: for
    example, the edges of nodes that this level removes are removed too.
    """
    longest, most = level
    for step in rule.steps:
        if step.op.prefers():
            for place in work.root().find(step.path):
                if type(place.value) is list and len(items := place.contents()) > most:
                    place.keep_items(step.op.best(items, most))
    _limit(work.root(), longest, most)
    limited = work.edits
    for step in ran:
        if any(step.op.reads()):
            step.apply(work)
    # A level leaves no text or list empty, but these steps can.
    for step in ran if work.edits > limited else ():
        if step.op.runs_again:
            step.apply(work)


def _limit(place: Place, longest: int, most: int) -> None:
    if type(place.value) is str:
        if len(place.value) > longest:
            place.cut(longest, 0)
        return
    if type(place.value) is list and (count := len(place.keys())) > most:
        tail = most * 3 // 10
        place.keep_items([*range(most - tail), *range(count - tail, count)])
    for child in place.children(longest):
        _limit(child, longest, most)
