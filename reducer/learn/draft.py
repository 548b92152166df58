"""Drafts as files: rules with the reason of every choice in a comment, and samples for their tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from textwrap import wrap
from typing import Any, NamedTuple

import yaml

from reducer.engine import attempt
from reducer.learn.evidence import Seen
from reducer.learn.fit import evidence
from reducer.learn.lesson import Learned, Lesson
from reducer.learn.score import Score
from reducer.learn.trial import compiled, outcome
from reducer.measures import size
from reducer.references import NUMBER
from reducer.rule.choose import is_glob

_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@-]{3,79}")
_MOST_CONTAINED = 3
_LONGEST_TOOL = 200
_WIDEST = 130


class Draft(NamedTuple):
    """A drafted rule: the file name and text of its rule file, and of its sample (JSON)."""

    tool: str
    file: str
    text: str
    sample_file: str
    sample: str


def drafted(learned: Learned) -> Iterator[Draft]:
    """Write every rule that was learned."""
    for lesson in learned.lessons:
        if lesson.rule is not None and is_writable(lesson.tool):
            yield _draft(lesson, learned, evidence(learned.training, lesson.tool), learned.measured.tools.get(lesson.tool, Score()), [])
    if learned.default.rule is not None:
        yield _draft(learned.default, learned, evidence(learned.training), learned.unseen, list(_without(learned.lessons)))


def _without(lessons: Sequence[Lesson]) -> Iterator[str]:
    """Tell which tools have no rule, and why."""
    reasons: dict[str, list[str]] = {}
    for one in lessons:
        if one.rule is None and is_writable(one.tool):
            reasons.setdefault(one.why, []).append(one.tool)
    for why, tools in reasons.items():
        yield f"{', '.join(tools)}: {why}"


def is_writable(tool: str) -> bool:
    """Tell whether a tool's name can stand in a rule as its name, and nothing else."""
    return 0 < len(tool) <= _LONGEST_TOOL and tool.isprintable() and tool == tool.strip() and not is_glob(tool)


def _draft(lesson: Lesson, learned: Learned, returns: Sequence[Seen], held: Score, alone: Sequence[str]) -> Draft:
    assert lesson.rule is not None
    name = "default" if lesson.tool == "*" else _file_name(lesson.tool)
    lines = ["version: 1", f"tool: {_flow(lesson.tool)}", f"description: {_description(lesson)}", *_header(lesson, learned, returns, held)]
    lines += [f"# {line}" for line in _folded(["Tools that have no rule of their own:", *(f"- {why}" for why in alone)] if alone else [])]
    rule = lesson.rule
    if "entities" in rule:
        lines += _entities(rule["entities"])
    if "when" in rule:
        lines.append(f"when: {_flow(rule['when'])}")
    if "steps" in rule:
        lines.append("steps:")
        told = {id(step): why for why, step in lesson.told}
        tiers = iter(_tiers(lesson, returns))
        number, tier = 0, next(tiers, None)
        for step in rule["steps"]:
            why = told.get(id(step))
            if why is None:
                if tier is not None and tier[0] == number:
                    why, tier = tier[1], next(tiers, None)
                number += 1
            lines += [f"  # {why}"] if why else []
            lines += _step(step)
    if "preserve" in rule:
        lines.append(f"preserve: {_flow(rule['preserve'])}")
    if "max_chars" in rule:
        lines += [f"# {text}" for _, text in _tiers(lesson, returns, rule["max_chars"])[-1:]]
        lines.append(f"max_chars: {rule['max_chars']}")
    sample = "" if lesson.sample is None else _json(lesson.sample.content)
    if lesson.sample is not None:
        lines += ["tests:", *_test(lesson, lesson.sample, name)]
    return Draft(lesson.tool, f"{name}.yaml", "\n".join(lines) + "\n", f"samples/{name}.json" if sample else "", sample)


