"""Drafted rules and the text of their files: each step with its reason as a comment, and a test on a sample."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent, wrap
from typing import Any

import yaml

from reducer.rules import Ruleset, compile_rules

_WIDTH = 110
_MAX_NAME = 80
_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_HEAD = ("when", "entities")
_FOOT = ("preserve", "max_chars")


@dataclass(frozen=True, slots=True)
class Step:
    """One drafted step: its YAML keys in order, and the reason for it as a sentence without the full stop."""

    keys: Mapping[str, Any]
    reason: str = ""

    @property
    def path(self) -> str:
        """Return its path."""
        return str(self.keys.get("path", "@"))


@dataclass(frozen=True, slots=True)
class DraftRule:
    """A rule before it is written: `settings` has `when`, `entities`, `preserve` and `max_chars` if it sets them.

    `notes` are comments on settings, by their key.
    """

    tool: str
    steps: tuple[Step, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        """Return the rule as the YAML of its file is read."""
        steps = {"steps": [dict(step.keys) for step in self.steps]} if self.steps else {}
        return {"version": 1, "tool": self.tool, **self.settings, **steps}


@dataclass(frozen=True, slots=True)
class Draft:
    """A drafted rule: name and text of its rule file and of its sample (JSON), the latter empty without a sample."""

    tool: str
    file: str
    text: str
    sample_file: str
    sample: str


def compiled(rule: DraftRule) -> Ruleset:
    """Compile a drafted rule alone. Raises `ValueError` if it has problems."""
    ruleset, problems = compile_rules([("draft.yaml", json.dumps(rule.as_data()))])  # JSON is YAML
    if ruleset is None or problems:
        raise ValueError("; ".join(problem.message for problem in problems))
    return ruleset


def rule_text(rule: DraftRule, header: Sequence[str], test: Mapping[str, Any] | None = None) -> str:
    """Return the text of a rule file: `header` are comments, `test` is its test as data."""
    lines = [*_comment(header), "version: 1", _entry("tool", rule.tool)]
    lines += _settings(rule, _HEAD)
    if rule.steps:
        lines += ["", "steps:"]
    for number, step in enumerate(rule.steps):
        block = [*([""] if number and step.reason else []), *_comment([f"{step.reason}."] if step.reason else [])]
        lines += [indent(line, "  ") for line in block]
        lines.append(_item(step.keys))
    foot = _settings(rule, _FOOT)
    lines += ["", *foot] if foot else []
    if test is not None:
        lines += ["", "tests:", _item(test)]
    return "\n".join(lines) + "\n"


def sample_test(name: str, file: str, expected: Mapping[str, Any]) -> dict[str, Any]:
    """Return a test on a sample as data."""
    return {"name": name, "given": {"file": file}, "expect": dict(expected)}


def json_text(content: Any) -> str:
    """Return a sample as the text of its file; lone surrogates are escaped."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(content, indent=1)
    return text + "\n"


def file_names(tools: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return a different file name for each tool, without its ending, and none of those in `taken`."""
    names: dict[str, str] = {}
    used = {name.casefold() for name in taken}
    for tool in tools:
        bare = name = _NOT_IN_FILE_NAMES.sub("_", tool).strip("._")[:_MAX_NAME] or "tool"
        number = 1
        while name.casefold() in used:
            number += 1
            name = f"{bare}_{number}"
        used.add(name.casefold())
        names[tool] = name
    return names


def _settings(rule: DraftRule, keys: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for key in keys:
        if key in rule.settings:
            lines += [*_comment([rule.notes[key]] if key in rule.notes else []), _entry(key, rule.settings[key])]
    return lines


def _comment(texts: Iterable[str]) -> list[str]:
    return [
        f"# {line}"
        for text in texts
        for line in wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
    ]


def _item(data: Mapping[str, Any]) -> str:
    """Return a mapping as an item of a list: one line per key, values in flow style."""
    text = "\n".join(_entry(key, value) for key, value in data.items())
    return "  - " + indent(text, "    ").lstrip(" ")


def _entry(key: str, value: Any) -> str:
    style = None if isinstance(value, (dict, list)) else False
    return yaml.safe_dump(
        {key: value}, default_flow_style=style, width=_WIDTH, allow_unicode=True, sort_keys=False
    ).rstrip("\n")
