"""Rules in words: what the model is told once, instead of notes inside the data."""

from __future__ import annotations

from collections.abc import Iterable

from reducer.rule.model import Rule, Ruleset

_OPENING = "Tool answers in this conversation are shortened by fixed rules; `…[` marks where text or items were left out."

_MOST = 8
"""Sayings of one rule: a reader of twenty keeps none of them in mind, and each request pays for them."""


def instructions(ruleset: Ruleset, tools: Iterable[str] | None = None) -> str:
    """Say what the rules leave out, one line a rule: of the rules for `tools`, or of all. Empty when there is none.

    The text depends on the rules alone, so that it is the same in every request.
    """
    named: dict[int, tuple[Rule, list[str]]] = {}
    if tools is None:
        named = {number: (rule, list(rule.tools)) for number, rule in enumerate(ruleset.rules)}
    else:
        for tool in sorted(set(tools)):
            rule = ruleset.rule_for(tool)
            if rule is not None:
                named.setdefault(id(rule), (rule, []))[1].append(tool)
    if not named:
        return ""
    return "\n".join([_OPENING, *(f"- {', '.join(f'`{name}`' for name in names)}: {_told(rule)}." for rule, names in named.values())])


def _told(rule: Rule) -> str:
    sayings = dict.fromkeys(step.op.tells("the answer" if step.path.text == "@" else f"`{step.path.text}`") for step in rule.steps)
    if rule.max_chars is not None:
        sayings[f"the answer is cut down to about {rule.max_chars:,} characters"] = None
    said = list(sayings)
    # What makes the whole short comes last and is always said.
    return "; ".join(said if len(said) <= _MOST else [*said[: _MOST - 2], "other parts are shortened too", said[-1]])
