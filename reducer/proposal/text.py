"""A proposal as the text of a rule file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from glob import escape
from textwrap import fill
from typing import Any

from reducer.path.written import path_text
from reducer.proposal.levels import BIG
from reducer.proposal.proposed import Proposed

_PLAIN = re.compile(r"[A-Za-z_][\w.*/-]*(?:\[\*\][\w.*/-]*)*", re.ASCII)
_SPECIAL = frozenset(("yes", "no", "on", "off", "true", "false", "null", "y", "n"))
_WIDTH = 140
MODELINE = "# yaml-language-server: $schema=.schema.json"
"""The line by which editors find the schema of a rule file, beside it."""


def rule_text(tool: str, steps: Sequence[Proposed], about: str, gated: bool, max_chars: int | None, test: str = "") -> str:
    """Write a rule file: `about` is what the answers were, `test` the section `tests` as it is laid out."""
    lines = [
        MODELINE,
        f"# Drafted from {about}. Read each step; change what it should not take; then run its test.",
        "version: 1",
        f"tool: {scalar(escape(tool))}",
    ]
    if gated:
        lines.append(f"when: {{min_chars: {BIG}}}            # shorter answers are left alone")
    if steps:
        lines += ["", "steps:"]
    for number, step in enumerate(steps):
        reason = [f"  # {line}" for line in fill(f"{step.reason}.", _WIDTH).split("\n")]
        lines += [*([""] if number else []), *reason, *_step(step)]
    lines.append("")
    if max_chars is not None:
        lines += ["# What is still longer is cut evenly; its indicators stay named.", f"max_chars: {max_chars}", ""]
    lines += ["# preserve: [threat_actor, cve]     # without the first `#` such entities never vanish, whatever a step takes", ""]
    return "\n".join(lines) + (f"\n{test}" if test else "")


def test_text(name: str, sample: str, expected: Iterable[tuple[str, Any]]) -> str:
    """Write the section `tests` with one test on a sample; `expected` are the keys of `expect`, in order."""
    lines = ["tests:", f"  - name: {scalar(name)}", f"    given: {{file: {scalar(sample)}}}", "    expect:"]
    for key, value in expected:
        if type(value) is dict:
            lines += [f"      {key}:", *(f"        {scalar(inner)}: {json.dumps(item)}" for inner, item in value.items())]
        else:
            lines.append(f"      {key}: {value}")
    return "\n".join(lines) + "\n"


def scalar(text: str) -> str:
    """Write a text as YAML reads it back: bare if it can be, else in quotes."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _SPECIAL:
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text)


def _step(step: Proposed) -> list[str]:
    parts = [("path", path_text(step.path))] if step.path else []
    lines = [f"{key}: {_value(value)}" for key, value in [*parts, *step.action.items()]]
    return [f"  {'- ' if number == 0 else '  '}{line}" for number, line in enumerate(lines)]


def _value(value: Any) -> str:
    if type(value) is list:
        return _list([scalar(item) for item in value])
    if type(value) is dict:
        return "{" + ", ".join(f"{key}: {_value(item)}" for key, item in value.items()) + "}"
    return scalar(value) if type(value) is str else json.dumps(value)


def _list(items: Sequence[str]) -> str:
    """Lay out a list on as many lines as it needs."""
    lines, line = [], ""
    for item in items:
        if line and len(line) + len(item) > _WIDTH - 6:
            lines.append(line)
            line = ""
        line += f"{item}, "
    lines.append(line.removesuffix(", "))
    return f"[{lines[0]}]" if len(lines) == 1 else "[\n" + "\n".join(f"      {line.rstrip()}" for line in lines) + "]"
