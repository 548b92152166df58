"""Law 5: return only results that a second pass does not change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from reducer.engine.choose import breaks_where
from reducer.engine.outcome import Outcome, StepRun
from reducer.paths import Chain
from reducer.rules import Rule, Step

_MOST_PREFIXES = 8
"""More would make rules with many conflicting steps slow: each prefix costs at least two passes."""

_Pass = Callable[[Any], Outcome]
"""Makes one pass over a content: of a rule, or of the rule that is chosen for the content instead."""
_PassOf = Callable[[Rule, frozenset[str], Any], Outcome]
"""Makes one pass over a content: of the given rule, in which thin items keep the given keys, or of another rule."""


def stabilized(rule: Rule, content: Any, first: Outcome, one_pass: _PassOf) -> Outcome:
    """Return the first result that this procedure does not change again: of the rule, of a fallback, or no change."""
    # A pass that removed nothing only wrote the content without blanks, so a second one finds the same values.
    if first.content is content or first.is_proven or not first.removed:
        return first
    passes: list[_Pass] = [partial(one_pass, rule, frozenset())]
    again = passes[0](first.content)
    if again.content == first.content:
        return first
    if again.rule is rule:
        unstable, effect_of_two = again.last_changed, "change the result"
    else:
        unstable = breaks_where(rule, first) or first.last_changed
        effect_of_two = f"apply {again.rule.file if again.rule else ''} to the result"
    name = unstable.step.name if unstable.step else "max_chars"
    fault = f"a second pass would {effect_of_two}: `{name}` is to blame"
    for other, effect in _fallbacks(rule):
        count = len(other.steps)
        fallback = partial(one_pass, other, _keys_read(other))
        outcome = fallback(content)
        if outcome.content == content:
            break  # the fallback that made this content leaves it as it is, and shorter ones remove nothing either
        if _is_fixed(outcome.content, fallback, passes):
            if not effect:
                return outcome
            steps = (*outcome.steps[:count], *map(_skipped, rule.steps[count:]), *outcome.steps[count:])
            return replace(outcome, rule=rule, fault=f"{fault}; {effect}", unstable=unstable, steps=steps)
        passes.append(fallback)
    return replace(first, content=content, fault=fault, unstable=unstable)


def _skipped(step: Step) -> StepRun:
    return StepRun(step, step.number, ran=False, places=0, changed=False, skipped=True)


def _fallbacks(rule: Rule) -> Iterator[tuple[Rule, str]]:
    """Yield rules to apply instead of an unstable one, each with what is left out, which is nothing for `""`.

    They are the rule with all its steps and then with fewer, and `max_chars` alone. Restored items can make a step
    select otherwise, so each restores only entities that all of its steps preserve.
    """
    size = len(rule.steps)
    for count in range(size, max(0, size - _MOST_PREFIXES), -1):
        prefix = _prefix(rule, count)
        if count < size:
            yield prefix, "only step 1 was applied" if count == 1 else f"only steps 1 to {count} were applied"
        elif prefix.preserved == rule.preserved:
            yield prefix, ""
        else:
            yield prefix, "only entities that all steps preserve were restored"
    if rule.max_chars is not None:
        yield _prefix(rule, 0), "only `max_chars` was applied"


def _prefix(rule: Rule, count: int) -> Rule:
    """Return a rule with its first `count` steps, which restore only the entities that all of them preserve."""
    none, *of_steps, budget = rule.preserved
    together = of_steps[:count]
    if rule.max_chars is not None:
        together.append(budget)
    by_all = frozenset.intersection(*together)
    preserved = (none, *[by_all] * len(of_steps), by_all & budget)
    return replace(rule, steps=rule.steps[:count], preserved=preserved)


def _keys_read(rule: Rule) -> frozenset[str]:
    """Return the keys that the steps of a rule read, which thin items keep; `*` stands for all keys."""
    chains: list[Chain] = []
    for step in rule.steps:
        chains += [chain for _, chain in step.op.reads()]
        chains += [chain[-1:] for chain in step.op.reads_return()]
        for _, condition in step.path.filters:
            chains += condition.reads
    if rule.when is not None and rule.when.where is not None:
        chains += [chain[-1:] for chain in rule.when.where.reads]
    return frozenset(chain[0] if chain else "*" for chain in chains)


def _is_fixed(result: Any, last: _Pass, earlier: Sequence[_Pass]) -> bool:
    """Return whether `stabilized`, which tries these passes in order, returns the result of the last one unchanged.

    The result of a pass counts only if the same pass leaves it unchanged, so running each earlier pass twice suffices.
    """
    if last(result).content != result:
        return False
    for one_pass in earlier:
        again = one_pass(result).content
        if again == result:
            return True
        if one_pass(again).content == again:
            return False
    return True
