"""What a rule and each of its steps did to the content of one tool return, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
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

_MANY_KEYS = 8  # an object with more changed keys counts as a map: paths contain `*` instead of its keys
_MAX_NAMES = 6  # if more keys of similar objects are removed, they share one entry
_MAX_RANGES = 4
_SAMPLE = 64
_KINDS: dict[str, Kind] = {"key": "removed", "items": "removed", "emptied": "emptied", "cut": "cut"}


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was removed or restored, at one place or at several similar places.

    - `path` is JMESPath, or `list[20..57]` for removed items; indices are those of the return as it arrived.
    - `places` counts lists, keys or texts.
    - `items` counts the removed or restored items, out of `total`; both are 0 for anything else.
    - `before` and `after` are characters.
    - `names` lists the keys if several share this entry.
    - `sample` is the beginning of the first value.
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


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did to one return. Sizes are characters.

    - `number`, `line` and `path` are None for `max_chars`.
    - `ran` is False if the `when` of the step does not hold, or if it was `skipped` because a second pass would change
      the result.
    - `restored` is the part of the removed characters that was restored.
    - `nothing` explains why the step ran at no place, or is None. `left_alone`: it did not recognise the objects there.
    - `always_kept` counts the items that only `always_keep` kept.
    """

    number: int | None
    name: str
    line: int | None
    path: str | None
    ran: bool
    skipped: bool
    places: int
    before: int
    after: int
    changes: tuple[Change, ...]
    restored: int
    nothing: Nothing | None
    left_alone: bool
    always_kept: int

    @property
    def is_undone(self) -> bool:
        """Whether at least half of what the step removed is restored."""
        return self.restored * 2 >= self.before - self.after > 0


class ReturnPlace(NamedTuple):
    """Where a tool return is: `message` and `part` count from 0, `nth` from 1 among the returns with its call id."""

    history: str
    message: int
    part: int
    call_id: str
    nth: int

    @property
    def name(self) -> str:
        """The name for `--call`: the call id, with `#2` for the second return that has it."""
        return f"{self.call_id}#{self.nth}" if self.nth > 1 else self.call_id


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a rule did to one content. Sizes are characters.

    - `why` explains why the content is unchanged, or describes the fault if `status` is `fault`.
    - `unstable` is the step that would change the result again, if that is the fault.
    - `rewritten` is what writing compact JSON saves.
    - `steps` describes what each step did, and its `changes` list what it removed.
    - `restored` is what `preserve` and markers add after the steps, and `restorations` lists where.
    - `referenced` is what is also kept because later messages reference it.
    - `over` is the size above the rule's `max_chars`.
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
    content: Any = None
    entities: Mapping[str, Recall] = field(default_factory=dict)
    lost_entities: tuple[LostEntity, ...] = ()
    place: ReturnPlace | None = None
    unstable: StepRun | None = None
    tree: Any = None

    @property
    def name(self) -> str:
        """The name for `--call`, or the name of the tool if the content is not in a history."""
        return self.place.name if self.place else self.tool

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
    tool: str, content: Any, outcome: Outcome, *, detailed: bool, alone: Outcome | None = None, size: int = 0
) -> Explanation:
    """Return what a rule did to a content in plain JSON types.

    If `detailed`, the steps list what they removed. `alone` is the outcome without the protection of referenced
    values, and `size` the size of a content whose characters cannot be counted.
    """
    rule, alone = outcome.rule, alone or outcome
    before = characters(content, size)
    after = before if outcome.content is content else characters(outcome.content, before)
    after_alone = after if alone is outcome else characters(alone.content, before)
    status, why = _status(content, outcome, alone)
    steps = step_reports(alone, before, detailed) if alone.steps else ()
    rewritten = restored = over = 0
    if steps and status == "reduced" and type(content) is str:
        rewritten = before - steps[0].before
    if steps and steps[0].before > steps[-1].after and not alone.fault:
        restored = max(0, after_alone - steps[-1].after)
    if rule is not None and rule.max_chars is not None and not outcome.gated:
        over = max(0, after - rule.max_chars)
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
        restorations=changes(outcome.restorations(), restored=True) if detailed and not outcome.fault else (),
        over=over,
        unstable=outcome.unstable,
    )


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


