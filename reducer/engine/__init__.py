"""The engine: one tool return in, one out, the same object if nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reducer.engine.arrival import Arrival, arrive
from reducer.engine.protection import Protected, Protection, protect
from reducer.engine.reading import Reading
from reducer.engine.run import Ran, StepTrace, passes, run
from reducer.rule import Rule, Ruleset
from reducer.values import MOST_CHARS, Unreducible

__all__ = ["OnFault", "Outcome", "Protected", "StepTrace", "attempt", "prepare", "reduce_content", "trace"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule did to one return: `content` is the result, `steps` what each step did.

    `gated`: the rule's own gate kept it from running. `fault` says why the return stayed as it was although it should have been reduced;
    `blamed` is the step that would have changed the result again. `lost` are preserved entities beyond the bound that the rule sets,
    `preserved` counts those that were put back or are mentioned in marks. `referred` are the protected values that the steps took and that stand
    in the result all the same. `arrival` is the content as it was opened, `result` what was left of that.
    """

    rule: Rule | None
    content: Any
    steps: tuple[StepTrace, ...] = ()
    gated: bool = False
    fault: str = ""
    blamed: StepTrace | None = None
    lost: tuple[str, ...] = ()
    preserved: int = 0
    referred: frozenset[str] = frozenset()
    arrival: Arrival | None = field(default=None, repr=False, compare=False)
    result: Any = field(default=None, repr=False, compare=False)

    @property
    def final(self) -> Any:
        """Give the result as steps see it, opened; without one the return as it arrived."""
        return self.content if self.arrival is None else self.arrival.value if self.result is None else self.result

    def written(self, value: Any) -> Any:
        """Give the content that a value before or after a step stands for."""
        return value if self.arrival is None else self.arrival.written(value)


OnFault = Callable[[str, str], None]
"""Hears the tool, and why its return stayed as it was although a rule is for it."""


def reduce_content(ruleset: Ruleset, tool: str, content: Any, on_fault: OnFault | None = None, protected: Protected | None = None) -> Any:
    """Reduce the content of one return of `tool`: JSON text, plain text, a list, an object, or anything that is stored as one of them.

    Of the values in `protected`, written as `reducer.references` gives them, each that stands in the content stands in the result. What finds
    them there may be given in their place; it is called only if the rule takes something away.
    The same object comes back if no rule is for the tool or nothing changes. Never raises.
    """
    outcome = attempt(ruleset, tool, content, protected)
    if outcome.fault and on_fault is not None:
        on_fault(tool, outcome.fault)
    return outcome.content


def attempt(ruleset: Ruleset, tool: str, content: Any, protected: Protected | None = None) -> Outcome:
    """Reduce one content as `reduce_content` does, and tell by which rule; without what its steps did."""
    rule = ruleset.rule_for(tool)
    return Outcome(None, content) if rule is None else _reduce(rule, content, None, protected)


def prepare(ruleset: Ruleset) -> None:
    """Build what the rules scan with, so that the first return finds it ready: reducing itself reads no files."""
    for rule in ruleset.rules:
        rule.vocabulary.scanner(rule.types)
        rule.vocabulary.scanner_of_many(rule.types)
        if any(step.op.cuts_blindly for step in rule.steps) or rule.max_chars is not None:
            rule.vocabulary.everything()


def trace(ruleset: Ruleset, tool: str, content: Any, protected: Protected | None = None) -> Outcome:
    """Reduce one content as `reduce_content` does, and tell what every step did."""
    rule = ruleset.rule_for(tool)
    if rule is None:
        return Outcome(None, content)
    steps: list[StepTrace] = []
    return _reduce(rule, content, steps, protected)


def _reduce(rule: Rule, content: Any, steps: list[StepTrace] | None, protected: Protected | None) -> Outcome:
    try:
        return _attempt(rule, content, steps, protected)
    except Unreducible as error:
        return Outcome(rule, content, fault=str(error))
    except RecursionError:
        return Outcome(rule, content, fault="deeper than the interpreter goes")


def _attempt(rule: Rule, content: Any, steps: list[StepTrace] | None, protected: Protected | None) -> Outcome:
    is_text = type(content) is str
    if is_text and rule.when and rule.when.min_chars and len(content) < rule.when.min_chars:
        return Outcome(rule, content, gated=True)
    if is_text and len(content) > MOST_CHARS:
        return Outcome(rule, content, fault=f"a text of more than {MOST_CHARS:,} characters")
    arrival = arrive(rule, content)
    if arrival is None:
        return Outcome(rule, content)
    if rule.when is not None and not passes(rule.when, arrival):
        return Outcome(rule, content, gated=True)
    reading = Reading(rule)
    protection = protect(protected, content, arrival.value)
    ran = run(rule, arrival, reading, None if steps is None else steps.append, protection)
    left = arrival.left(ran.result, _writes_compactly(rule))
    if left is content:
        return Outcome(rule, content, tuple(steps or ()), referred=ran.referred, arrival=arrival)
    blamed = None if rule.proven and not ran.referred else _changed_again(rule, left, reading, protection, ran)
    outcome = Outcome(rule, left, tuple(steps or ()), lost=ran.lost, preserved=ran.preserved, referred=ran.referred, arrival=arrival, result=ran.result)
    return _settled(outcome, content, blamed)


def _writes_compactly(rule: Rule) -> bool:
    return any(step.op.writes_compactly for step in rule.steps)


def _settled(outcome: Outcome, content: Any, blamed: StepTrace | None) -> Outcome:
    if blamed is None:
        return outcome
    name = blamed.step.name if blamed.step else "max_chars"
    fault = f"a second pass would change the result: `{name}` is to blame"
    return Outcome(outcome.rule, content, outcome.steps, fault=fault, blamed=blamed, referred=outcome.referred, arrival=outcome.arrival)


def _changed_again(rule: Rule, result: Any, reading: Reading, protection: Protection | None, earlier: Ran) -> StepTrace | None:
    """Give the step of a second pass that would change a result, which an earlier pass left; None for a fixed point."""
    arrival = arrive(rule, result)
    if arrival is None or (rule.when is not None and not passes(rule.when, arrival)):
        return None
    again = arrival.left(run(rule, arrival, reading, None, protection, earlier).result, _writes_compactly(rule))
    if again is result or again == result:
        return None
    steps: list[StepTrace] = []
    run(rule, arrival, reading, steps.append, protection)
    # A step may take what is put back in the end, as it did in the first pass: the last that changed something has not.
    return next((step for step in steps if step.after is not step.before), steps[-1])
