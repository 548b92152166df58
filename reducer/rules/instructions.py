"""Rules in words: what the model is told once, instead of notes inside the data, and what an analyst reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from reducer.entities.entity import GROUPS, TYPES
from reducer.operations.keep import Keep
from reducer.operations.op import enumerated, named
from reducer.rules.model import Rule, Ruleset, Step, When

_INTRODUCTION = (
    "Tool answers in this conversation are shortened by fixed rules; `…[` marks where text or items were left out."
)
_MAX_PARTS = 8
"""Parts of the instructions for one rule: every request pays for them."""


class Description(NamedTuple):
    """What one or two steps do, in words without a subject: `line` is that of the first, 0 for the whole rule."""

    line: int
    text: str


def instructions(ruleset: Ruleset, tools: Iterable[str] | None = None) -> str:
    """Return what the rules for `tools`, or all rules, do: one line for each rule, empty without rules.

    The text depends on the rules alone, so that it is the same in every request.
    """
    names: dict[tuple[str, ...], tuple[Rule, list[str]]] = {}
    if tools is None:
        names = {rule.tools: (rule, list(rule.tools)) for rule in ruleset.rules}
    for tool in sorted(set(tools or ())):
        if (rule := ruleset.rule_for(tool)) is not None:
            names.setdefault(rule.tools, (rule, []))[1].append(tool)
    lines = [f"- {', '.join(f'`{name}`' for name in found)}: {_in_short(rule)}." for rule, found in names.values()]
    return "\n".join([_INTRODUCTION, *lines]) if lines else ""


def _in_short(rule: Rule) -> str:
    parts = list(dict.fromkeys(description.text for description in _steps(rule.steps)))
    if rule.max_chars is not None:
        parts.append(_target(rule.max_chars))
    # The last part shortens most, so it always stays.
    if len(parts) > _MAX_PARTS:
        parts = [*parts[: _MAX_PARTS - 2], "shortens other parts too", parts[-1]]
    return "; ".join(parts)


def descriptions(rule: Rule) -> list[Description]:
    """Return what a rule does: "keeps the 20 newest `resolutions` by `last_seen`, each with `hostname`", and so on."""
    whole = [] if rule.max_chars is None else [_target(rule.max_chars)]
    if rule.all_keys:
        whole.append("keeps every key of every object; removed values become empty")
    for types in dict.fromkeys(step.preserves for step in rule.steps if step.preserves):
        lines = [str(step.location.line) for step in rule.steps if step.preserves == types]
        where = f" in {'line' if len(lines) == 1 else 'lines'} {enumerated(lines)}"
        whole.append(f"preserves {enumerated(grouped(types))}{where if len(lines) < len(rule.steps) else ''}")
    whole += (f"preserves at most {count:,} values of {enumerated(grouped(types))}" for types, count in rule.bounds)
    gate = [] if rule.when is None else [Description(0, f"applies only if {_gate(rule.when)}")]
    return [*gate, *_steps(rule.steps), *(Description(0, text) for text in whole)]


def grouped(types: Collection[str]) -> list[str]:
    """Return the names of entity types, with a group in place of all its types."""
    names, left = [], set(types)
    for group in sorted(GROUPS, key=lambda group: -len(GROUPS[group])):
        if left.issuperset(GROUPS[group]):
            names.append(group)
            left.difference_update(GROUPS[group])
    return [*names, *(kind for kind in TYPES if kind in left), *sorted(left.difference(TYPES))]


def _target(max_chars: int) -> str:
    return f"shortens lists and texts further if more than {max_chars:,} characters are left"


def _steps(steps: Iterable[Step]) -> list[Description]:
    described: list[Description] = []
    before: Step | None = None
    for step in steps:
        if before is not None and isinstance(step.op, Keep) and _selects_items(before, step):
            keys = named(key.text for key in step.op.keep)
            described[-1] = described[-1]._replace(text=f"{described[-1].text}, each with {keys}")
        else:
            place = "the answer" if step.path.text == "@" else f"`{step.path.text}`"
            gate = "" if step.when is None else f", if {_gate(step.when)}"
            described.append(Description(step.location.line, f"{step.op.describe(place)}{gate}"))
        before = step
    return described


def _selects_items(before: Step, step: Step) -> bool:
    """Return whether the step before selects the items whose keys a step selects."""
    same = before.path.text == step.path.text and before.when == step.when
    return same and bool(before.op.shortens()) and not before.op.names()


def _gate(when: When) -> str:
    size = [] if when.min_chars is None else [f"the answer has at least {when.min_chars:,} characters"]
    return " and ".join([*size, *([] if when.where is None else [f"`{when.where.text}` holds"])])
