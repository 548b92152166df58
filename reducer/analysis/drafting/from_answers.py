"""Drafts: the first plan that saves enough, as a rule that is idempotent, with a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from glob import escape
from typing import Any

from reducer.analysis.drafting.plans import Plan, plans, steps_of
from reducer.analysis.drafting.rule_text import Draft, DraftRule, Step, compiled, draft
from reducer.analysis.drafting.sketch import Sketch, found_in
from reducer.analysis.texts import characters
from reducer.engine import Outcome, attempt
from reducer.entities import TYPES
from reducer.formats import NOTATIONS, decode, read_as, unwrapped
from reducer.rules import compile_rules
from reducer.values import chars

ENOUGH = 0.55
"""The share of the characters that a draft should save."""
BIG = 2000
"""Shorter answers are not worth reducing: about five hundred tokens."""
_MAX_STEPS, _MIN_PARTS, _ROUND = 15, 3, 5
_MANY, _SHARE_LEFT = 10, 20
"""Of ten entities and more, one in twenty stays."""
_MIN_GAIN = 0.005
"""A step that saves a smaller share of the characters is left out."""
_MODELINE = "yaml-language-server: $schema=.schema.json"
"""Tells editors that the schema of a rule file is next to it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A rule, the outcomes of applying it to answers, and the characters and entities of the answers before and after.

    uncounted: the entities that only links of an API, pictures and fingerprints of files contain; others are counted
    """

    rule: DraftRule
    outcomes: tuple[Outcome, ...]
    before: int
    after: int
    entities: int
    kept: int
    uncounted: int

    @property
    def saved(self) -> float:
        """The share of the characters that the rule removes."""
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def is_bare(self) -> bool:
        """Whether almost all entities are gone; `check` warns about this."""
        return self.entities >= _MANY and self.kept * _SHARE_LEFT < self.entities


def nothing_used(content: Any) -> Set[str]:
    """Return the values that later messages mention, if there are no later messages."""
    return frozenset()


def draft_rule(
    tool: str,
    contents: Sequence[Any],
    source: str,
    file: str,
    *,
    target: float | None = None,
    used: Callable[[Any], Set[str]] = nothing_used,
) -> tuple[Draft, Trial] | None:
    """Draft the rule of `tool` from its answers (plain JSON values); return None if nothing can be removed.

    source: describes the origin of the answers, for the header
    file: the name of the rule file without its extension
    target: the share of the characters to save, even if entities are lost
    used: returns the values of a content that later messages mention; keys with such values stay
    """
    # What is too deep to be counted is never reduced.
    readable = [*filter(characters, contents)]
    big = [content for content in readable if chars(content) >= BIG]
    answers = big or readable
    settings: dict[str, Any] = {"when": {"min_chars": BIG}} if big else {}
    trial = None
    if notation := _notation_of(answers):
        trial = _first_enough(Sketch(answers, notation, used), {**settings, "text": notation}, target)
    sketch = Sketch(answers, "", used)
    trial = trial or _first_enough(sketch, settings, target)
    if trial is None or trial.after >= trial.before:
        return None
    kept = f" and keeps {trial.kept:,} of {trial.entities:,} entities" if trial.entities else ""
    advice = "Read each step, change what it should not remove, then run its test."
    header = [_MODELINE, f"Drafted from {source}. It saves {trial.saved:.0%} of the characters{kept}. {advice}"]
    rule = replace(trial.rule, tool=escape(tool), steps=_with_gains(trial))
    written = draft(rule, file, header, _test(sketch, trial))
    ruleset, problems = compile_rules([("draft.yaml", written.text)])
    return None if ruleset is None or problems else (replace(written, tool=tool), trial)


def _first_enough(sketch: Sketch, settings: Mapping[str, Any], target: float | None) -> Trial | None:
    """Return the trial of the first plan that saves enough, otherwise of the one that saves most."""
    best: Trial | None = None
    for plan in plans(sketch, is_strict=target is not None):
        if plan.is_last and best is not None and best.saved * 2 >= ENOUGH:
            break
        trial = _try_plan(sketch, plan, settings)
        if trial is not None and not trial.is_bare and (best is None or trial.saved > best.saved):
            best = trial
        if best is not None and best.saved >= (target or ENOUGH):
            break
    return best


def _try_plan(sketch: Sketch, plan: Plan, settings: Mapping[str, Any]) -> Trial | None:
    """Try the steps of a plan, without those that are not idempotent or save too little."""
    strict: dict[str, Any] = {} if plan.protects else {"preserve": []}
    rule = DraftRule("*", tuple(steps_of(sketch, plan)), {**settings, **strict})
    while rule.steps:
        try:
            ruleset = compiled(rule)
        except ValueError:
            return None
        outcomes = tuple(attempt(ruleset, "*", content) for content in sketch.answers)
        useless = _useless(rule, outcomes, sketch.root.chars)
        if useless is None or any(outcome.is_emptied for outcome in outcomes):
            return None
        if not useless:
            return _trial(sketch, rule, outcomes)
        rule = replace(rule, steps=_without(rule.steps, useless))
    return None


def _without(steps: Iterable[Step], numbers: Set[int]) -> tuple[Step, ...]:
    return tuple(step for number, step in enumerate(steps, 1) if number not in numbers)


def _useless(rule: DraftRule, outcomes: Iterable[Outcome], size: int) -> Set[int] | None:
    """Return the numbers of the steps to leave out, or None if the rule cannot be applied."""
    useless = set[int]()
    is_faulty = False
    for outcome in outcomes:
        is_faulty = is_faulty or bool(outcome.fault)
        if outcome.fault and outcome.unstable is not None and outcome.unstable.step is not None:
            useless.add(outcome.unstable.number)
    if is_faulty:
        return useless or None
    gains = _gains(outcomes, restored=2)  # `check` warns if half of what a step removes is restored
    ranked = sorted(range(1, len(rule.steps) + 1), key=lambda number: -gains[number])
    for number in ranked:
        if gains[number] <= _MIN_GAIN * size and number != ranked[0]:
            useless.add(number)
    if gains[ranked[0]] <= 0:
        useless.add(ranked[0])
    return useless | {*ranked[_MAX_STEPS:]}


def _gains(outcomes: Iterable[Outcome], restored: int = 1) -> Counter[int]:
    """Return the characters that each step saves; those that are restored count `restored` times."""
    gains = Counter[int]()
    for outcome in outcomes:
        for edit in outcome.edits():
            gains[edit.step] += (edit.before - edit.after) * (restored if edit.is_restored else 1)
    return gains


def _with_gains(trial: Trial) -> tuple[Step, ...]:
    """Return the steps with what each of them saves in its reason."""
    gains = _gains(trial.outcomes)
    steps = []
    for number, step in enumerate(trial.rule.steps, 1):
        steps.append(replace(step, reason=f"Saves {gains[number] / trial.before:.1%}: {step.reason}"))
    return tuple(steps)


def _trial(sketch: Sketch, rule: DraftRule, outcomes: tuple[Outcome, ...]) -> Trial:
    """Measure the outcomes of a rule."""
    all_found = all_kept = uncounted = 0
    for before, outcome in zip(sketch.found, outcomes, strict=True):
        counted = before - sketch.uncounted
        all_found += len(counted)
        all_kept += len(counted & found_in(outcome.content))
        uncounted += len(before) - len(counted)
    return Trial(
        rule,
        outcomes,
        before=sum(map(chars, sketch.answers)),
        after=sum(chars(outcome.content) for outcome in outcomes),
        entities=all_found,
        kept=all_kept,
        uncounted=uncounted,
    )


def _notation_of(answers: Iterable[Any]) -> str:
    """Return the notation in which all answers can be read, as texts of some parts, or an empty text."""
    texts = list(map(unwrapped, answers))
    for text in texts:
        if type(text) is not str or decode(text) is not text:
            return ""
    for notation in NOTATIONS:
        if notation != "lines" and _have_parts(texts, notation):
            return notation
    return ""


def _have_parts(texts: Iterable[str], notation: str) -> bool:
    """Return whether all texts can be read in a notation, each with enough rows, keys or sections."""
    for text in texts:
        found = read_as(text, [notation])
        if found is None or len(found[0]) < _MIN_PARTS:
            return False
    return True


def _test(sketch: Sketch, trial: Trial) -> dict[str, Any]:
    """Return a test on the answer that loses most characters."""
    most, sample, left = -1, None, None
    for answer, outcome in zip(sketch.answers, trial.outcomes, strict=True):
        if chars(answer) - chars(outcome.content) > most:
            most, sample, left = chars(answer) - chars(outcome.content), answer, outcome.content
    before = found_in(sample)
    found = dict(before).keys()
    lost = dict(before - found_in(left)).keys()
    kept = [kind for kind in TYPES if kind in found - lost]
    name = "a sample answer is short enough" + (" and keeps its entities" if kept else "")
    share = int(100 * (1 - chars(left) / chars(sample))) // _ROUND * _ROUND
    expect = {"min_reduction": f"{share}%"} | ({"preserves": kept} if kept else {})
    return {"name": name, "sample": sample, "expect": expect}
