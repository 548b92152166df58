"""The engine: one tool return in, one out, the same object if nothing changes.

`reduce_content` takes the content of a return and its tool, and returns what the rule for the tool leaves of it;
`attempt` also returns how. A return passes through the steps in `run`, then `restore` and `budget`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reducer.engine.edits import Edit, removals, restorations
from reducer.engine.plan import Opened, build, open_return
from reducer.engine.protected import Protected, Scans, references_in
from reducer.engine.restore import Restored
from reducer.engine.run import Pass, StepRun, run_once
from reducer.engine.stability import stabilize
from reducer.formats import parse
from reducer.rules import Rule, Ruleset
from reducer.values import MOST_CHARS, Unreducible, dump

__all__ = ["Edit", "OnFault", "Outcome", "Protected", "StepRun", "attempt", "prepare", "reduce_content"]

OnFault = Callable[[str, str], None]
"""Is called with the tool, and the reason why its return stays as it is although there is a rule for it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule did to one return: `content` is the result, `steps` what each step did.

    `gated`: the rule's own gate kept it from running. `fault` says why the return stays as it is although it should
    have been reduced; `unstable` is the step that would change the result again. `plan` is the return with its plan.
    """

    rule: Rule | None
    content: Any
    gated: bool = False
    fault: str = ""
    unstable: StepRun | None = None
    plan: Pass | None = field(default=None, repr=False, compare=False)

    @property
    def steps(self) -> tuple[StepRun, ...]:
        """What each step did."""
        return () if self.plan is None else self.plan.steps

    @property
    def restored(self) -> Restored:
        """What was restored: how many entities, which referenced values, and the entities beyond a bound."""
        return Restored() if self.plan is None else self.plan.restored

    def left_after(self, step: int, seen: bool = True) -> Any:
        """Return the content after step `step`, with 0 as it arrived: as steps see it, or as it is written."""
        if self.plan is None:
            return self.content
        top = self.plan.top
        left = build(top.value, top.inside.get(0), step, seen)
        return left if seen else top.write(left)

    def removals(self) -> Iterator[Edit]:
        """Yield what each step removed, in document order."""
        if self.plan is not None:
            top = self.plan.top
            yield from removals(top.value, top.inside.get(0))

    def restorations(self) -> Iterator[Edit]:
        """Yield what is restored of what steps removed, in document order."""
        if self.plan is not None:
            top = self.plan.top
            yield from restorations(top.value, top.inside.get(0))


def reduce_content(
    ruleset: Ruleset, tool: str, content: Any, on_fault: OnFault | None = None, protected: Protected | None = None
) -> Any:
    """Reduce the content of one return of `tool`: JSON text, plain text, a list, an object, or what is stored as one.

    Each value in `protected`, as `reducer.references` writes them, that the content contains stays in the result; a
    function that finds them is called only if the rule removes something. Return the same object if no rule is for
    the tool or nothing changes. Never raises.
    """
    outcome = attempt(ruleset, tool, content, protected)
    if outcome.fault and on_fault is not None:
        on_fault(tool, outcome.fault)
    return outcome.content


def attempt(ruleset: Ruleset, tool: str, content: Any, protected: Protected | None = None) -> Outcome:
    """Reduce one content as `reduce_content` does, and return what the rule did to it."""
    rule = ruleset.rule_for(tool)
    if rule is None:
        return Outcome(None, content)
    try:
        return _reduce(rule, content, protected)
    except Unreducible as error:
        return Outcome(rule, content, fault=str(error))
    except RecursionError:
        return Outcome(rule, content, fault="deeper than the interpreter goes")


def prepare(ruleset: Ruleset) -> None:
    """Build what the rules scan with, so that the first return finds it ready."""
    for rule in ruleset.rules:
        rule.vocabulary.scanner(rule.types)
        rule.vocabulary.scanner_of_many(rule.types)
        if any(step.op.cuts_blindly for step in rule.steps) or rule.max_chars is not None:
            rule.vocabulary.everything()


def _reduce(rule: Rule, content: Any, protected: Protected | None) -> Outcome:
    if type(content) is str:
        if rule.when is not None and rule.when.min_chars and len(content) < rule.when.min_chars:
            return Outcome(rule, content, gated=True)
        if len(content) > MOST_CHARS:
            return Outcome(rule, content, fault=f"a text of more than {MOST_CHARS:,} characters")
    top = open_return(content)
    if top is None:
        return Outcome(rule, content)
    scans, references = Scans(rule), references_in(protected, content, top.value)

    def one_pass(rule: Rule, value: Any) -> tuple[Any, Pass | None]:
        opened = open_return(value) if value is not content else Opened(top.value, top.write, top.is_json, top.least)
        plan = None if opened is None else run_once(rule, opened, scans, references)
        return (value if opened is None or plan is None else written(rule, value, opened)), plan

    result, plan, unstable = stabilize(rule, content, one_pass)
    if unstable is None:
        return Outcome(rule, result, gated=plan is None, plan=plan)
    fault = (
        f"a second pass would change the result: `{unstable.step.name if unstable.step else 'max_chars'}` is to blame"
    )
    if result is not content:
        fault += "; only `max_chars` was applied"
    return Outcome(rule, result, fault=fault, unstable=unstable, plan=plan)


def written(rule: Rule, content: Any, top: Opened) -> Any:
    """Return the content that a finished plan leaves; the same object if nothing changes, or only gets longer."""
    value = build(top.value, top.inside.get(0))
    compact = type(content) is str and any(step.op.writes_compactly for step in rule.steps)
    if value is top.value and not (compact and top.is_json):
        return content
    new = top.write(value)
    if type(content) is not str:
        return content if new == content else new
    if compact and not top.is_json and _is_json(new):
        new = dump(value)  # `[1, 2]` is Python and JSON: the next pass reads it as JSON
    return content if len(new) > len(content) or new == content else new


def _is_json(text: str) -> bool:
    found = parse(text)
    return found is not None and found[1].is_json
