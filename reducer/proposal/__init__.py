"""Drafts a rule from answers of a tool: profiles them, proposes steps, tries them, and takes the first that save enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reducer.engine import Outcome, trace
from reducer.path.written import path_text
from reducer.profile import profile
from reducer.proposal.levels import BIG, ENOUGH, LEVELS, Level
from reducer.proposal.proposed import Proposed
from reducer.proposal.steps import propose
from reducer.proposal.text import rule_text, test_text
from reducer.rule import Ruleset, compile_rules
from reducer.values import chars

__all__ = ["BIG", "ENOUGH", "Proposal", "Trial", "draft"]

_ROUND = 5


class Trial(NamedTuple):
    """What a ruleset did to answers: characters before and after, and the outcome of each."""

    before: int
    after: int
    outcomes: tuple[Outcome, ...]

    @property
    def saved(self) -> float:
        """Give the share of the characters that is gone."""
        return 1 - self.after / self.before if self.before else 0.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A drafted rule: the text of its file, its sample, and what it did to the answers that are long enough for it."""

    tool: str
    text: str
    sample: Any
    ruleset: Ruleset
    trial: Trial


def draft(tool: str, contents: Sequence[Any], about: str, sample_file: str) -> Proposal | None:
    """Draft the rule of `tool` from answers, plain JSON values; `about` says in words where they come from, `sample_file` where its test finds its sample.

    None if nothing can be taken from them.
    """
    big = [content for content in contents if chars(content, BIG) >= BIG]
    gated = bool(big)
    looked_at = big or list(contents)
    root = profile(looked_at)
    best: tuple[Trial, list[Proposed], int | None] | None = None
    for level in LEVELS:
        steps, most = propose(root, level), _target(level, looked_at)
        tried = _tried(tool, steps, gated, most, looked_at)
        if tried is None:
            continue
        steps, trial = tried
        if best is None or trial.saved > best[0].saved:
            best = (trial, steps, most)
        if trial.saved >= ENOUGH:
            break
    if best is None or best[0].after >= best[0].before:
        return None
    trial, steps, most = best
    # The sample is the answer that loses most: there the test has most to say.
    sample, outcome = max(zip(looked_at, trial.outcomes, strict=True), key=lambda pair: chars(pair[0]) - chars(pair[1].content))
    text = rule_text(tool, steps, about, gated, most, _test(sample, outcome, steps, sample_file))
    ruleset = _compiled(text)
    if ruleset is None:
        return None
    return Proposal(tool, text, sample, ruleset, _trial(ruleset, tool, looked_at))


def _target(level: Level, contents: Sequence[Any]) -> int | None:
    if not level.share:
        return None
    sizes = sorted(chars(content) for content in contents)
    size = int(sizes[len(sizes) // 2] * level.share)
    return max(100, size // 100 * 100)


def _tried(tool: str, steps: list[Proposed], gated: bool, most: int | None, contents: Sequence[Any]) -> tuple[list[Proposed], Trial] | None:
    """Try steps, and again without those that took nothing from any answer, or would take more in a second pass. None if they are no rule."""
    while steps or most is not None:
        ruleset = _compiled(rule_text(tool, steps, "answers", gated, most))
        if ruleset is None:
            return None
        trial = _trial(ruleset, tool, contents)
        blamed = [outcome.blamed for outcome in trial.outcomes if outcome.fault]
        idle = {step.number for step in ruleset.rules[0].steps} - {
            done.step.number for outcome in trial.outcomes for done in outcome.steps if done.step is not None and done.after is not done.before
        }
        useless = {done.step.number for done in blamed if done is not None and done.step is not None} or idle
        if blamed and not (useless - idle):
            return None
        if not useless:
            return steps, trial
        steps = [step for number, step in enumerate(steps, 1) if number not in useless]
    return None


def _compiled(text: str) -> Ruleset | None:
    ruleset, problems = compile_rules([("draft.yaml", text)])
    return None if problems else ruleset


def _trial(ruleset: Ruleset, tool: str, contents: Sequence[Any]) -> Trial:
    outcomes = tuple(trace(ruleset, tool, content) for content in contents)
    return Trial(sum(map(chars, contents)), sum(chars(outcome.content) for outcome in outcomes), outcomes)


def _test(sample: Any, outcome: Outcome, steps: Sequence[Proposed], sample_file: str) -> str:
    share = 1 - chars(outcome.content) / chars(sample)
    expected: list[tuple[str, Any]] = [("min_reduction", f"{int(share * 100) // _ROUND * _ROUND}%")]
    counts = {}
    for step in steps:
        if "limit" in step.action and -1 not in step.path and None not in step.path:
            found = _at(outcome.final, step.path)
            if type(found) is list:
                counts[f"length({path_text(step.path)})"] = len(found)
    if counts:
        expected.append(("values", counts))
    return test_text("a sample answer is short enough and keeps the best of its lists" if counts else "a sample answer is short enough", sample_file, expected)


def _at(value: Any, path: Sequence[Any]) -> Any:
    for name in path:
        value = value.get(name) if type(value) is dict else None
    return value
