"""What each step of a rule did to one return."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from reducer.analysis.changes import Change, changes
from reducer.analysis.missing import Missing, missing
from reducer.engine import Edit, Outcome, StepRun
from reducer.rules import Step
from reducer.values import Unreducible, chars


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did to one return; `step` is None for `max_chars`. All sizes are characters.

    `ran` is False if the gate of the step does not hold. `restored` is how much of what it removed is restored.
    `missing` says which of its place and keys are not there, `seen` has the keys that it names and that are.
    `always_kept` counts the items that only its `always_keep` kept.
    """

    step: Step | None
    ran: bool
    places: int
    before: int
    after: int
    changes: tuple[Change, ...]
    restored: int
    missing: tuple[Missing, ...]
    seen: frozenset[str]
    always_kept: int

    @property
    def name(self) -> str:
        """The action of the step and its place."""
        return self.step.name if self.step else "max_chars"

    @property
    def is_undone(self) -> bool:
        """Whether at least half of what the step removed is restored."""
        return self.restored * 2 >= self.before - self.after > 0


def step_reports(outcome: Outcome, before: int, detailed: bool) -> tuple[StepReport, ...]:
    """Return what each step did to a content of `before` characters; if `detailed`, with what it removed."""
    removed: dict[int, list[Edit]] = {}
    for edit in outcome.removals() if detailed else ():
        removed.setdefault(edit.step, []).append(edit)
    restored: Counter[int] = Counter()
    for edit in () if outcome.fault else outcome.restorations():
        restored[edit.step] += edit.after - edit.before
    reports = []
    arrived = found = outcome.left_after(0)
    size = characters(outcome.left_after(0, seen=False), before)
    for run in outcome.steps:
        left = characters(outcome.left_after(run.number, seen=False), before)
        lacking, names = _missing(run, found, arrived)
        report = StepReport(
            step=run.step,
            ran=run.ran,
            places=run.places,
            before=size,
            after=left,
            changes=changes(removed.get(run.number, ())),
            # What is restored inside an item may have been removed by an earlier step.
            restored=min(restored[run.number], size - left),
            missing=lacking,
            seen=names,
            always_kept=_always_kept(run, found),
        )
        reports.append(report)
        size, found = left, outcome.left_after(run.number)
    return tuple(reports)


def _missing(run: StepRun, found: Any, arrived: Any) -> tuple[tuple[Missing, ...], frozenset[str]]:
    if not run.ran or run.step is None:
        return (), frozenset()
    return missing(run.step, found, arrived, run.places)


def _always_kept(run: StepRun, found: Any) -> int:
    if run.step is None or not run.changed or not run.step.op.spares:
        return 0
    return sum(run.step.op.always_kept(place) for place in run.step.path.find(found))


def characters(value: Any, otherwise: int = 0) -> int:
    """Count the characters that the model is shown for a value; `otherwise` if it is too deep to be counted."""
    if type(value) is str:
        return len(value)
    try:
        return len(_encode(value))  # six times as fast as `chars`, which also counts live objects
    except (ValueError, TypeError, RecursionError):
        try:
            return chars(value)
        except (Unreducible, RecursionError):
            return otherwise


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False).encode
