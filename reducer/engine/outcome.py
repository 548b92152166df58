"""The result of a rule for one return, and what each step did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reducer.engine.restore import Restored
from reducer.markers import PREFIX
from reducer.plan.edits import Edit, edits
from reducer.plan.nodes import Opened, shortened_lists
from reducer.rules import Rule, Step


@dataclass(frozen=True, slots=True)
class StepRun:
    """The effect of one step in a pass."""

    step: Step | None
    """None for `max_chars`, whose number follows that of the last step."""
    number: int
    ran: bool
    places: int
    """The number of places at which it ran."""
    changed: bool
    skipped: bool = False
    """It was not applied, because a second pass would change the result."""
    left_alone: bool = False
    """It ran at no place, because it did not recognise the objects to which its path leads."""

    @property
    def name(self) -> str:
        """The name for messages."""
        return self.step.name if self.step else "max_chars"

    @property
    def line(self) -> int | None:
        """The line of the rule file, or None for `max_chars`."""
        return self.step.location.line if self.step else None

    @property
    def path(self) -> str | None:
        """The path, or None for `max_chars`."""
        return self.step.path.text if self.step else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a rule for one return."""

    rule: Rule | None
    content: Any
    """The reduced content, or the original object if nothing changed."""
    gated: bool = False
    """The gate of the rule (`when`) did not hold, so no step ran."""
    tried: tuple[Rule, ...] = ()
    """The other candidates whose `when.where` does not hold."""
    fault: str = ""
    """The reason why the rule could not be applied, or not completely."""
    is_proven: bool = False
    """A second pass cannot change the content."""
    unstable: StepRun | None = None
    """The step that would change the result again."""
    steps: tuple[StepRun, ...] = ()
    unread: int = 0
    """The number of texts that cannot be read in the notation that the rule names."""
    restored: Restored = field(default_factory=Restored, repr=False, compare=False)
    top: Opened | None = field(default=None, repr=False, compare=False)
    """The opened return with its plan."""

    @property
    def removed(self) -> bool:
        """Whether a step removed anything, or a list has a marker."""
        return bool(self.restored.nodes) or any(run.changed for run in self.steps)

    @property
    def last_changed(self) -> StepRun:
        """The last step that changed something, or the last step."""
        return next((run for run in reversed(self.steps) if run.changed), self.steps[-1])

    @property
    def unmarked(self) -> int:
        """The number of removed items of lists that no marker counts."""
        if self.top is None:
            return 0
        unmarked = 0
        for items, plan in shortened_lists(self.top.value, self.top.plan):
            left, _ = plan.remaining()
            if not plan.marker and left is not None:
                unmarked += len(items) - len(left)
        return unmarked

    @property
    def removed_keys(self) -> int:
        """The number of keys of objects and maps that the result lacks or whose value it empties."""
        count = 0
        for edit in self.edits():
            if edit.kind in ("key", "emptied"):
                count += -1 if edit.is_restored else 1
        return count

    @property
    def is_emptied(self) -> bool:
        """Whether the steps leave none of the values of a return: only keys, empty values and markers."""
        if self.top is None:
            return False
        left = self.top.built(seen=True)
        return left is not self.top.value and not _has_values(left) and _has_values(self.top.value)

    def left_after(self, step: int, seen: bool = True) -> Any:
        """Return the content after step `step` (0: the original), as steps see it, or with `seen=False` as written."""
        if self.top is None:
            return self.content
        value = self.top.built(step, seen)
        return value if seen else self.top.write(value)

    def edits(self) -> Iterator[Edit]:
        """Yield what each step removed, and what was restored of it, in document order."""
        return edits(None, self.top)


def _has_values(value: Any) -> bool:
    """Return whether a value contains a number, a boolean, or a text that is neither blank nor a marker."""
    if isinstance(value, dict):
        return any(map(_has_values, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_values, value))
    if isinstance(value, str):
        return bool(value.strip()) and not value.startswith(PREFIX)
    return value is not None
