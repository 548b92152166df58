"""One pass of a rule over one return: gates, steps, ladder, and what is owed at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reducer import marks
from reducer.engine.arrival import Arrival
from reducer.engine.draft import Draft
from reducer.engine.ladder import RUNGS, descend
from reducer.engine.protection import Protection
from reducer.engine.reading import Reading
from reducer.engine.settle import settle
from reducer.engine.step import apply_step
from reducer.path import Chain, names_of
from reducer.rule import Rule, Step, When
from reducer.values import is_media


@dataclass(frozen=True, slots=True)
class StepTrace:
    """What one step did: how many values stood at its place, and the return before and after it. `step` is None for the ladder."""

    step: Step | None
    ran: bool
    places: int
    before: Any
    after: Any


class Ran(NamedTuple):
    """What a pass leaves: the entities that were owed but had no room within the bounds, how many were put back or mentioned, and the
    protected values that steps took and that are put back.

    `left` is what the steps left, before anything was put back. `repeats`: if they leave the same of `result`, that is a fixed point.
    """

    result: Any
    lost: tuple[str, ...]
    preserved: int
    referred: frozenset[str]
    left: Any = None
    repeats: bool = False


Watch = Callable[[StepTrace], None]


def run(rule: Rule, arrival: Arrival, reading: Reading, watch: Watch | None = None, protection: Protection | None = None, earlier: Ran | None = None) -> Ran:
    """Apply all steps of `rule` once to the value of an opened content; the same object if nothing changes. Raises `Unreducible`.

    `reading` collects what was read in texts. What `protection` protects stays. `earlier` is the pass of which the content is the result.
    """
    value = arrival.value
    draft = Draft(value, rule, reading, arrival.notation, protection)
    arrived = current = _without_marks(rule, draft, value)
    ran = []
    for step in rule.steps:
        if step.when is not None and not _holds(step.when, arrived, arrival):
            if watch is not None:
                watch(StepTrace(step, False, 0, current, current))
            continue
        ran.append(step)
        before = current
        draft.start(step.number, before)
        current, places = apply_step(step, draft, before, watch is not None)
        if watch is not None:
            watch(StepTrace(step, True, places, before, current))
    if rule.max_chars is None:
        if earlier is not None and _is_repeated(earlier, draft, value, current):
            return earlier._replace(result=value)
        result = settle(draft, value, current, rule)
        return Ran(result, draft.lost, draft.preserved, draft.referred, current, draft.repeats and draft.is_plain)
    draft.start(len(rule.steps) + 1, current)
    before = current
    result, current = _fitted(draft, arrival, current, rule, rule.max_chars, ran)
    if watch is not None and current is not before:
        watch(StepTrace(None, True, 1, before, current))
    return Ran(result, draft.lost, draft.preserved, draft.referred)


def _is_repeated(earlier: Ran, draft: Draft, value: Any, current: Any) -> bool:
    """Tell whether steps that leave `current` of `value`, the result of an earlier pass, do what they did then: so what is put back is the same too.

    What that pass put back besides what its steps left are texts, each of which holds a value that stands nowhere in that. So if the steps
    leave the same now, they take those texts and nothing else; what is owed for them is what was owed, in the same order, and each finds
    its place again. Settling a second time takes as long as the first: a sixth of all that is done.
    """
    if not earlier.repeats or draft.marked or not draft.is_plain:
        return False
    return bool((value is earlier.result or value == earlier.result) and current == earlier.left)


def _fitted(draft: Draft, arrival: Arrival, current: Any, rule: Rule, most: int, ran: Sequence[Step]) -> tuple[Any, Any]:
    """Go down the ladder until the settled return has at most `most` characters, or to its end; give it and what it was settled from."""
    value, chars = arrival.value, arrival.chars
    result = settle(draft, value, current, rule) if chars(current, most) <= most else None
    hopeless = False
    for rung in RUNGS:
        if result is not None and chars(result, most) <= most:
            return result, current
        after = descend(draft, current, rung, rule.steps, ran)
        if after is not current:
            size = chars(after, most)
            # Settling scans and puts back, so it only makes longer: of no use before the draft itself is short enough, and of none
            # any more once what is put back is too long by itself, as stricter rungs owe more.
            result = settle(draft, value, after, rule) if size <= most and not hopeless else None
            hopeless = hopeless or (result is not None and chars(result, most + size) > most + size)
            current = after
    return settle(draft, value, current, rule) if result is None else result, current


def passes(when: When, arrival: Arrival) -> bool:
    """Tell whether a return passes a gate. A gate of 2,000 characters costs no more than counting to 2,000."""
    return _holds(when, arrival.value, arrival)


def _holds(when: When, value: Any, arrival: Arrival) -> bool:
    if when.min_chars is not None and arrival.chars(value, when.min_chars) < when.min_chars:
        return False
    return when.where is None or when.where.holds(value)


def _without_marks(rule: Rule, draft: Draft, value: Any) -> Any:
    """Take the mark items of an earlier pass from lists where this rule would have put them: no path, count or condition sees them."""

    def bare(place: Any) -> Any:
        if type(place) is list and len(place) > 1 and type(place[-1]) is str and place[-1].startswith(marks.OPENING):
            mark = marks.read_item(place[-1], draft.reading.reads)
            if mark is not None and all(type(draft.opened(item)) is str for item in place):
                return draft.taken(place, range(len(place) - 1), mark)
        return place

    def everywhere(place: Any) -> Any:
        return draft.replace(bare(place), everywhere)

    def along(place: Any, names: Chain) -> Any:
        opened = draft.opened(place)
        if type(opened) is list and opened:
            if names or type(opened[0]) is list:  # lists in lists are what `[]` means
                return draft.replace(place, lambda item: along(item, names))
            return bare(opened) if type(draft.opened(opened[0])) is str else place
        if type(opened) is not dict or is_media(opened):
            return place
        if not names:
            return place
        name, *rest = names
        if name == "*":
            return draft.replace(place, lambda item: along(item, tuple(rest)))
        old = opened.get(name)
        new = along(old, tuple(rest))
        return place if new is old else draft.put(place, name, new)

    if rule.max_chars is not None:
        return everywhere(value)
    for step in rule.steps:
        if step.op.reaches_down:
            value = step.path.update(value, everywhere, draft.note)
        for names in step.op.shortens():
            value = along(value, (*names_of(step.path.shape), *names))
    return value
