"""What a rule and each of its steps did to the content of one tool return, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from reducer.analysis.measures import LostEntity, Recall, lost_entities
from reducer.analysis.query import Nothing, why_nothing
from reducer.analysis.texts import characters, excerpt
from reducer.engine import Edit, Outcome, StepRun, attempt
from reducer.paths.written import Token, path_text
from reducer.rules import Rule, Ruleset
from reducer.values import Unreducible, plain

Status = Literal["reduced", "unchanged", "gated", "fault", "no rule", "untouched"]
Kind = Literal["removed", "emptied", "cut", "unwrapped", "restored"]
Pattern = tuple[Token, ...]

_MANY_KEYS = 8  # if more keys of similar objects change, paths contain `*` instead of them
_SAMPLE = 64
_KINDS: dict[str, Kind] = {
    "key": "removed",
    "items": "removed",
    "emptied": "emptied",
    "cut": "cut",
    "unwrapped": "unwrapped",
}


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was removed or restored, at one place or at several similar places.

    - `path` is JMESPath, or `list[20..57]` for removed items; indices are those of the return as it arrived. `*` stands
      for many keys of one object.
    - `places` counts lists, keys or texts.
    - `items` counts the removed or restored items, out of `total`; both are 0 for anything else.
    - `before` and `after` are characters.
    - `sample` is the beginning of the first value, or of the keys if `path` ends with `*`.
    """

    kind: Kind
    path: str
    places: int
    items: int
    total: int
    before: int
    after: int
    sample: str


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did to one return. Sizes are characters.

    - `run` is what the engine recorded of the step.
    - `restored` is the part of the removed characters that was restored.
    - `nothing` explains why the step ran at no place, or is None.
    """

    run: StepRun
    before: int
    after: int
    changes: tuple[Change, ...]
    restored: int
    nothing: Nothing | None

    @property
    def name(self) -> str:
        """The name for messages."""
        return self.run.name

    @property
    def is_undone(self) -> bool:
        """Whether at least half of what the step removed is restored."""
        return self.restored * 2 >= self.before - self.after > 0


class ReturnPlace(NamedTuple):
    """Where a tool return is: `message` and `part` count from 0, and `call` is its name for `--call`."""

    history: str
    message: int
    part: int
    call: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a rule did to one content. Sizes are characters.

    - `tried` are the candidates for the tool whose `where` does not hold.
    - `why` explains why the content is unchanged, or describes the fault if `status` is `fault`.
    - `unstable` is the step that would change the result again, if that is the fault.
    - `rewritten` is what writing compact JSON saves.
    - `steps` describes what each step did, and its `changes` list what it removed.
    - `restored` is what `preserve` and markers add after the steps, and `restorations` lists where.
    - `referenced` is what is also kept because later messages reference it.
    - `over` is the size above the rule's `max_chars`.
    - `unmarked` is the number of removed items that no marker counts, `removed_keys` that of removed or emptied keys.
    - `unread` is the number of texts that cannot be read in the notation that the rule names.
    - `general` is the number of characters that `builtin:general` would save of a return without a rule.
    - `is_emptied` tells whether none of the values is left.
    - `repeats` is what was left out because earlier returns show it, those of the calls in `repeats_of`. If
      `repeats_dropped`, nothing was, because a rule would change the result again. `dangling` counts markers of repeats
      whose call the history does not contain.
    - `content` is the result, `entities` counts the distinct entities by type, and `lost_entities` lists those that
      the result no longer contains. Reports of histories contain none of these.
    - `tree` is the annotated tree of the return, if it was requested.
    - `place` is the place in a history, or None for a single content.
    """

    tool: str
    rule: Rule | None
    status: Status
    why: str
    before: int
    after: int
    rewritten: int = 0
    steps: tuple[StepReport, ...] = ()
    restored: int = 0
    referenced: int = 0
    restorations: tuple[Change, ...] = ()
    over: int = 0
    unmarked: int = 0
    removed_keys: int = 0
    unread: int = 0
    general: int = 0
    is_emptied: bool = False
    repeats: int = 0
    repeats_of: tuple[str, ...] = ()
    repeats_dropped: bool = False
    dangling: int = 0
    content: Any = None
    entities: Mapping[str, Recall] = field(default_factory=dict)
    lost_entities: tuple[LostEntity, ...] = ()
    place: ReturnPlace | None = None
    unstable: StepRun | None = None
    tree: Any = None
    tried: tuple[Rule, ...] = ()

    @property
    def name(self) -> str:
        """The name for `--call`, or the name of the tool if the content is not in a history."""
        return self.place.call if self.place else self.tool

    @property
    def fault(self) -> str:
        """The reason why the rule could not be applied, or not completely; empty if there is none."""
        return self.why if self.status == "fault" else ""

    @property
    def is_refused(self) -> bool:
        """Return whether the content stays as it is, whatever the steps removed."""
        return self.status in ("fault", "unchanged") and self.before == self.after


def explain(ruleset: Ruleset, tool: str, content: Any) -> Explanation:
    """Reduce the content of one return of `tool`, and return what each step did. Never raises."""
    outcome = shown = attempt(ruleset, tool, content)
    value = content
    with suppress(Unreducible, RecursionError):
        value = plain(content)
    if value is not content:
        shown = attempt(ruleset, tool, value)
    return replace(explained(tool, value, shown), content=outcome.content)


def explained(tool: str, content: Any, outcome: Outcome) -> Explanation:
    """Return everything that a rule did to a content in plain JSON types, with the entities that it removed."""
    recall, lost = lost_entities(tool, content, outcome)
    explanation = explain_outcome(tool, content, outcome, detailed=True)
    return replace(explanation, content=outcome.content, entities=recall, lost_entities=tuple(lost))


