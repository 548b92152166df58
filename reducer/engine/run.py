"""One pass of a rule over one return: open it, apply the steps, restore, fit it into `max_chars`, and build it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reducer.engine.budget import fit
from reducer.engine.edits import Edit, edits
from reducer.engine.place import Place, Work
from reducer.engine.plan import LAST, Opened, build, fits, open_parsed, open_return
from reducer.engine.protected import References, Scans
from reducer.engine.restore import Restored, restore
from reducer.formats import parse, parse_nested
from reducer.rules import Rule, Step, When
from reducer.rules.model import TextPaths
from reducer.values import MAX_DEPTH, chars, dump, is_media, plain

_SCALARS = frozenset({str, int, float, bool, type(None)})
_FLAT = _SCALARS - {str} | {dict}
_EVERYTHING = TextPaths({}, None, None, here=False, all=True)


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
class Outcome:
    """What a rule did to one return: `content` is the result, `steps` what each step did.

    `gated`: the rule's own gate kept it from running. `fault` says why the return stays as it is although it should
    have been reduced; `unstable` is the step that would change the result again. `restored` says what was restored,
    `top` is the return with its plan.
    """

    rule: Rule | None
    content: Any
    gated: bool = False
    fault: str = ""
    unstable: StepRun | None = None
    steps: tuple[StepRun, ...] = ()
    restored: Restored = field(default_factory=Restored, repr=False, compare=False)
    top: Opened | None = field(default=None, repr=False, compare=False)

    def left_after(self, step: int, seen: bool = True) -> Any:
        """Return the content after step `step`, with 0 as it arrived: as steps see it, or as it is written."""
        if self.top is None:
            return self.content
        left = build(self.top.value, self.top.inside.get(0), step, seen)
        return left if seen else self.top.write(left)

    def removals(self) -> Iterator[Edit]:
        """Yield what each step removed, in document order."""
        return (edit for edit in edits(None, self.top) if not edit.is_restored)

    def restorations(self) -> Iterator[Edit]:
        """Yield what is restored of what steps removed, in document order."""
        return (edit for edit in edits(None, self.top) if edit.is_restored)


def run_once(rule: Rule, content: Any, top: Opened, protecting: tuple[Scans, References]) -> Outcome:
    """Apply a rule once to a content that was opened. Raises `Unreducible`."""
    work = Work(top, rule, *protecting)
    if rule.text_paths is not None and type(top.value) is not str:
        _open_texts(work.root(), rule.text_paths)
    arrived = build(top.value, top.inside.get(0), 0, seen=True)
    if rule.when is not None and not _holds(rule.when, arrived, top):
        return Outcome(rule, content, gated=True)
    steps = [_apply(step, work, arrived) for step in rule.steps]
    if rule.max_chars is None:
        restored = restore(work)
    else:
        work.step = len(rule.steps) + 1
        before = work.edits
        restored = fit(work, [each.step for each in steps if each.ran and each.step is not None])
        steps.append(StepRun(None, work.step, True, places=1, changed=work.edits > before))
    return Outcome(rule, _written(rule, content, top), steps=tuple(steps), restored=restored, top=top)


def _written(rule: Rule, content: Any, top: Opened) -> Any:
    """Return the content that a finished plan leaves; the same object if nothing changes, or only gets longer."""
    value = build(top.value, top.inside.get(0))
    compact = type(content) is str and any(step.op.writes_compactly for step in rule.steps)
    if value is top.value and not (compact and top.is_json):
        return content
    new = top.write(value)
    if type(content) is str and compact and not top.is_json and (found := parse(new)) and found[1].is_json:
        new = dump(value)  # `[1, 2]` is Python and JSON: the next pass reads it as JSON
    return content if new == content or (type(content) is str and len(new) > len(content)) else new


def _apply(step: Step, work: Work, arrived: Any) -> StepRun:
    if step.when is not None and not _holds(step.when, arrived, work.top):
        return StepRun(step, step.number, False, places=0, changed=False)
    work.step = step.number
    edits, count = work.edits, 0
    for place in work.root().find(step.path):
        if place.accepted_by(step.op.accepts):
            count += 1
            step.op.apply(place, work.root())
    return StepRun(step, step.number, True, places=count, changed=work.edits > edits)


def _holds(when: When, arrived: Any, top: Opened) -> bool:
    """Return whether a gate holds for the return as it arrived. Counting characters stops at the bound."""
    if when.min_chars is not None:
        written = top.value if top.is_json else top.write(top.value)
        if chars(written, when.min_chars) < when.min_chars:
            return False
    return when.where is None or when.where.holds(arrived)


def seen_by(way: TextPaths | None, content: Any) -> Any:
    """Return a content as the steps of a rule with this way see it, in plain JSON types. Raises `Unreducible`."""
    top = open_return(content)
    if top is None:
        return plain(content)
    if way is not None and type(top.value) is not str:
        _open_texts(Place(top.value, None, top, 0, work=None), way)
    return plain(build(top.value, top.inside.get(0), LAST, seen=True))


def _open_texts(place: Place, way: TextPaths, everything: bool = False) -> None:
    """Open the texts on a way below a place; with `everything` all that are JSON."""
    value, everything = place.value, everything or way.all
    if type(value) is list:
        below = way.of_items()
        if everything or (below is not None and not _is_flat(value, below)):
            for index in range(len(value)):
                _open_child(place, index, below or _EVERYTHING, everything)
    elif type(value) is dict and not is_media(value):
        for key in value if way.every is not None or everything else way.names.keys() & value.keys():
            _open_child(place, key, way.names.get(key) or way.every or _EVERYTHING, everything)


def _open_child(place: Place, key: Any, way: TextPaths, everything: bool) -> None:
    value = place.value[key]
    if type(value) is str and (everything or way.here or way.all):
        parsed = parse_nested(value)
        # Media that `unwrap` takes out of its text would become real, and it takes JSON alone.
        if (
            parsed is None
            or not fits(parsed[0], MAX_DEPTH - place.depth - 1, way.here)
            or not (way.here or parsed[1].is_json)
        ):
            return
        place.make().inside[key] = open_parsed(*parsed)
    elif type(value) in _SCALARS:
        return
    _open_texts(place.child(key), way, everything)


def _is_flat(items: list[Any], way: TextPaths) -> bool:
    """Return whether these are objects without a text to open, which is asked at C speed: most lists are."""
    return not way.names and way.every is None and not way.all and _FLAT.issuperset(map(type, items))