def step_reports(outcome: Outcome, before: int, detailed: bool) -> tuple[StepReport, ...]:
    """Return what each step did to a content of `before` characters. If `detailed`, list what it removed."""
    removed: dict[int, list[Edit]] = {}
    for edit in outcome.removals() if detailed else ():
        removed.setdefault(edit.step, []).append(edit)
    restored: Counter[int] = Counter()
    for edit in () if outcome.fault else outcome.restorations():
        restored[edit.step] += edit.after - edit.before
    reports = []
    size = characters(outcome.left_after(0, seen=False), before)
    for run in outcome.steps:
        new_size = characters(outcome.left_after(run.number, seen=False), before) if run.changed else size
        reports.append(
            StepReport(
                number=run.number if run.step else None,
                name=run.step.name if run.step else "max_chars",
                line=run.step.location.line if run.step else None,
                path=run.step.path.text if run.step else None,
                ran=run.ran,
                skipped=run.skipped,
                places=run.places,
                before=size,
                after=new_size,
                changes=changes(removed.get(run.number, ())),
                # What is restored inside an item may include what an earlier step removed.
                restored=max(0, min(restored[run.number], size - new_size)),
                nothing=_nothing(outcome, run),
                left_alone=run.left_alone,
                always_kept=_always_kept(outcome, run),
            )
        )
        size = new_size
    return tuple(reports)


def _nothing(outcome: Outcome, run: StepRun) -> Nothing | None:
    if run.step is None or run.places or not run.ran:
        return None
    return why_nothing(run.step, outcome.left_after(run.number - 1), outcome.left_after(0))


def _always_kept(outcome: Outcome, run: StepRun) -> int:
    if run.step is None or not run.changed or run.step.op.always_keeps() is None:
        return 0
    return sum(map(run.step.op.always_kept, run.step.path.find(outcome.left_after(run.number - 1))))


# --- changes


def changes(edits: Iterable[Edit], restored: bool = False) -> tuple[Change, ...]:
    """Group edits of the same kind at similar places, in document order. `restored` overrides the kind."""
    edits = tuple(edits)
    maps = _maps(edits)
    groups: dict[tuple[str, Pattern], dict[Pattern, list[Edit]]] = {}
    for edit in edits:
        pattern = _pattern(edit, maps)
        parent = pattern[:-1] if edit.kind in ("key", "emptied") else (*pattern, "")
        groups.setdefault((edit.kind, parent), {}).setdefault(pattern, []).append(edit)
    found: list[Change] = []
    for (edit_kind, parent), by_pattern in groups.items():
        kind = "restored" if restored else _KINDS.get(edit_kind, "unwrapped")
        if len(by_pattern) > _MAX_NAMES:
            largest = sorted(by_pattern, key=lambda each: -sum(abs(one.before - one.after) for one in by_pattern[each]))
            together = [edit for group in by_pattern.values() for edit in group]
            found.append(_change(kind, parent, together, tuple(str(each[-1]) for each in largest)))
        else:
            found += (_change(kind, pattern, group) for pattern, group in by_pattern.items())
    return tuple(found)


def _maps(edits: Iterable[Edit]) -> Set[Pattern]:
    """Return the paths of objects that count as maps because many of their values change."""
    below: dict[Pattern, set[Token]] = {}
    for edit in edits:
        path = edit.path[:-1] if edit.kind == "key" else edit.path
        for depth, token in enumerate(path):
            if type(token) is str:
                below.setdefault(path[:depth], set()).add(token)
    return {path for path, keys in below.items() if len(keys) > _MANY_KEYS}


def _pattern(edit: Edit, maps: Set[Pattern]) -> Pattern:
    """Return the path of an edit with -1 for all indices, and with None for the keys of maps."""
    last = len(edit.path) - (edit.kind == "key")
    pattern: list[Token] = []
    for depth, token in enumerate(edit.path):
        if type(token) is int:
            pattern.append(-1)
        elif depth < last and edit.path[:depth] in maps:
            pattern.append(None)
        else:
            pattern.append(token)
    return tuple(pattern)


def _change(kind: Kind, pattern: Pattern, edits: list[Edit], names: tuple[str, ...] = ()) -> Change:
    first = edits[0]
    items = total = before = after = 0
    for edit in edits:
        items += len(edit.indices)
        total += edit.total
        before += edit.before
        after += edit.after
    is_one = len(edits) == (len(names) or 1)
    if is_one:
        pattern = first.path[:-1] if names else first.path
    path = path_text(pattern)
    if items:
        path = path.removeprefix("@") + (f"[{_ranges(first.indices)}]" if is_one else "[*]")
    sample = "" if names else excerpt(first.value[0] if items else first.value, _SAMPLE)
    return Change(kind, path, len(edits), items, total, before=before, after=after, names=names, sample=sample)


def _ranges(indices: Sequence[int]) -> str:
    """Return indices such as `3, 20..57`, with `…` after four ranges."""
    texts: list[str] = []
    for _, group in groupby(enumerate(indices), key=lambda pair: pair[1] - pair[0]):
        run = [index for _, index in group]
        if len(texts) == _MAX_RANGES:
            return ", ".join([*texts, "…"])
        texts.append(f"{run[0]}..{run[-1]}" if len(run) > 1 else f"{run[0]}")
    return ", ".join(texts)