def explain_outcome(
    tool: str, content: Any, outcome: Outcome, *, detailed: bool, alone: Outcome | None = None
) -> Explanation:
    """Return what a rule did to a content in plain JSON types.

    If `detailed`, the steps list what they removed. `alone` is the outcome without the protection of referenced values.
    """
    rule, alone = outcome.rule, alone or outcome
    before = characters(content)
    is_changed = outcome.content is not content
    after = characters(outcome.content) if is_changed else before
    after_alone = after if alone is outcome else characters(alone.content)
    status, why = _status(content, outcome, alone)
    restorations: tuple[Change, ...] = ()
    if detailed and not outcome.fault:
        restorations = changes([edit for edit in outcome.edits() if edit.is_restored])
    steps = step_reports(alone, detailed) if alone.steps else ()
    rewritten = restored = 0
    if steps and status == "reduced" and type(content) is str:
        rewritten = before - steps[0].before
    if steps and steps[0].before > steps[-1].after and not alone.fault:
        restored = max(0, after_alone - steps[-1].after)
    return Explanation(
        tool=tool,
        rule=rule,
        status=status,
        why=why,
        before=before,
        after=after,
        rewritten=rewritten,
        steps=steps,
        restored=restored,
        referenced=max(0, after - after_alone),
        restorations=restorations,
        over=_over(outcome, after),
        unmarked=outcome.unmarked if is_changed else 0,
        removed_keys=outcome.removed_keys if is_changed else 0,
        unread=outcome.unread,
        is_emptied=is_changed and outcome.is_emptied,
        tried=outcome.tried,
        unstable=outcome.unstable,
    )


def _over(outcome: Outcome, after: int) -> int:
    """Return by how many characters a result exceeds the `max_chars` of its rule."""
    target = None if outcome.rule is None or outcome.gated else outcome.rule.max_chars
    return 0 if target is None else max(0, after - target)


def _status(content: Any, outcome: Outcome, alone: Outcome) -> tuple[Status, str]:
    if outcome.rule is None:
        return "no rule", "no rule applies to this tool"
    if outcome.fault:
        return "fault", outcome.fault
    if outcome.gated:
        return "gated", "the rule's `when` does not hold"
    if outcome.content is not content:
        return "reduced", ""
    if alone.content is not content:
        return "unchanged", "later messages reference everything that the rule would remove"
    if any(run.changed for run in outcome.steps):
        return "unchanged", "what the rule removes is restored, or the result would not be shorter"
    return "unchanged", "the rule removes nothing"


# --- steps


def step_reports(outcome: Outcome, detailed: bool) -> tuple[StepReport, ...]:
    """Return what each step did. If `detailed`, list what it removed."""
    removed: dict[int, list[Edit]] = {}
    restored: Counter[int] = Counter()
    for edit in outcome.edits():
        if not edit.is_restored:
            removed.setdefault(edit.step, []).append(edit)
        elif not outcome.fault and edit.kind != "marker":
            restored[edit.step] += edit.after - edit.before
    reports = []
    size = characters(outcome.left_after(0, seen=False))
    for run in outcome.steps:
        new_size = characters(outcome.left_after(run.number, seen=False)) if run.changed else size
        # What is restored inside an item may include what an earlier step removed.
        again = max(0, min(restored[run.number], size - new_size))
        found = changes(removed.get(run.number, ())) if detailed else ()
        reports.append(StepReport(run, size, new_size, found, again, _nothing(outcome, run)))
        size = new_size
    return tuple(reports)


def _nothing(outcome: Outcome, run: StepRun) -> Nothing | None:
    if run.step is None or run.places or not run.ran:
        return None
    return why_nothing(run.step, outcome.left_after(run.number - 1), outcome.left_after(0))


# --- changes


def changes(edits: Sequence[Edit]) -> tuple[Change, ...]:
    """Group edits of the same kind at similar places, in document order."""
    names: dict[Pattern, set[Token]] = {}
    for edit in edits:
        path = _with_any_index(edit)
        for depth, token in enumerate(path):
            names.setdefault(path[:depth], set()).add(token)
    groups: dict[tuple[str, Pattern], list[Edit]] = {}
    pattern: Pattern
    for edit in edits:
        path, pattern = _with_any_index(edit), ()
        for depth, token in enumerate(path):
            pattern = (*pattern, None if len(names[path[:depth]]) > _MANY_KEYS else token)
        groups.setdefault((edit.kind, pattern), []).append(edit)
    return tuple(_change(pattern, group) for (_, pattern), group in groups.items())


def _with_any_index(edit: Edit) -> Pattern:
    """Return the path of an edit with -1 for all indices."""
    return tuple([-1 if type(token) is int else token for token in edit.path])


def _change(pattern: Pattern, edits: list[Edit]) -> Change:
    first, is_one = edits[0], len(edits) == 1
    kind = "restored" if first.is_restored else _KINDS[first.kind]
    items = total = before = after = 0
    for edit in edits:
        items += len(edit.indices)
        total += edit.total
        before += edit.before
        after += edit.after
    path = path_text(first.path if is_one else pattern)
    shown = first.value
    if items:
        path = path.removeprefix("@") + (_range(first.indices) if is_one else "[*]")
        shown = first.value[0]
    elif not is_one and pattern[-1:] == (None,):
        shown = ", ".join(dict.fromkeys(str(edit.path[-1]) for edit in edits))
    return Change(kind, path, len(edits), items, total, before=before, after=after, sample=excerpt(shown, _SAMPLE))


def _range(indices: Sequence[int]) -> str:
    """Return `[3]` or `[20..57]` for consecutive indices, and `[*]` for others."""
    first, last = indices[0], indices[-1]
    if last - first >= len(indices):
        return "[*]"
    return f"[{first}..{last}]" if last > first else f"[{first}]"
