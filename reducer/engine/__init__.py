"""The engine: one tool return in, one out, the same object if nothing changes.

`reduce_content` takes the content of a return and its tool, and returns what the rule for the tool leaves of it;
`attempt` also returns how. A return passes through the steps in `run`, then `restore` and `budget`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reducer.engine.edits import Edit
from reducer.engine.plan import Opened, open_return
from reducer.engine.protected import Protected, Scans, references_in
from reducer.engine.run import Outcome, StepRun, run_once
from reducer.engine.stability import stabilize
from reducer.rules import Rule, Ruleset
from reducer.values import MOST_CHARS, Unreducible

__all__ = ["Edit", "OnFault", "Outcome", "Protected", "StepRun", "attempt", "prepare", "reduce_content"]

OnFault = Callable[[str, str], None]
"""Is called with the tool, and the reason why its return stays as it is although there is a rule for it."""


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
        return _reduced(rule, content, protected)
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


def _reduced(rule: Rule, content: Any, protected: Protected | None) -> Outcome:
    if type(content) is str:
        if rule.when is not None and rule.when.min_chars and len(content) < rule.when.min_chars:
            return Outcome(rule, content, gated=True)
        if len(content) > MOST_CHARS:
            raise Unreducible(f"a text of more than {MOST_CHARS:,} characters")
    top = open_return(content)
    if top is None:
        return Outcome(rule, content)
    scans, references = Scans(rule), references_in(protected, content, top.value)

    def one_pass(rule: Rule, value: Any) -> Outcome:
        opened = Opened(top.value, top.write, top.is_json, top.least) if value is content else open_return(value)
        return Outcome(rule, value) if opened is None else run_once(rule, value, opened, (scans, references))

    return stabilize(rule, content, one_pass)
