"""The engine reduces one tool return with the rule for its tool.

`reduce_content` takes a tool name and the content of a return, and returns the reduced content, or the same object if
nothing changes. `attempt` also reports what each step did. `run` applies the steps, then calls `restore` and `budget`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reducer.engine.edits import Edit
from reducer.engine.plan import Opened, open_return
from reducer.engine.protected import Protected, References, Scans
from reducer.engine.run import Outcome, StepRun, run_once
from reducer.engine.stability import stabilize
from reducer.rules import Rule, Ruleset
from reducer.values import MAX_TEXT_CHARS, Unreducible

__all__ = ["Edit", "OnFault", "Outcome", "Protected", "StepRun", "attempt", "prepare", "reduce_content"]

OnFault = Callable[[str, str], None]
"""Receives the name of a tool and the reason why its return could not be reduced."""


def reduce_content(
    ruleset: Ruleset, tool: str, content: Any, on_fault: OnFault | None = None, protected: Protected | None = None
) -> Any:
    """Reduce the content of one return of `tool`: JSON text, plain text, a list, an object or a live object.

    The result keeps every value in `protected` that the content contains, written as in `reducer.references`. If
    `protected` is a function, it is called only if the rule removes something. Return the same object if the tool has
    no rule or nothing changes. Never raises.
    """
    outcome = attempt(ruleset, tool, content, protected)
    if outcome.fault and on_fault is not None:
        on_fault(tool, outcome.fault)
    return outcome.content


def attempt(ruleset: Ruleset, tool: str, content: Any, protected: Protected | None = None) -> Outcome:
    """Reduce one content like `reduce_content`, and return the result with what each step did."""
    rule = ruleset.rule_for(tool)
    if rule is None:
        return Outcome(None, content)
    try:
        return _reduced(rule, content, protected)
    except Unreducible as error:
        return Outcome(rule, content, fault=str(error))
    except RecursionError:
        return Outcome(rule, content, fault="deeper than the interpreter goes")


def prepare(ruleset: Ruleset) -> None:
    """Build the scanners of all rules in advance, so that the first return does not wait for them."""
    for rule in ruleset.rules:
        rule.vocabulary.scanner(rule.types)
        rule.vocabulary.scanner_of_many(rule.types)
        if any(step.op.cuts_blindly for step in rule.steps) or rule.max_chars is not None:
            rule.vocabulary.everything()


def _reduced(rule: Rule, content: Any, protected: Protected | None) -> Outcome:
    if type(content) is str:
        if rule.when is not None and rule.when.min_chars and len(content) < rule.when.min_chars:
            return Outcome(rule, content, gated=True)
        if len(content) > MAX_TEXT_CHARS:
            raise Unreducible(f"a text of more than {MAX_TEXT_CHARS:,} characters")
    top = open_return(content)
    if top is None:
        return Outcome(rule, content)
    shared = Scans(rule), References(protected, content, type(top.value) is str)

    def one_pass(rule: Rule, value: Any) -> Outcome:
        opened = Opened(top.value, top.write, top.is_json, top.least) if value is content else open_return(value)
        return Outcome(rule, value) if opened is None else run_once(rule, value, opened, shared)

    return stabilize(rule, content, one_pass)
