"""Reads the mappings `conditions:` of all rule files: conditions with a name, shared by the rules of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from reducer.errors import Location
from reducer.paths import PathError, compile_expression
from reducer.rules.diagnostics import Report
from reducer.rules.tree import Scalar, Tree, entries_at, locate
from reducer.rules.validation import nearest

KEY = "always_keep"
"""The key of a step that accepts the name of a condition."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""The name of a condition or entity type."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Conditions:
    """JMESPath expressions by name; None for a wrong one, which is reported where it is defined."""

    texts: Mapping[str, str | None]

    def resolved(self, step: dict[str, Any]) -> dict[str, Any]:
        """Return a step with the condition in place of its name."""
        text = self.texts.get(step[KEY]) if type(step.get(KEY)) is str else None
        return step if text is None else {**step, KEY: text}

    def names_wrong(self, step: dict[str, Any]) -> bool:
        """Return whether a step names a wrong condition."""
        name = step.get(KEY)
        return type(name) is str and name in self.texts and self.texts[name] is None

    def misspelt(self, step: dict[str, Any]) -> str:
        """Return the condition whose name a step probably misspells, or an empty text."""
        word = step.get(KEY)
        if type(word) is not str or word in self.texts or not _WORD.fullmatch(word):
            return ""
        return nearest(word, self.texts, 0.75)


def read_conditions(files: Iterable[tuple[Tree, Report]]) -> Conditions:
    """Read the conditions of rule files and report what is wrong with them."""
    texts: dict[str, str | None] = {}
    defined: dict[str, tuple[Scalar, Report]] = {}
    used: set[str] = set()
    for tree, report in files:
        used.update(_used(tree))
        for key, node in entries_at(tree, "conditions"):
            name = str(key.value)
            if name in defined:
                first, other = defined[name]
                place = Location(other.file, first.line, first.column)
                report.add(key, "E092", f"the condition `{name}` is already defined at {place}")
                continue
            defined[name] = (key, report)
            texts[name] = _expression(name, key, node, report)
    for name, (key, report) in defined.items():
        if name not in used:
            report.add(key, "W031", f"no step uses the condition `{name}`", f"write `{KEY}: {name}` in a step")
    return Conditions(MappingProxyType(texts))


def _expression(name: str, key: Scalar, node: Tree, report: Report) -> str | None:
    if not NAME.fullmatch(name):
        report.add(key, "E091", f"`{name}` cannot name a condition")
        return None
    if not isinstance(node, Scalar) or type(node.value) is not str:
        report.add(node, "E020", "expected a JMESPath expression", "for example `severity == 'critical'`")
        return None
    try:
        warnings = compile_expression(node.value).warnings
    except PathError as error:
        report_path(report, node, error)
        return None
    for warning in warnings:
        report_path(report, node, warning)
    return node.value


def report_path(report: Report, node: Tree, error: PathError) -> None:
    """Report an error or warning in a JMESPath expression."""
    report.add(node, error.code, error.message, error.help, offset=error.column - 1, width=error.width)


def _used(tree: Tree) -> Iterable[str]:
    for step in getattr(locate(tree, ("steps",)), "items", ()):
        for key, node in getattr(step, "entries", ()):
            if key.value == KEY:
                yield str(getattr(node, "value", ""))
