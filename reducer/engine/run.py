"""One pass of a rule over one return: open it, apply the steps, restore, and fit it into `max_chars`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reducer.engine.budget import LEVELS, limit_all
from reducer.engine.opening import leave_out_markers, open_texts
from reducer.engine.place import Work
from reducer.engine.plan import Opened, build
from reducer.engine.references import References
from reducer.engine.restore import Restored, restore
from reducer.engine.scans import Scans
from reducer.rules import Rule, Step, When
from reducer.values import chars


@dataclass(frozen=True, slots=True)
class StepRun:
    """What a step did in a pass: whether it ran, at how many places, and whether it changed anything.

    `step` is None for `max_chars`, whose `number` follows that of the last step.
    """

    step: Step | None
    number: int
    ran: bool
    places: int
    changed: bool


@dataclass(frozen=True, slots=True)
class Pass:
    """A finished plan: the return with its plan, what was restored, and what each step did."""

    top: Opened
    restored: Restored
    steps: tuple[StepRun, ...]


def run_once(rule: Rule, top: Opened, scans: Scans, references: References | None) -> Pass | None:
    """Apply a rule once to an opened return; None if its gate does not hold. Raises `Unreducible`."""
    work = Work(top, rule, scans, references)
    if rule.text_paths is not None and type(top.value) is not str:
        open_texts(work.root(), rule.text_paths)
    arrived = build(top.value, top.inside.get(0), seen=True)
    if rule.when is not None and not _holds(rule.when, arrived, top):
        return None
    leave_out_markers(work, rule)
    steps = [_apply(step, work, arrived) for step in rule.steps]
    if rule.max_chars is None:
        return Pass(top, _restored(work, rule, scans, references), tuple(steps))
    work.step = len(rule.steps) + 1
    edits = work.edits
    ran = [each.step for each in steps if each.ran and each.step is not None]
    restored = _fit(work, rule, ran, scans, references)
    return Pass(top, restored, (*steps, StepRun(None, work.step, True, 1, work.edits > edits)))


def _apply(step: Step, work: Work, arrived: Any) -> StepRun:
    if step.when is not None and not _holds(step.when, arrived, work.top):
        return StepRun(step, step.number, False, 0, False)
    work.step = step.number
    edits, places = work.edits, apply_step(step, work)
    return StepRun(step, step.number, True, places, work.edits > edits)


def apply_step(step: Step, work: Work) -> int:
    """Apply a step at all of its places; return how many there are."""
    count = 0
    for place in work.root().find(step.path):
        if place.accepted_by(step.op.accepts):
            count += 1
            step.op.apply(place, work.root())
    return count


def _holds(when: When, arrived: Any, top: Opened) -> bool:
    """Return whether a gate holds for the return as it arrived. Counting characters stops at the bound."""
    if when.min_chars is not None and size(top, top.value, when.min_chars) < when.min_chars:
        return False
    return when.where is None or when.where.holds(arrived)


def size(top: Opened, value: Any, bound: int) -> int:
    """Count the characters of a return that is left with `value`; counting stops once it passes `bound`."""
    written = value if top.is_json else top.write(value)
    return chars(written, bound)


def _restored(work: Work, rule: Rule, scans: Scans, references: References | None) -> Restored:
    needs = work.edits and (references is not None or any(rule.preserved) or work.marked)
    return restore(work.top, rule, scans, references) if needs or work.marked else Restored()


def _fit(work: Work, rule: Rule, ran: Sequence[Step], scans: Scans, references: References | None) -> Restored:
    """Add levels of limits to the plan until the restored return has at most `max_chars` characters."""
    top, most = work.top, rule.max_chars or 0

    def length(bound: int) -> int:
        return size(top, build(top.value, top.inside.get(0)), bound)

    # Restoring only adds, so it is of no use before the plan itself fits, and of none any more once what is restored is
    # too long by itself, as stricter levels restore more.
    before = length(most)
    restored = _restored(work, rule, scans, references) if before <= most else None
    hopeless = False
    for level in LEVELS:
        if restored is not None:
            if length(most) <= most:
                return restored
            restored.undo()
        edits = work.edits
        limit_all(work, level, rule.steps, ran)
        if work.edits > edits:
            before = length(most)
            restored = None
            if before <= most and not hopeless:
                restored = _restored(work, rule, scans, references)
                hopeless = length(most + before) > most + before
        elif restored is not None:
            restored = _restored(work, rule, scans, references)
    return _restored(work, rule, scans, references) if restored is None else restored
