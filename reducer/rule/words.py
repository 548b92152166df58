"""Rules in words: what the model is told once, instead of notes inside the data."""

from __future__ import annotations

from collections.abc import Iterable

from reducer.rule.model import Rule, Ruleset

_OPENING = "Tool answers in this conversation are shortened by fixed rules; `…[` marks where text or items were left out."


def instructions(ruleset: Ruleset, tools: Iterable[str] | None = None) -> str:
    """Say what the rules leave out, one line a rule: of the rules for `tools`, or of all. Empty when there is none.

    The text depends on the rules alone, so that it is the same in every request.
    """
    if tools is None:
        rules = [(", ".join(f"`{name}`" for name in rule.tools), rule) for rule in ruleset.rules]
    else:
        found = [(f"`{tool}`", ruleset.rule_for(tool)) for tool in sorted(set(tools))]
        rules = [(name, rule) for name, rule in found if rule is not None]
    return "\n".join([_OPENING, *(f"- {name}: {_told(rule)}." for name, rule in rules)]) if rules else ""


def _told(rule: Rule) -> str:
    sayings = [step.op.tells("the answer" if step.path.text == "@" else f"`{step.path.text}`") for step in rule.steps]
    if rule.max_chars is not None:
        sayings.append(f"the answer is cut down to about {rule.max_chars:,} characters")
    return "; ".join(sayings)
