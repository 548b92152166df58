"""What each step of a rule did to one return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reducer.engine import Outcome, StepTrace
from reducer.report.changes import Change, changes, characters
from reducer.report.missing import Missing, missing
from reducer.rule import Step


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did to one return; `step` is None for the ladder of `max_chars`. `before` and `after` are characters.

    `ran` is False where the step's own gate was closed. `put_back` is how much of what it took preserve put back in the end, in
    characters. `missing` says what of its place and keys was not there, `seen` has the keys that it names and that were. `always_kept`
    counts the items that stayed because of its `always_keep` alone.
    """

    step: Step | None
    ran: bool
    places: int
    before: int
    after: int
    changes: tuple[Change, ...]
    put_back: int
    missing: tuple[Missing, ...]
    seen: frozenset[str]
    always_kept: int


def step_reports(outcome: Outcome, before: int, detailed: bool) -> tuple[tuple[StepReport, ...], int, tuple[Change, ...]]:
    """Tell what each step did to a content of `before` characters, how many preserve put back, and where if that is wanted."""
    arrived, last = outcome.steps[0].before, outcome.steps[-1].after
    sizes: dict[int, int] = {}

    def size(value: Any) -> int:
        # Most steps leave most returns alone: a value is counted once, however many steps passed it on.
        if id(value) not in sizes:
            sizes[id(value)] = characters(outcome.written(value), before)
        return sizes[id(value)]

    final = last if outcome.fault else outcome.final
    taken = size(arrived) - size(last)
    put_back = max(0, size(final) - size(last)) if taken > 0 and not outcome.fault else 0
    undone = put_back * 2 >= taken > 0
    took = [changes(step.before, step.after) if detailed or undone else () for step in outcome.steps]
    returned = changes(final, last) if put_back and (detailed or undone) else ()
    given = _given_back(took, returned)
    steps = tuple(
        StepReport(
            step.step, step.ran, step.places, size(step.before), size(step.after), took[number] if detailed else (), given[number],
            *_missing(step, arrived), _always_kept(step),
        )
        for number, step in enumerate(outcome.steps)
    )  # fmt: skip
    return steps, put_back, tuple(change.returned() for change in returned) if detailed else ()


def _missing(trace: StepTrace, arrived: Any) -> tuple[tuple[Missing, ...], frozenset[str]]:
    return missing(trace.step, trace.before, arrived, trace.places) if trace.ran and trace.step is not None else ((), frozenset())


def _always_kept(trace: StepTrace) -> int:
    step = trace.step
    if step is None or not trace.ran or trace.after is trace.before or not step.op.spares:
        return 0
    return sum(step.op.always_kept(place) for place in step.path.find(trace.before))


def _given_back(took: list[tuple[Change, ...]], returned: tuple[Change, ...]) -> list[int]:
    """Give for each step how many characters came back at places where it took some; the first such step counts."""
    given = [0] * len(took)
    for change in returned:
        for number, taken in enumerate(took):
            if any(change.meets(other) for other in taken):
                given[number] += change.before - change.after
                break
    return given
