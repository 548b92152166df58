"""Drafts without evidence: from answers of a tool to a rule, by what the answers look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape
from typing import Any

import jmespath

from reducer.analysis.drafting.profiles import profile
from reducer.analysis.drafting.rule_text import Draft, DraftRule, SampleTest, Step, compiled, draft
from reducer.analysis.drafting.steps import LEVELS, suggested_steps
from reducer.engine import Outcome, attempt
from reducer.formats import decode
from reducer.rules import Ruleset, compile_rules
from reducer.values import chars

ENOUGH = 0.70
"""The share of the characters that a draft should save."""
BIG = 2000
"""Characters of an answer that is worth reducing: about five hundred tokens."""
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
    found = _best(answers, {"when": {"min_chars": BIG}} if big else {})
    if found is None or found[1].after >= found[1].before:
        return None
    rule, trial = found
    header = [_MODELINE, f"Drafted from {about}. Read each step, change what it should not remove, then run its test."]
    written = draft(replace(rule, tool=escape(tool), notes=_NOTES), file, header, _test(rule.steps, answers, trial))
    written = replace(written, tool=tool, text=f"{written.text}\n# {_HINT}\n")
    ruleset, problems = compile_rules([("draft.yaml", written.text)])
    return Proposal(written, ruleset, _try(ruleset, tool, answers)) if ruleset is not None and not problems else None


def _best(answers: Sequence[Any], gate: Mapping[str, Any]) -> tuple[DraftRule, Trial] | None:
    """Return the rule of the first level that saves enough, else of the one that saves most."""
    root = profile(answers)
    typical = sorted(map(chars, answers))[len(answers) // 2]
    best: tuple[DraftRule, Trial] | None = None
    for level in LEVELS:
        target = {"max_chars": max(100, int(typical * level.share) // 100 * 100)} if level.share else {}
        found = _useful(DraftRule("*", tuple(suggested_steps(root, level)), {**gate, **target}), answers)
        if found is not None and (best is None or found[1].saved > best[1].saved):
            best = found
        if best is not None and best[1].saved >= ENOUGH:
            break
    return best


def _useful(rule: DraftRule, answers: Sequence[Any]) -> tuple[DraftRule, Trial] | None:
    """Try a rule, and again without the steps that change nothing or are not idempotent; None if nothing is left."""
    while rule.steps or "max_chars" in rule.settings:
        try:
            trial = _try(compiled(rule), "*", answers)
        except ValueError:
            return None
        faults = [one.unstable for one in trial.outcomes if one.fault]
        unstable = {run.step.number for run in faults if run is not None and run.step is not None}
        if faults and not unstable:
            return None
        changed = {run.step.number for one in trial.outcomes for run in one.steps if run.step and run.changed}
        useless = unstable or set(range(1, len(rule.steps) + 1)) - changed
        if not useless:
            return rule, trial
        rule = replace(rule, steps=tuple(step for number, step in enumerate(rule.steps, 1) if number not in useless))
    return None


def _try(ruleset: Ruleset, tool: str, answers: Sequence[Any]) -> Trial:
    outcomes = tuple(attempt(ruleset, tool, content) for content in answers)
    return Trial(sum(map(chars, answers)), sum(chars(outcome.content) for outcome in outcomes), outcomes)


def _test(steps: Sequence[Step], answers: Sequence[Any], trial: Trial) -> SampleTest:
    """Return the test on the answer that loses most, as it says most."""
    pairs = zip(answers, (outcome.content for outcome in trial.outcomes), strict=True)
    sample, left = max(pairs, key=lambda pair: chars(pair[0]) - chars(pair[1]))
    share = 1 - chars(left) / chars(sample)
    opened = decode(left) if type(left) is str else left
    paths = [step.keys.get("path", "@") for step in steps if "limit" in step.keys]
    lists = {path: jmespath.search(path, opened) for path in paths if "*" not in path}
    counts = {f"length({path})": len(items) for path, items in lists.items() if type(items) is list}
    name = "a sample answer is short enough" + (" and keeps the best of its lists" if counts else "")
    expected = {"min_reduction": f"{int(share * 100) // _ROUND * _ROUND}%", **({"values": counts} if counts else {})}
    return SampleTest(name, expected, sample)