def _folded(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield from wrap(text, 130, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _description(lesson: Lesson) -> str:
    if lesson.tool == "*":
        return "Drafted for tools without a rule of their own."
    return "Left alone." if lesson.sample is None else "Drafted from recorded histories."


def _header(lesson: Lesson, learned: Learned, returns: Sequence[Seen], held: Score) -> Iterator[str]:
    histories = sum(any(seen.tool == lesson.tool or lesson.tool == "*" for seen in history.returns) for history in learned.training)
    chars, uses = sum(seen.chars for seen in returns), sum(len(seen.wanted) for seen in returns)
    yield ""
    yield "# Drafted from recorded histories by `reducer learn`: read it, and change what you know better."
    yield f"# Evidence: {len(returns):,} returns in {histories:,} histories, {chars:,} characters. {uses:,} times they showed a value first that"
    yield "# the agent wrote later on."
    if lesson.sample is not None:
        assert lesson.rule is not None
        left = [outcome(compiled(lesson.rule), seen) for seen in returns]
        saved = 1 - sum(one.chars for one in left) / max(1, chars)
        gone = sum(len(one.gone) for one in left)
        yield f"# There it saves {saved:.0%} of the characters, and {gone:,} of {uses:,} such values would not have been seen."
    if held.returns:
        lost = held.references - held.kept
        yield f"# On {held.returns:,} returns that it was not learned from it saves {held.saved:.0%}; {lost:,} of {held.references:,} values are lost."
    if lesson.why:
        yield f"# {lesson.why[:1].upper()}{lesson.why[1:]}."


def _tiers(lesson: Lesson, returns: Sequence[Seen], target: int = 0) -> list[tuple[int, str]]:
    """Tell of each tier, with the number of its first step, what there is in returns of such sizes; of `target` characters and more for one that is for all."""
    number = 0
    found: list[tuple[int, str]] = []
    chars, uses = sum(seen.chars for seen in returns), sum(len(seen.wanted) for seen in returns)
    tiers = [tier for tier in lesson.plan if not tier.cut.is_bare]
    for place, tier in enumerate(tiers):
        gate = target or tier.cut.start if tier.cut.holds_always else tier.gate
        end = tiers[place + 1].gate if place + 1 < len(tiers) else None
        inside = [seen for seen in returns if seen.chars >= gate and (end is None or seen.chars < end)]
        range = f"From {gate:,} characters on" if end is None else f"From {gate:,} to {end:,} characters"
        share = sum(seen.chars for seen in inside) / max(1, chars)
        used = sum(len(seen.wanted) for seen in inside)
        found.append((number, f"{range}: {len(inside):,} of {len(returns):,} returns, {share:.0%} of the characters, {used:,} of {uses:,} later uses."))
        number += len(tier.cut.steps(gate))
    return found


def _entities(entities: dict[str, Any]) -> Iterator[str]:
    """Write the values that stay, many on a line: a list may have two hundred."""
    for kind, keys in entities.items():
        values = keys["words"]
        yield f"# {len(values):,} {'value' if len(values) == 1 else 'values'} that agents used, and that returns of several tasks show: they stay."
        yield f"entities:\n  {kind}:\n    case_sensitive: true\n    words: ["
        line = "     "
        for value in values:
            item = f" {_flow(value)},"
            if len(line) + len(item) > _WIDEST:
                yield line
                line = "     "
            line += item
        yield f"{line}\n    ]"


def _step(step: dict[str, Any]) -> Iterator[str]:
    for number, (key, value) in enumerate(step.items()):
        yield f"  {'-' if not number else ' '} {key}: {_flow(value)}"


def _test(lesson: Lesson, sample: Seen, name: str) -> Iterator[str]:
    assert lesson.rule is not None
    left = attempt(compiled(lesson.rule), sample.tool, sample.content).content
    share = int(100 * (1 - size(left) / size(sample.content)))
    shown = left if type(left) is str else _json(left)
    kept = [value for value in sorted(sample.wanted, key=lambda value: (-len(value), value)) if not value.startswith(NUMBER) and _PLAIN.fullmatch(value)]
    contained = [value for value in kept if value in shown][:_MOST_CONTAINED]
    yield "  - name: a recorded answer is shortened" + (", and what the agent used of it stays" if contained else "")
    yield f"    given: {{file: samples/{name}.json}}"
    yield f"    expect: {_flow({'min_reduction': f'{share}%', **({'contains': contained} if contained else {})})}"


def _file_name(tool: str) -> str:
    name = _UNFIT.sub("_", tool)[:60].strip("._") or "tool"
    return name if name == tool and name != "default" else f"{name}-{blake2b(tool.encode(), digest_size=3).hexdigest()}"


def _flow(value: Any) -> str:
    return yaml.safe_dump([value], default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False).strip()[1:-1]


def _json(content: Any) -> str:
    text = json.dumps(content, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates
        return json.dumps(content)
    return text
