"""Law 5: a second pass over a result changes nothing, or one fallback is used that it does not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reducer.engine.run import Pass, StepRun
from reducer.rules import Rule

OnePass = Callable[[Rule, Any], tuple[Any, Pass | None]]
"""Applies a rule once to a content; returns what is left, the same object if nothing changes, and the finished plan."""


def stabilize(rule: Rule, content: Any, one_pass: OnePass) -> tuple[Any, Pass | None, StepRun | None]:
    """Return what a rule leaves of a content, or what `max_chars` alone leaves, or the content: the first that a second
    pass does not change. Return also its plan, and the step for which a fallback was needed.

    The fallback is accepted only if this procedure returns it unchanged.
    """
    result, plan = one_pass(rule, content)
    if plan is None or result is content or (rule.statically_idempotent and not plan.restored.referenced):
        return result, plan, None
    unstable = _changed_again(rule, result, one_pass)
    if unstable is not None and rule.max_chars is not None:
        fallback, fallback_plan = one_pass(_max_chars_alone(rule), content)
        if fallback is not content and _is_returned(rule, fallback, one_pass):
            return fallback, fallback_plan, unstable
    return result if unstable is None else content, plan, unstable


def _changed_again(rule: Rule, result: Any, one_pass: OnePass) -> StepRun | None:
    """Return the step of a second pass that changes a result; None if nothing changes."""
    again, plan = one_pass(rule, result)
    if plan is None or again is result or again == result:
        return None
    return next((step for step in reversed(plan.steps) if step.changed), plan.steps[-1])


def _is_returned(rule: Rule, fallback: Any, one_pass: OnePass) -> bool:
    """Return whether `stabilize` returns a fallback unchanged."""
    result, _ = one_pass(rule, fallback)
    if result is fallback or result == fallback:
        return True
    if _changed_again(rule, result, one_pass) is None:
        return False
    alone, _ = one_pass(_max_chars_alone(rule), fallback)
    return bool(alone is fallback or alone == fallback)


def _max_chars_alone(rule: Rule) -> Rule:
    return replace(rule, steps=(), when=None, preserved=(rule.preserved[0], rule.preserved[-1]))
