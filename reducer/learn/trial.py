"""Tries choices on recorded returns with the engine itself: what is left, and which of the wanted values are gone."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from reducer.engine import attempt
from reducer.learn.cuts import Cut
from reducer.learn.evidence import Seen
from reducer.measures import size
from reducer.references import searched, searcher
from reducer.rule import Ruleset, compile_rules


class Outcome(NamedTuple):
    """What is left of a return: characters, and the wanted values that are gone."""

    chars: int
    gone: frozenset[str]


Try = Callable[[Cut, Seen], Outcome]


def rule_of(tool: str, before: Sequence[dict[str, Any]], cut: Cut | None, gate: int = 0) -> dict[str, Any]:
    """Write a rule, as its YAML says, that does `before` and then cuts."""
    rule: dict[str, Any] = {"version": 1, "tool": tool}
    steps = [*before, *(cut.steps(gate) if cut else ())]
    if steps:
        rule["steps"] = steps
    if cut is not None and cut.target is not None:
        rule["max_chars"] = cut.target
        if not cut.kept:
            rule["preserve"] = []
    return rule


def compiled(rule: dict[str, Any]) -> Ruleset:
    """Compile one rule. Raises `ValueError` for one that has problems."""
    ruleset, problems = compile_rules([("drafted", json.dumps(rule))])  # JSON is YAML
    if ruleset is None or problems:
        raise ValueError("; ".join(problem.message for problem in problems))
    return ruleset


def outcome(ruleset: Ruleset, seen: Seen) -> Outcome:
    """Give what the one rule of a ruleset leaves of a return."""
    return judged(seen, attempt(ruleset, seen.tool, seen.content).content)


def judged(seen: Seen, left: Any) -> Outcome:
    """Give what a content that was left of a return amounts to."""
    if left is seen.content:
        return Outcome(seen.chars, frozenset())
    chars = size(left)
    if chars > seen.chars:
        return Outcome(seen.chars, frozenset())
    return Outcome(chars, seen.wanted - searcher(seen.wanted)(searched(left)) if seen.wanted else frozenset())


def _is_nothing(cut: Cut, seen: Seen) -> bool:
    """Tell at a glance that a return is too short to be cut."""
    if cut.unwrap:
        return False
    return seen.chars <= (cut.target or 0) or (cut.target is None and cut.items is None and seen.chars <= (cut.length or 0))


def tries(before: Sequence[dict[str, Any]] = ()) -> Try:
    """Give the function that tries a cut on a return, after the steps `before`; each is tried once."""
    rulesets: dict[Cut, Ruleset] = {}
    known: dict[tuple[Cut, int], Outcome] = {}
    held: list[Seen] = []  # their ids are not given again

    def tried(cut: Cut, seen: Seen) -> Outcome:
        if not before and _is_nothing(cut, seen):
            return Outcome(seen.chars, frozenset())
        key = (cut, id(seen))
        found = known.get(key)
        if found is None:
            if cut not in rulesets:
                rulesets[cut] = compiled(rule_of("*", before, cut))
            found = known[key] = outcome(rulesets[cut], seen)
            held.append(seen)
        return found

    return tried
