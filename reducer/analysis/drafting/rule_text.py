"""Drafted rules and the text of their files, with a reason for each step as a comment, and a test on a sample."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent, wrap
from typing import Any

import yaml

from reducer.paths.written import Token, path_text
from reducer.rules import Ruleset, compile_rules

_WIDTH = 110
_MAX_NAME = 80
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Step:
    """A drafted step: its YAML keys in order, and its reason, a sentence without a full stop."""

    keys: Mapping[str, Any]
    reason: str = ""


_FIRST = ("when", "text")
"""The keys that stand before the steps."""


@dataclass(frozen=True, slots=True)
class DraftRule:
    """A rule before it is written; `settings` are the values of its other keys, such as `when` and `text`."""

    tool: str
    steps: tuple[Step, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draft:
    """A drafted rule: the names and texts of its rule file and of its sample, which is JSON or a text."""

    tool: str
    file: str
    text: str
    sample_file: str
    sample: str


def at(path: Sequence[Token], keys: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a step with its path, which is left out for the whole return."""
    return {"path": path_text(path), **keys} if path else keys


def ends(size: int) -> dict[str, int]:
    """Return how much of its head and tail a text or list keeps if it keeps `size` characters or items."""
    return {"head": size * 7 // 10, "tail": size * 3 // 10}


def compiled(rule: DraftRule) -> Ruleset:
    """Compile a drafted rule. Raises `ValueError` if it has problems."""
    steps = {"steps": [dict(step.keys) for step in rule.steps]} if rule.steps else {}
    data = {"version": 1, "tool": rule.tool, **rule.settings, **steps}
    ruleset, problems = compile_rules([("draft.yaml", json.dumps(data))])  # JSON is YAML
    if ruleset is None or problems:
        raise ValueError("; ".join(problem.message for problem in problems))
    return ruleset


def draft(rule: DraftRule, name: str, header: Sequence[str], test: Mapping[str, Any]) -> Draft:
    """Write a rule as the text of the file `name`, which is given without its extension.

    header: comments at the top of the file
    test: the `name` of the test, its `sample` and its expectations (`expect`)
    """
    gate = {key: value for key, value in rule.settings.items() if key in _FIRST}
    others = {key: value for key, value in rule.settings.items() if key not in _FIRST}
    steps = ["steps:"] if rule.steps else []
    for number, step in enumerate(rule.steps):
        reason = _comment(f"{step.reason}.") if step.reason else ""
        steps += [*([""] if number and reason else []), *([indent(reason, "  ")] if reason else []), _item(step.keys)]
    head = [*map(_comment, header), _entries({"version": 1, "tool": rule.tool, **gate})]
    sections = [head, steps, [_entries(others)] if others else []]
    file, sample = _sample(name, test["sample"])
    sections.append(["tests:", _item({"name": test["name"], "given": {"file": file}, "expect": test["expect"]})])
    text = "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"
    return Draft(rule.tool, f"{name}.yaml", text, sample_file=file, sample=sample)


def _sample(name: str, content: Any) -> tuple[str, str]:
    """Return the file and the text of a sample; only a text with lone surrogates or carriage returns is JSON."""
    if type(content) is str and "\r" not in content and not _SURROGATE.search(content):
        return f"samples/{name}.txt", content
    dumped = json.dumps(content, ensure_ascii=False, indent=1)
    # Lone surrogates become their JSON escapes.
    return f"samples/{name}.json", dumped.encode("utf-8", "backslashreplace").decode() + "\n"


def file_names(tools: Iterable[str]) -> dict[str, str]:
    """Return a unique file name for each tool, without extension."""
    names: dict[str, str] = {}
    used = set[str]()
    for tool in tools:
        bare = name = _NOT_IN_FILE_NAMES.sub("_", tool).strip("._")[:_MAX_NAME] or "tool"
        number = 1
        while name.casefold() in used:
            number += 1
            name = f"{bare}_{number}"
        used.add(name.casefold())
        names[tool] = name
    return names


def _comment(text: str) -> str:
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return "\n".join(f"# {line}" for line in wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False))


def _item(data: Mapping[str, Any]) -> str:
    """Return a mapping as an item of a list."""
    return "  - " + indent(_entries(data), "    ").lstrip(" ")


def _entries(data: Mapping[str, Any]) -> str:
    """Return a mapping with one line per key and values in flow style."""

    def entry(key: str, value: Any) -> str:
        style = None if isinstance(value, (dict, list)) else False
        text = yaml.safe_dump({key: value}, default_flow_style=style, width=_WIDTH, allow_unicode=True, sort_keys=False)
        return text.rstrip("\n")

    return "\n".join(entry(*item) for item in data.items())
