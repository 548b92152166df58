"""What a rule did to the content of one tool return, as data."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from reducer.analysis.measures import LostEntity, Recall, lost_entities
from reducer.analysis.steps import Change, StepReport, changes, characters, step_reports
from reducer.analysis.tree import tree
from reducer.engine import Outcome, StepRun, attempt
from reducer.rules import Rule, Ruleset
from reducer.values import Unreducible, plain

Status = Literal["reduced", "unchanged", "gated", "fault", "no rule", "untouched"]


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
    - `lost` counts the entities beyond a bound of `preserve`.
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
    lost: int = 0
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


def explain(ruleset: Ruleset, tool: str, content: Any, with_tree: bool = False) -> Explanation:
    """Reduce the content of one return of `tool`, and return what each step did. Never raises."""
    outcome = shown = attempt(ruleset, tool, content)
    value = content
    with suppress(Unreducible, RecursionError):
        value = plain(content)
    if value is not content:
        shown = attempt(ruleset, tool, value)
    return replace(explained(tool, value, shown, with_tree), content=outcome.content)


def explained(tool: str, content: Any, outcome: Outcome, with_tree: bool = False) -> Explanation:
    """Return everything that a rule did to a content in plain JSON types, with the entities that it removed."""
    recall, lost = lost_entities(tool, content, outcome)
    explanation = explain_outcome(tool, content, outcome, detailed=True, with_tree=with_tree)
    return replace(explanation, content=outcome.content, entities=recall, lost_entities=tuple(lost))


def explain_outcome(
    tool: str,
    content: Any,
    outcome: Outcome,
    *,
    detailed: bool,
    with_tree: bool = False,
    alone: Outcome | None = None,
    size: int = 0,
    untouched: str = "",
    place: ReturnPlace | None = None,
) -> Explanation:
    """Return what a rule did to a content in plain JSON types.

    If `detailed`, the steps list what they removed. `with_tree` adds the annotated tree. `alone` is the outcome without
    the protection of referenced values, `size` the size of a content whose characters cannot be counted, and
    `untouched` the reason why rules never apply.
    """
    rule, alone = outcome.rule, alone or outcome
    before = characters(content, size)
    after = before if outcome.content is content else characters(outcome.content, before)
    after_alone = after if alone is outcome else characters(alone.content, before)
    status, why = _status(content, outcome, alone, untouched)
    steps = step_reports(alone, before, detailed) if alone.steps else ()
    removed = steps[0].before - steps[-1].after if steps else 0
    return Explanation(
        tool=tool,
        rule=rule,
        status=status,
        why=why,
        before=before,
        after=after,
        rewritten=before - steps[0].before if steps and status == "reduced" and type(content) is str else 0,
        steps=steps,
        restored=max(0, after_alone - steps[-1].after) if removed > 0 and not alone.fault else 0,
        referenced=max(0, after - after_alone),
        restorations=changes(outcome.restorations(), restored=True) if detailed and not outcome.fault else (),
        over=max(0, after - rule.max_chars) if rule and rule.max_chars is not None and not outcome.gated else 0,
        lost=len(outcome.restored.lost),
        place=place,
        unstable=outcome.unstable,
        tree=tree(content, outcome) if with_tree else None,
    )


def _status(content: Any, outcome: Outcome, alone: Outcome, untouched: str) -> tuple[Status, str]:
    if untouched:
        return "untouched", untouched
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
    return "unchanged", "the rule removes nothing"
