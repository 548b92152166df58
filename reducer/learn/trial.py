"""Tries choices on recorded returns with the engine itself: what is left, and which of the wanted values are gone."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from reducer.engine import attempt
from reducer.learn.cuts import NOTHING, Cut, Way
from reducer.learn.evidence import Seen
from reducer.learn.familiar import described, entity, shown_in
from reducer.measures import size
from reducer.references import searched, searcher
from reducer.rule import Ruleset, compile_rules


class Outcome(NamedTuple):
    """What is left of a return: characters, the wanted values that are gone, and what else is gone of the values that were looked for."""

    chars: int
    gone: frozenset[str]
    absent: frozenset[str] = frozenset()


Try = Callable[[Cut, Seen], Outcome]
Find = Callable[[str], set[str]]


def written(tool: str, way: Way, tiers: Sequence[tuple[int, Cut]], before: Sequence[dict[str, Any]] = (), values: Sequence[str] = ()) -> dict[str, Any] | None:
    """Write the rule that does `before`, and then cuts as `tiers` say, each from its size on; None for one that does nothing.

    `values` are those that agents used in other tasks, for cuts that leave them.
    """
    rule: dict[str, Any] = {"version": 1, "tool": tool}
    kind = entity(tool)
    if values and any(cut.again for _, cut in tiers):
        rule["entities"] = described(tool, values)
    steps = [*(step for _, step in way.first), *before]
    for gate, cut in tiers:
        steps += cut.steps(gate if cut.target is None else 0, kind)
        if cut.target is not None:
            rule |= {"max_chars": cut.target, **cut.preserved(kind)}
            if gate > cut.target and not cut.holds_always:
                rule["when"] = {"min_chars": gate}
    steps += [step for _, step in way.last]
    if steps:
        rule["steps"] = steps
    return rule if steps or "max_chars" in rule else None


def compiled(rule: dict[str, Any]) -> Ruleset:
    """Compile one rule. Raises `ValueError` for one that has problems."""
    ruleset, problems = compile_rules([("drafted", json.dumps(rule))])  # JSON is YAML
    if ruleset is None or problems:
        raise ValueError("; ".join(problem.message for problem in problems))
    return ruleset


def outcome(ruleset: Ruleset, seen: Seen) -> Outcome:
    """Give what the one rule of a ruleset leaves of a return."""
    return _judged(seen, attempt(ruleset, seen.tool, seen.content).content, seen.wanted)


def _judged(seen: Seen, left: Any, values: frozenset[str], find: Find | None = None) -> Outcome:
    """Give what a content that was left of a return amounts to. `values`, which `find` finds, stood in it."""
    if left is seen.content:
        return Outcome(seen.chars, frozenset())
    chars = size(left)
    if chars > seen.chars:
        return Outcome(seen.chars, frozenset())
    absent = values - (find or searcher(values))(searched(left)) if values else values
    return Outcome(chars, absent & seen.wanted, absent)


def tries(ways: Sequence[Way] = (NOTHING,), values: Sequence[str] = ()) -> Try:
    """Give the function that tries a cut on a return, in its way, and looks for `values` besides; each is tried once."""
    rulesets: dict[Cut, Ruleset] = {}
    known: dict[tuple[Cut, int], Outcome] = {}
    shown = shown_in(values)
    finders: dict[int, tuple[Seen, frozenset[str], Find]] = {}  # with the return, so that its id is not given again

    def tried(cut: Cut, seen: Seen) -> Outcome:
        if cut == _UNTOUCHED:
            return Outcome(seen.chars, frozenset())
        key = (cut, id(seen))
        found = known.get(key)
        if found is None:
            bare = None if cut.is_bare else tried(Cut(cut.way), seen)
            if bare is not None and _is_short(cut, seen, bare.chars):
                found = bare
            else:
                if cut not in rulesets:
                    rulesets[cut] = compiled(written("*", ways[cut.way], [(0, cut)]) or {})
                if id(seen) not in finders:
                    every = seen.wanted | shown(seen)
                    finders[id(seen)] = (seen, every, searcher(every))
                found = _judged(seen, attempt(rulesets[cut], seen.tool, seen.content).content, *finders[id(seen)][1:])
            known[key] = found
        return found

    return tried


_UNTOUCHED = Cut()


def _is_short(cut: Cut, seen: Seen, chars: int) -> bool:
    """Tell at a glance that a return is too short to be cut, of which `chars` characters are left at no cost."""
    if cut.target is not None:
        return chars <= cut.target and seen.chars < cut.start
    return cut.items is None and chars <= (cut.length or 0)
