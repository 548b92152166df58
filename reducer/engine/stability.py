"""Law 5 (idempotence): return a result only if a second pass does not change it, otherwise a fallback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reducer.engine.run import Outcome, StepRun
from reducer.rules import Rule

OnePass = Callable[[Rule, Any], Outcome]
"""A function that applies a rule once to a content."""


def stabilize(rule: Rule, content: Any, one_pass: OnePass) -> Outcome:
    """Return the first result that a second pass does not change: of the rule, of its `max_chars` alone, or no change.

    A fallback is accepted only if this procedure returns it unchanged.
    """
    first = one_pass(rule, content)
    if first.content is content or first.is_proven:
        return first
    unstable = _changed_again(rule, first.content, one_pass)
    if unstable is None:
        return first
    name = unstable.step.name if unstable.step else "max_chars"
    fault = f"a second pass would change the result: `{name}` is to blame"
    if rule.max_chars is not None:
        alone = one_pass(_max_chars_alone(rule), content)
        if alone.content is not content and _is_returned(rule, alone.content, one_pass):
            fault = f"{fault}; only `max_chars` was applied"
            return replace(alone, rule=rule, fault=fault, unstable=unstable)
    return replace(first, content=content, fault=fault, unstable=unstable)


def _changed_again(rule: Rule, result: Any, one_pass: OnePass) -> StepRun | None:
    """Return the step of a second pass that changes a result, or None if nothing changes."""
    again = one_pass(rule, result)
    if again.content == result:
        return None
    return next((step for step in reversed(again.steps) if step.changed), again.steps[-1])


def _is_returned(rule: Rule, fallback: Any, one_pass: OnePass) -> bool:
    """Return whether `stabilize` returns a fallback unchanged."""
    result = one_pass(rule, fallback).content
    if result == fallback:
        return True
    if _changed_again(rule, result, one_pass) is None:
        return False
    return bool(one_pass(_max_chars_alone(rule), fallback).content == fallback)


def _max_chars_alone(rule: Rule) -> Rule:
    return replace(rule, steps=(), when=None, preserved=(rule.preserved[0], rule.preserved[-1]))
