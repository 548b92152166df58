"""Find the rules for recorded tools: those that match by name, and those that match by the shape of the returns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reducer.analysis.laws import alone
from reducer.analysis.texts import characters
from reducer.engine import attempt
from reducer.rules import Rule, Ruleset

_QUOTED = re.compile("'[^']*'|`[^`]*`")
_KEY = re.compile(r"[A-Za-z_]\w*+(?!\()")
MAX_RETURNS = 10
"""The longest returns of a tool, which show the shapes of its returns."""


@dataclass(frozen=True, slots=True)
class Covered:
    """What rules do to the returns of a tool, in characters.

    `rules` are those that apply to at least one return. With `by_shape`, none of them has the name of the tool.
    """

    tool: str
    returns: int
    before: int
    after: int
    rules: tuple[Rule, ...] = ()
    by_shape: bool = False

    @property
    def saved(self) -> float:
        """The share of the characters that the rules save."""
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def fits(self) -> bool:
        """Whether the rules save enough, so that nothing needs to be drafted: half if only the shape matches."""
        return bool(self.rules) and self.saved >= (0.5 if self.by_shape else 0.2)


def covered(ruleset: Ruleset, tool: str, contents: Sequence[Any]) -> Covered:
    """Find the rules that reduce the returns of a tool, given the longest first.

    If no rule with its name applies, all rules whose shape names two keys are tried on the longest returns: other
    shapes, such as "a list of lines", are those of many tools.
    """
    named = _applied(ruleset, tool, contents)
    if named.rules:
        return named
    best = named
    for rule in ruleset.rules:
        if names_keys(rule):
            found = _applied(alone(rule, ruleset), tool, contents[:MAX_RETURNS], by_shape=True)
            if found.rules and found.saved > best.saved:
                best = found
    if best.by_shape and len(contents) > MAX_RETURNS:
        return _applied(alone(best.rules[0], ruleset), tool, contents, by_shape=True)
    return best


def names_keys(rule: Rule) -> bool:
    """Return whether the `when.where` of a rule reads two keys or more, and not only types and texts."""
    if rule.when is None or rule.when.where is None:
        return False
    return len(set(_KEY.findall(_QUOTED.sub("", rule.when.where.text)))) > 1


def _applied(ruleset: Ruleset, tool: str, contents: Sequence[Any], by_shape: bool = False) -> Covered:
    rules: dict[str, Rule] = {}
    after = 0
    for content in contents:
        outcome = attempt(ruleset, tool, content)
        after += characters(outcome.content)
        if outcome.rule is not None and not outcome.gated:
            rules.setdefault(outcome.rule.file, outcome.rule)
    before = sum(map(characters, contents))
    return Covered(tool, len(contents), before, after, tuple(rules.values()), by_shape)
