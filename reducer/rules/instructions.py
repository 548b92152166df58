"""Rules in words: what the model is told once, instead of notes inside the data, and what an analyst reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from reducer.entities.entity import GROUPS, TYPES
from reducer.operations.words import enumerated
from reducer.rules.model import Rule, Ruleset, Step, When

_INTRODUCTION = (
    "Tool answers in this conversation are shortened by fixed rules; `…[` marks where text or items were left out."
)
_MAX_PARTS = 8
"""Parts of the instructions for one rule: every request pays for them."""


def instructions(ruleset: Ruleset, tools: Iterable[str] | None = None) -> str:
    """Return what the rules for `tools`, or all rules, leave out: one line for each rule, empty without rules.

    The text depends on the rules alone, so that it is the same in every request.
    """
    named: dict[int, tuple[Rule, list[str]]] = {}
    if tools is None:
        named = {number: (rule, list(rule.tools)) for number, rule in enumerate(ruleset.rules)}
    else:
        for tool in sorted(set(tools)):
            rule = ruleset.rule_for(tool)
            if rule is not None:
                named.setdefault(id(rule), (rule, []))[1].append(tool)
    if not named:
        return ""
    lines = (f"- {', '.join(f'`{name}`' for name in names)}: {_left_out(rule)}." for rule, names in named.values())
    return "\n".join([_INTRODUCTION, *lines])


def _left_out(rule: Rule) -> str:
    parts = list(dict.fromkeys(step.op.tells(_place(step)) for step in rule.steps))
    if rule.max_chars is not None:
        parts.append(f"the answer is cut down to about {rule.max_chars:,} characters")
    # The last part shortens most, so it is never left out.
    if len(parts) > _MAX_PARTS:
        parts = [*parts[: _MAX_PARTS - 2], "other parts are shortened too", parts[-1]]
    return "; ".join(parts)


class Description(NamedTuple):
    """What one or two steps do, in words for an analyst: `line` is that of the first, 0 for the whole rule."""

    line: int
    text: str


def descriptions(rule: Rule) -> list[Description]:
    """Describe a rule in sentences without a subject, such as "keeps the 20 newest `resolutions` by `last_seen`"."""
    whole: list[str] = []
    if rule.max_chars is not None:
        whole.append(f"cuts lists and texts evenly where more than {rule.max_chars:,} characters are left")
    if rule.all_keys:
        whole.append("keeps every key of every object: a removed value becomes empty")
    for types in dict.fromkeys(step.preserves for step in rule.steps if step.preserves):
        lines = [str(step.location.line) for step in rule.steps if step.preserves == types]
        some = f" in {'line' if len(lines) == 1 else 'lines'} {enumerated(lines)}"
        where = some if len(lines) < len(rule.steps) else ""
        whole.append(f"preserves these entities{where}: {enumerated(grouped(types))}")
    for types, count in rule.bounds:
        whole.append(f"preserves at most {count:,} values of {enumerated(grouped(types))}")
    gate = [] if rule.when is None else [Description(0, f"changes an answer only if {_gate(rule.when)}")]
    return [*gate, *_steps(rule.steps), *(Description(0, text) for text in whole)]


def grouped(types: Collection[str]) -> list[str]:
    """Return the names of entity types, with a group in place of all its types."""
    names, left = [], set(types)
    for group in sorted(GROUPS, key=lambda group: -len(GROUPS[group])):
        if left.issuperset(GROUPS[group]):
            names.append(group)
            left.difference_update(GROUPS[group])
    return [*names, *(kind for kind in TYPES if kind in left), *sorted(left.difference(TYPES))]


def _steps(steps: Iterable[Step]) -> Iterator[Description]:
    before: Step | None = None
    described = Description(0, "")
    for step in steps:
        if before is not None and _continues(before, step):
            described = described._replace(text=f"{described.text}, {step.op.adds()}")
        else:
            if described.text:
                yield described
            gate = f", if {_gate(step.when)}" if step.when is not None else ""
            described = Description(step.location.line, f"{step.op.says(_place(step))}{gate}")
        before = step
    if described.text:
        yield described


def _continues(before: Step, step: Step) -> bool:
    """Return whether a step names the keys of the items that the step before it chooses."""
    same = before.path.text == step.path.text and before.when == step.when
    return same and bool(before.op.shortens()) and not before.op.names() and bool(step.op.adds())


def _place(step: Step) -> str:
    return "the answer" if step.path.text == "@" else f"`{step.path.text}`"


def _gate(when: When) -> str:
    parts = []
    if when.min_chars is not None:
        parts.append(f"it has {when.min_chars:,} characters or more")
    if when.where is not None:
        parts.append(f"`{when.where.text}` holds for it")
    return " and ".join(parts)
