"""Drafts without evidence: from answers of a tool to a rule, by what the answers look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from itertools import pairwise
from typing import Any

import jmespath

from reducer.analysis.drafting.levels import BIG, ENOUGH, LEVELS, Level
from reducer.analysis.drafting.profiles import profile
from reducer.analysis.drafting.rule_text import Draft, DraftRule, Step, compiled, json_text, rule_text, sample_test
from reducer.analysis.drafting.steps import suggested_steps
from reducer.engine import Outcome, attempt
from reducer.formats import decode
from reducer.rules import Ruleset, compile_rules
from reducer.values import chars

_MODELINE = "yaml-language-server: $schema=.schema.json"
"""Tells editors where the schema of a rule file is: beside it."""
_ROUND = 5
_NOTES = {"max_chars": "What is still longer is cut evenly; markers name its indicators."}
_HINT = "Add `preserve: [threat_actor, cve]` to keep such entities, whatever a step removes."


@dataclass(frozen=True, slots=True)
class Trial:
    """What a ruleset did to answers: characters before and after, and the outcome of each."""

    before: int
    after: int
    outcomes: tuple[Outcome, ...]

    @property
    def saved(self) -> float:
        """Return the share of the characters that was removed."""
        return 1 - self.after / self.before if self.before else 0.0

    def removed_by_step(self) -> dict[int | None, int]:
        """Return how many characters each step removed, by its number; None is `max_chars`."""
        removed: dict[int | None, int] = {}
        for outcome in self.outcomes:
            if not outcome.steps or outcome.fault:
                continue
            states = [0, *(run.number for run in outcome.steps)]
            sizes = [chars(outcome.left_after(state, seen=False)) for state in states]
            for run, (before, after) in zip(outcome.steps, pairwise(sizes), strict=True):
                number = run.step.number if run.step else None
                removed[number] = removed.get(number, 0) + before - after
        return removed


@dataclass(frozen=True, slots=True)
class Proposal:
    """A draft with its compiled rule, and what it did to the answers that are long enough for it."""

    draft: Draft
    ruleset: Ruleset
    trial: Trial


def draft_rule(tool: str, contents: Sequence[Any], about: str, file: str) -> Proposal | None:
    """Draft the rule of `tool` from answers (plain JSON values); None if nothing can be removed from them.

    `about` says where the answers come from, `file` is the name of the rule file without its ending.
    """
    big = [content for content in contents if chars(content, BIG) >= BIG]
    answers = big or list(contents)
    best = _best(answers, {"when": {"min_chars": BIG}} if big else {})
    if best is None or best[1].after >= best[1].before:
        return None
    rule, trial = best
    # The sample is the answer that loses most: its test says most.
    sample, outcome = max(
        zip(answers, trial.outcomes, strict=True), key=lambda pair: chars(pair[0]) - chars(pair[1].content)
    )
    header = [f"Drafted from {about}. Read each step, change what it should not remove, then run its test."]
    sample_file = f"samples/{file}.json"
    written = DraftRule(escape(tool), rule.steps, rule.settings, _NOTES)
    text = f"# {_MODELINE}\n{rule_text(written, header, _test(sample, outcome, rule.steps, sample_file))}\n# {_HINT}\n"
    ruleset, problems = compile_rules([("draft.yaml", text)])
    if ruleset is None or problems:
        return None
    draft = Draft(tool, f"{file}.yaml", text, sample_file, sample=json_text(sample))
    return Proposal(draft, ruleset, _try(ruleset, tool, answers))


def _best(answers: Sequence[Any], gate: Mapping[str, Any]) -> tuple[DraftRule, Trial] | None:
    """Return the rule of the first level that saves enough, else of the one that saves most."""
    root = profile(answers)
    best: tuple[DraftRule, Trial] | None = None
    for level in LEVELS:
        target = {"max_chars": _target(level, answers)} if level.share else {}
        found = _useful(DraftRule("*", tuple(suggested_steps(root, level)), {**gate, **target}), answers)
        if found is not None and (best is None or found[1].saved > best[1].saved):
            best = found
        if found is not None and found[1].saved >= ENOUGH:
            break
    return best


def _target(level: Level, answers: Sequence[Any]) -> int:
    sizes = sorted(map(chars, answers))
    return max(100, int(sizes[len(sizes) // 2] * level.share) // 100 * 100)


def _useful(rule: DraftRule, answers: Sequence[Any]) -> tuple[DraftRule, Trial] | None:
    """Try a rule, and again without the steps that change nothing or are not idempotent; None if nothing is left."""
    while rule.steps or "max_chars" in rule.settings:
        try:
            ruleset = compiled(rule)
        except ValueError:
            return None
        trial = _try(ruleset, "*", answers)
        changed = {run.step.number for one in trial.outcomes for run in one.steps if run.step and run.changed}
        idle = set(range(1, len(rule.steps) + 1)) - changed
        faults = [one.unstable for one in trial.outcomes if one.fault]
        unstable = {run.step.number for run in faults if run is not None and run.step is not None}
        if faults and not unstable - idle:
            return None
        useless = unstable or idle
        if not useless:
            return rule, trial
        steps = tuple(step for number, step in enumerate(rule.steps, 1) if number not in useless)
        rule = DraftRule(rule.tool, steps, rule.settings)
    return None


def _try(ruleset: Ruleset, tool: str, answers: Sequence[Any]) -> Trial:
    outcomes = tuple(attempt(ruleset, tool, content) for content in answers)
    return Trial(sum(map(chars, answers)), sum(chars(outcome.content) for outcome in outcomes), outcomes)


def _test(sample: Any, outcome: Outcome, steps: Sequence[Step], file: str) -> dict[str, Any]:
    share = 1 - chars(outcome.content) / chars(sample)
    expected: dict[str, Any] = {"min_reduction": f"{int(share * 100) // _ROUND * _ROUND}%"}
    left = decode(outcome.content) if type(outcome.content) is str else outcome.content
    lists = {
        step.path: jmespath.search(step.path, left) for step in steps if "limit" in step.keys and "*" not in step.path
    }
    counts = {f"length({path})": len(items) for path, items in lists.items() if type(items) is list}
    if counts:
        expected["values"] = counts
    name = "a sample answer is short enough" + (" and keeps the best of its lists" if counts else "")
    return sample_test(name, file, expected)
