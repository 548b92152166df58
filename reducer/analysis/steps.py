"""What each step of a rule did to one return, and what it removed: one line for each kind of place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from reducer.analysis.query import Missing, missing
from reducer.analysis.texts import excerpt
from reducer.engine import Edit, Outcome
from reducer.operations.limit import Limit
from reducer.paths.written import Token, path_text
from reducer.rules import Step
from reducer.values import Unreducible, chars

Kind = Literal["removed", "emptied", "cut", "unwrapped", "restored"]
Pattern = tuple[Token, ...]

_MANY_KEYS = 8  # changed keys of one object above which it counts as a map, whose keys are written as `*`
_MAX_NAMES = 6  # removed keys of alike objects that have a line each; more are named on one line
_SAMPLE = 64
_KINDS: dict[str, Kind] = {"key": "removed", "items": "removed", "emptied": "emptied", "cut": "cut"}


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was removed or restored, at one place or at several alike.

    `path` is JMESPath; removed items are `list[20..57]`, by their indices in the return as it arrived. `places` counts
    lists, keys or texts, `items` the items out of `total`, 0 for anything else; `before` and `after` are characters.
    `names` are keys that share a line, `sample` is the beginning of the first value.
    """

    kind: Kind
    path: str
    places: int
    items: int
    total: int
    before: int
    after: int
    names: tuple[str, ...]
    sample: str


def changes(edits: Iterable[Edit], restored: bool = False) -> tuple[Change, ...]:
    """Sum up edits of the same kind at places alike, in the order of the first of each; `restored` is what they are."""
    edits = tuple(edits)
    maps = _maps(edits)
    groups: dict[tuple[str, Pattern], dict[Pattern, list[Edit]]] = {}
    for edit in edits:
        pattern = _pattern(edit, maps)
        alike = pattern[:-1] if edit.kind in ("key", "emptied") else (*pattern, "")
        groups.setdefault((edit.kind, alike), {}).setdefault(pattern, []).append(edit)
    found: list[Change] = []
    for (kind, alike), by_pattern in groups.items():
        kind = "restored" if restored else _KINDS.get(kind, "unwrapped")
        if len(by_pattern) > _MAX_NAMES:
            largest = sorted(by_pattern, key=lambda each: -sum(abs(one.before - one.after) for one in by_pattern[each]))
            together = [edit for group in by_pattern.values() for edit in group]
            found.append(_change(kind, alike, together, tuple(str(each[-1]) for each in largest)))
        else:
            found += (_change(kind, pattern, group) for pattern, group in by_pattern.items())
    return tuple(found)


def _maps(edits: Iterable[Edit]) -> Set[Pattern]:
    """Return the paths of objects with many changed values."""
    below: dict[Pattern, set[Token]] = {}
    for edit in edits:
        path = edit.path[:-1] if edit.kind == "key" else edit.path
        for depth, token in enumerate(path):
            if type(token) is str:
                below.setdefault(path[:depth], set()).add(token)
    return {path for path, keys in below.items() if len(keys) > _MANY_KEYS}


def _pattern(edit: Edit, maps: Set[Pattern]) -> Pattern:
    last = len(edit.path) - (edit.kind == "key")
    return tuple(
        -1 if type(token) is int else None if depth < last and edit.path[:depth] in maps else token
        for depth, token in enumerate(edit.path)
    )


def _change(kind: Kind, pattern: Pattern, edits: list[Edit], names: tuple[str, ...] = ()) -> Change:
    first, items = edits[0], sum(len(edit.indices) for edit in edits)
    is_one = len(edits) == (len(names) or 1)
    path = path_text((first.path[:-1] if names else first.path) if is_one else pattern)
    if items:
        path = path.removeprefix("@") + (f"[{_ranges(first.indices)}]" if is_one else "[*]")
    return Change(
        kind=kind,
        path=path,
        places=len(edits),
        items=items,
        total=sum(edit.total for edit in edits),
        before=sum(edit.before for edit in edits),
        after=sum(edit.after for edit in edits),
        names=names,
        sample="" if names else excerpt(first.value[0] if items else first.value, _SAMPLE),
    )


def _ranges(indices: Sequence[int]) -> str:
    """Write indices as `3, 20..57`; after four of those `…`."""
    groups = groupby(enumerate(indices), key=lambda pair: pair[1] - pair[0])
    runs = [[index for _, index in group] for _, group in groups]
    texts = [f"{run[0]}..{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs[:4]]
    return ", ".join([*texts, "…"] if len(runs) > 4 else texts)


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
        step, always_kept = run.step, 0
        lacking, names = missing(step, found, arrived, run.places) if run.ran and step else ((), frozenset())
        if step and run.changed and isinstance(step.op, Limit):
            always_kept = sum(map(step.op.always_kept, step.path.find(found)))
        reports.append(
            StepReport(
                step=step,
                ran=run.ran,
                places=run.places,
                before=size,
                after=left,
                changes=changes(removed.get(run.number, ())),
                # What is restored inside an item may have been removed by an earlier step.
                restored=min(restored[run.number], size - left),
                missing=lacking,
                seen=names,
                always_kept=always_kept,
            )
        )
        size, found = left, outcome.left_after(run.number)
    return tuple(reports)


def characters(value: Any, otherwise: int = 0) -> int:
    """Count the characters that the model is shown for a value; `otherwise` if they cannot be counted."""
    try:
        return chars(value)
    except (Unreducible, RecursionError):
        return otherwise
