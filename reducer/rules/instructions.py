"""Describes rules in words: for the model, once instead of inside the data, and for analysts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from reducer.entities.entity import ALL_TYPES, GROUPS
from reducer.errors import counted, shortened
from reducer.operations.fields import Mark, When
from reducer.operations.op import enumerated, read_as
from reducer.paths import Path
from reducer.rules.choose import by_precedence
from reducer.rules.model import Rule, Ruleset, Step
from reducer.rules.validation import listed

_SHORTENED = "Tool answers in this conversation are shortened by fixed rules; `…[` marks what was left out"
_LAST = "\n- The rules for {} are not stated here."
_ROOM_FOR_LAST = len(_LAST) + len("999,999,999 more tools")
_MAX_CONDITION = 80
"""The maximum number of characters of the condition of a rule."""
_MAX_PARTS = 7
"""The maximum number of parts per rule: every request contains all instructions."""
MAX_CHARS = 2_000
"""The maximum number of characters of the instructions for all rules."""


class Description(NamedTuple):
    """What a step does, without a subject: "keeps …". `line` is its line in the file, or 0 for the whole rule."""

    line: int
    text: str


def instructions(ruleset: Ruleset, tools: Iterable[str] | None = None) -> str:
    """Describe the rules for `tools`, or all rules, with one line per rule; empty if there are no rules.

    The rules with the most specific names come first. A line that does not fit into `MAX_CHARS` is left out, and the
    last line counts the tools of those lines. The text depends only on the rules and tools, so it is the same in every
    request.
    """
    names = _names(ruleset, tools)
    text, left_out = f"{_SHORTENED}, as stated here.", 0
    for rule in by_precedence(ruleset.rules):
        if rule.file not in names:
            continue
        line = f"\n- {listed(names[rule.file])}{_shape(rule)}: {_in_short(rule)}."
        if len(text) + len(line) + _ROOM_FOR_LAST > MAX_CHARS:
            left_out += len(names[rule.file])
        else:
            text += line
    if left_out:
        text += _LAST.format(counted(left_out, "more tool"))
    return text if names else ""


def introduction(ruleset: Ruleset) -> str:
    """Return the instructions for tools that are not known; empty if there are no rules."""
    return (
        f"{_SHORTENED}. Keys, and few or short items of lists, can also be left out without a mark."
        if ruleset.rules
        else ""
    )


def _names(ruleset: Ruleset, tools: Iterable[str] | None) -> dict[str, list[str]]:
    """Return the names of tools for which each rule is a candidate, by the file of the rule."""
    if tools is None:
        return {rule.file: list(rule.tools) for rule in ruleset.rules}
    names: dict[str, list[str]] = {}
    for tool in sorted(set(tools)):
        for rule in ruleset.rules_for(tool):
            names.setdefault(rule.file, []).append(tool)
    return names


def _shape(rule: Rule) -> str:
    """State the condition that answers must satisfy for a rule to apply."""
    if rule.when is None or rule.when.where is None:
        return ""
    return f", if `{shortened(rule.when.where.text, _MAX_CONDITION)}` holds"


def _in_short(rule: Rule) -> str:
    parts = list(dict.fromkeys(description.text for description in _steps(rule.steps)))
    if rule.max_chars is not None:
        parts.append(_target(rule.max_chars))
    # Always keep the last part, because it shortens most.
    if len(parts) > _MAX_PARTS:
        parts = [*parts[: _MAX_PARTS - 2], "shortens other parts too", parts[-1]]
    return ". ".join(["; ".join(parts), *_marking(rule)])


def _marking(rule: Rule) -> list[str]:
    """State what is left out with a marker, and what without one."""
    marked: list[str] = []
    unmarked: list[str] = []
    marks: list[Mark] = []
    is_cut = rule.max_chars is not None
    for step in rule.steps:
        is_cut = is_cut or step.op.cuts_texts
        if step.op.drops_keys() and not unmarked:
            unmarked.append("keys")
        if [*step.op.shortens()]:
            marks.append(rule.marks[step.number])
    if rule.max_chars is not None:
        marks.append(rule.marks[-1])
    if is_cut:
        marked.append("cut texts")
    if any(mark is not False for mark in marks):
        marked.append("items of lists")
    if None in marks:
        unmarked.append("few or short items")
    if False in marks:
        unmarked.append("items of some lists" if "items of lists" in marked else "items of lists")
    said = []
    for title, parts in (("Marked", marked), ("Not marked", unmarked)):
        if parts:
            said.append(f"{title}: {enumerated(parts)}")
    return said


def _place(path: Path) -> str:
    return "the answer" if path.text == "@" else f"`{path.text}`"


def descriptions(rule: Rule) -> list[Description]:
    """Describe each step of a rule, and the rule as a whole: "keeps the 20 newest `hosts` by `last_seen`"."""
    whole = [] if rule.max_chars is None else [_target(rule.max_chars)]
    if rule.settings.all_keys:
        whole.append("keeps every key of every object; removed values become empty")
    left_alone = {step.op.leaves_alone() for step in rule.steps} - {""}
    whole += sorted(left_alone)
    preserved = frozenset[str]().union(*(step.preserves for step in rule.steps))
    if preserved:
        whole.append(f"preserves {enumerated(_grouped(preserved))}")
    for types, count in rule.bounds:
        whole.append(f"preserves at most {counted(count, 'value')} of {enumerated(_grouped(types))}")
    described = [] if rule.when is None else [Description(0, f"applies only if {_gate(rule.when)}")]
    if rule.text:
        described.append(Description(0, f"reads an answer that is a text as {enumerated(rule.text, 'or')}"))
    described += _steps(rule.steps)
    for text in whole:
        described.append(Description(0, text))
    return described


def _grouped(types: Collection[str]) -> list[str]:
    """Return the names of entity types, replacing all types of a group with the name of the group."""
    remaining = dict.fromkeys(sorted(types, key=[*ALL_TYPES, *sorted(types)].index))
    names = []
    for group in sorted(GROUPS, key=lambda group: -len(GROUPS[group])):
        if remaining.keys() >= set(GROUPS[group]):
            names.append(group)
            for kind in GROUPS[group]:
                del remaining[kind]
    return [*names, *remaining]


def _target(max_chars: int) -> str:
    return f"shortens lists and texts further if more than {counted(max_chars, 'character')} are left"


def _steps(steps: Iterable[Step]) -> list[Description]:
    described = []
    for step in steps:
        place = read_as(_place(step.path), step.op.notations)
        gate = "" if step.op.when is None else f", if {_gate(step.op.when)}"
        described.append(Description(step.location.line, f"{step.op.describe(place)}{gate}"))
    return described


def _gate(when: When) -> str:
    conditions = []
    if when.min_chars is not None:
        conditions.append(f"the answer has at least {counted(when.min_chars, 'character')}")
    if when.where is not None:
        conditions.append(f"`{when.where.text}` holds")
    return " and ".join(conditions)
