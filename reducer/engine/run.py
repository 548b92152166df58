"""Reduce one return: apply its rule, and return the result only if a second pass does not change it (law 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reducer.engine.budget import fit
from reducer.engine.choose import Candidates, Chosen, is_too_small, notations_of, open_texts
from reducer.engine.outcome import Outcome, StepRun
from reducer.engine.restore import restore
from reducer.engine.stability import stabilized
from reducer.entities.vocabulary import BUILT_IN
from reducer.formats import parse
from reducer.plan.nodes import LAST, Opened, open_return, opened_again
from reducer.plan.place import Settings, Work
from reducer.plan.protected import Protected, References, Scans
from reducer.rules import Rule, Ruleset, Step, When
from reducer.rules.model import TextPaths
from reducer.values import (
    MAX_TEXT_CHARS,
    PLAIN,
    Unreducible,
    chars,
    plain,
    readable_part,
    shown,
    with_items,
)


def reduce_content(ruleset: Ruleset, tool: str, content: Any, protected: Protected | None = None) -> Any:
    """Reduce the content of one return of `tool`: JSON text, plain text, a list, an object or a live object.

    The result keeps every value in `protected` that the content contains, written as in `reducer.references`. If
    `protected` is a function, it is called only if the rule removes something. Return the same object if the tool has
    no rule or nothing changes. Never raises.
    """
    return attempt(ruleset, tool, content, protected).content


def attempt(
    ruleset: Ruleset,
    tool: str,
    content: Any,
    protected: Protected | None = None,
    repeats: frozenset[str] = frozenset(),
) -> Outcome:
    """Reduce one content like `reduce_content`, and return the result with what each step did.

    No step sees or removes the lines and items of lists in `repeats`, which are markers of repeats.
    """
    rules = ruleset.rules_for(tool)
    if not rules:
        return Outcome(None, content)
    try:
        return _reduced(rules, content, protected, repeats)
    except Unreducible as error:
        fault = str(error)
    except RecursionError:
        fault = "deeper than the interpreter goes"
    # Reduce the rest of the content, unless it is itself an item that cannot be read, or contains itself.
    hidden: list[tuple[Any, Any]] = []
    readable = readable_part(content, hidden)
    has_rest = bool(hidden) and all(item is not content for _, item in hidden)
    outcome = attempt(ruleset, tool, readable, protected, repeats) if has_rest else None
    if outcome is None or outcome.content is readable:
        return Outcome(rules[0], content, fault=fault)
    result = with_items(outcome.content, lambda item: next((one for mask, one in hidden if mask is item), item))
    return replace(outcome, content=result, fault=outcome.fault or f"{fault}, so an item stays unchanged")


def apply_once(rule: Rule, content: Any) -> Outcome:
    """Apply a rule to a content in one pass, whatever a second pass would change. Raises `Unreducible`."""
    return _one_pass(content, Candidates((rule,), References(None, content, is_text=False)).choose(content))


def prepare(ruleset: Ruleset) -> None:
    """Build the scanners of all rules in advance, so that the first return does not wait for them."""
    for rule in ruleset.rules:
        rule.vocabulary.scanner(rule.types)
        rule.vocabulary.scanner_of_many(rule.types)
        if any(step.op.cuts_blindly for step in rule.steps) or rule.max_chars is not None:
            rule.vocabulary.everything()


def _reduced(rules: Sequence[Rule], content: Any, protected: Protected | None, repeats: frozenset[str]) -> Outcome:
    # A live object is reduced as it is stored; an enum, for example, as its text.
    if type(content) not in PLAIN and type(content) is not tuple and (stored := shown(content)) is not content:
        outcome = _reduced(rules, stored, protected, repeats)
        return replace(outcome, content=content) if outcome.content is stored else outcome
    if is_too_small(rules[0], content):
        return Outcome(rules[0], content, gated=True)
    if type(content) is str and len(content) > MAX_TEXT_CHARS:
        raise Unreducible(f"a text of more than {MAX_TEXT_CHARS:,} characters")
    top = open_return(content)
    if top is None:
        return Outcome(rules[0], content)
    is_text = type(content) is str and type(top.value) is str and not top.wraps
    candidates = Candidates(rules, References(protected, content, is_text), repeats)
    chosen = candidates.choose(content, top)
    rule = chosen.rule

    def one_pass(variant: Rule, reads: frozenset[str], value: Any) -> Outcome:
        again = candidates.choose(value)
        if again.number == chosen.number:
            return _one_pass(value, again._replace(rule=variant), reads)
        return _one_pass(value, again)

    first = _one_pass(content, chosen)
    if first.is_proven and first.content is not content and len(rules) > 1:
        first = replace(first, is_proven=candidates.choose(first.content).number == chosen.number)
    return stabilized(rule, content, first, one_pass)


# --- one pass


def _one_pass(content: Any, chosen: Chosen, reads: frozenset[str] = frozenset()) -> Outcome:
    """Apply a rule once to a content that is opened for it: apply steps, restore, fit into `max_chars`, write.

    Thin items keep the keys in `reads`; `*` stands for all keys.
    """
    rule, work = chosen.rule, chosen.work
    if work is None:
        return Outcome(rule, content, gated=chosen.gated, tried=chosen.tried)
    top = work.top
    steps = [_apply(step, work) for step in rule.steps]
    ran = [each.step for each in steps if each.ran and each.step is not None]
    for step in ran:
        if step.op.runs_again and any(each.changed for each in steps[step.number :]):
            step.apply(work)
    if rule.max_chars is None:
        restored = restore(work, rule, reads)
    else:
        work.step = len(rule.preserved) - 1
        before = work.edits
        restored = fit(work, rule, reads, ran)
        steps.append(StepRun(None, work.step, True, places=1, changed=work.edits > before))
    is_proven = rule.statically_idempotent and not work.in_maps and not restored.referenced
    return Outcome(
        rule,
        _written(rule, content, top),
        tried=chosen.tried,
        is_proven=is_proven,
        steps=tuple(steps),
        unread=work.unread,
        restored=restored,
        top=top,
    )


def _written(rule: Rule, content: Any, top: Opened) -> Any:
    """Write the content with a finished plan. Return the same object if nothing changes or the text would be longer."""
    value = top.built()
    compact = any(step.op.writes_compactly for step in rule.steps)
    literals = any(step.op.compacts_literals() for step in rule.steps)
    has_blanks = (compact and (top.is_json or top.wraps)) or (literals and _is_structured_text(content, top))
    if value is top.value and not has_blanks:
        return content
    new = top.write(value)
    if top.wraps:
        return content if new == content or chars(new) > chars(content) else new
    if type(content) is not str:
        return content if new == content else new
    if compact and not top.is_json and (found := parse(new)) and found[1].compact and (literals or found[1].is_json):
        new = found[1].compact(found[0])  # what is left of a Python literal can also be JSON, such as `[1, 2]`
    return content if new == content or len(new) > len(content) else new


def _is_structured_text(content: Any, top: Opened) -> bool:
    """Return whether a content is a text that is parsed by itself, such as JSON or a Python literal."""
    return type(content) is str and type(top.value) is not str and not top.notation


def _apply(step: Step, work: Work) -> StepRun:
    ran = step.op.when is None or _holds(step.op.when, work)
    work.step, edits = step.number, work.edits
    places, left_alone = step.apply(work) if ran else (0, False)
    return StepRun(step, step.number, ran, places, changed=work.edits > edits, left_alone=left_alone)


def _holds(when: When, work: Work) -> bool:
    """Return whether the gate of a step holds for the original return."""
    if when.min_chars is not None and work.top.size(work.top.value) < when.min_chars:
        return False
    return when.where is None or when.where.holds(work.arrived())


def seen_by(paths: TextPaths | None, content: Any) -> Any:
    """Return a content in plain JSON types as the steps of a rule with these paths see it. Raises `Unreducible`."""
    top = open_return(content)
    if top is None:
        return plain(content)
    top = opened_again(top, notations_of(paths))
    open_texts(Work(top, Settings(), Scans(BUILT_IN, frozenset()), References(None, content, is_text=False)), paths)
    return plain(top.built(LAST, seen=True))
