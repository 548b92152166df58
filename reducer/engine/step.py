"""One step of a rule, at all its places in a return."""

from __future__ import annotations

from typing import Any

from reducer.engine.draft import Draft
from reducer.rule import Step
from reducer.values import is_media


def apply_step(step: Step, draft: Draft, value: Any, counted: bool = False) -> tuple[Any, int]:
    """Give what a step leaves of the return `value`, the same object if nothing changes, and at how many places it was tried if that is `counted`."""
    accepts, apply, places = step.op.accepts, step.op.apply, 0

    def inner(place: Any) -> Any:
        opened = draft.opened(place)
        if type(opened) not in accepts or is_media(opened):
            return place
        if counted:
            nonlocal places
            places += 1
        changed = apply(opened, draft)
        if changed is opened:
            return place
        if opened is not place:
            draft.note(opened, place)
        return changed

    return step.path.update(value, inner, draft.note), places
