"""Rules in words: what the model is told once, instead of notes inside the data, and what an analyst reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from reducer.entities.entity import GROUPS, TYPES
from reducer.op.words import enumerated
from reducer.rule.model import Rule, Ruleset, Step, When

_OPENING = "Tool answers in this conversation are shortened by fixed rules; `…[` marks where text or items were left out."

_MOST = 8
"""Sayings of one rule: a reader of twenty keeps none of them in mind, and each request pays for them."""


def instructions(ruleset: Ruleset, tools: Iterable[str] | None = None) -> str:
    """Say what the rules leave out, one line a rule: of the rules for `tools`, or of all. Empty when there is none.

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
    return "\n".join([_OPENING, *(f"- {', '.join(f'`{name}`' for name in names)}: {_told(rule)}." for rule, names in named.values())])


def _told(rule: Rule) -> str:
    sayings = dict.fromkeys(step.op.tells("the answer" if step.path.text == "@" else f"`{step.path.text}`") for step in rule.steps)
    if rule.max_chars is not None:
        sayings[f"the answer is cut down to about {rule.max_chars:,} characters"] = None
    said = list(sayings)
    # What makes the whole short comes last and is always said.
    return "; ".join(said if len(said) <= _MOST else [*said[: _MOST - 2], "other parts are shortened too", said[-1]])


class Saying(NamedTuple):
    """What one or two steps of a rule do, in words for an analyst: `line` is that of the first, 0 for what goes for the whole rule."""

    line: int
    text: str


def plain_words(rule: Rule) -> list[Saying]:
    """Say what a rule does, as sentences that begin in the middle: "keeps the 20 newest `resolutions` by `last_seen`, each with `hostname`"."""
    said: list[Saying] = []
    if rule.when is not None:
        said.append(Saying(0, f"leaves an answer alone unless {_gate(rule.when)}"))
    said += _steps(rule.steps)
    if rule.max_chars is not None:
        said.append(Saying(0, f"cuts lists and texts evenly where more than {rule.max_chars:,} characters are left"))
    if rule.all_keys:
        said.append(Saying(0, "keeps every key of every object: what is taken away there becomes empty"))
    for types in dict.fromkeys(step.owes for step in rule.steps if step.owes):
        steps = [step for step in rule.steps if step.owes == types]
        which = "" if len(steps) == len(rule.steps) else f" in {'line' if len(steps) == 1 else 'lines'} {enumerated(str(step.location.line) for step in steps)}"
        said.append(Saying(0, f"loses none of these{which}: {enumerated(grouped(types))}"))
    if rule.bounds:
        said += [Saying(0, f"keeps at most {most:,} values of {enumerated(grouped(types))} for that") for types, most in rule.bounds]
    return said


def grouped(types: Collection[str]) -> list[str]:
    """Name entity types, those of a whole group by the group."""
    names, left = [], set(types)
    for group in sorted(GROUPS, key=lambda group: -len(GROUPS[group])):
        if left.issuperset(GROUPS[group]):
            names.append(group)
            left.difference_update(GROUPS[group])
    return [*names, *(kind for kind in TYPES if kind in left), *sorted(left.difference(TYPES))]


def _steps(steps: Iterable[Step]) -> Iterator[Saying]:
    before: Step | None = None
    said = Saying(0, "")
    for step in steps:
        place = "the answer" if step.path.text == "@" else f"`{step.path.text}`"
        if (
            before is not None
            and before.path.text == step.path.text
            and before.op.shortens()
            and not before.op.names()
            and step.op.adds()
            and before.when == step.when
        ):
            said = Saying(said.line, f"{said.text}, {step.op.adds()}")
        else:
            if said.text:
                yield said
            gate = f", if {_gate(step.when)}" if step.when is not None else ""
            said = Saying(step.location.line, f"{step.op.says(place)}{gate}")
        before = step
    if said.text:
        yield said


def _gate(when: When) -> str:
    parts = []
    if when.min_chars is not None:
        parts.append(f"it has {when.min_chars:,} characters or more")
    if when.where is not None:
        parts.append(f"`{when.where.text}` holds for it")
    return " and ".join(parts)
