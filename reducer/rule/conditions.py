"""The mappings `conditions:` of all rule files: conditions with a name, shared by the rules of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from reducer.errors import Location
from reducer.path import PathError, compile_expression, mended
from reducer.rule.problems import Report, corrected, doubted
from reducer.source import Mapping as MappingNode
from reducer.source import Scalar, Tree, locate

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
KEY = "always_keep"
"""The key of a step that a named condition may stand at."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions by name, as the text of a JMESPath expression; None for one that is wrong, which is told where it is written."""

    texts: Mapping[str, str | None]

    def resolved(self, step: dict[str, Any]) -> dict[str, Any]:
        """Give a step with the condition that it names put in place of the name; the same step if it names none."""
        text = self.texts.get(step[KEY]) if type(step.get(KEY)) is str else None
        return step if text is None else {**step, KEY: text}

    def names_wrong(self, step: dict[str, Any]) -> bool:
        """Tell whether a step names a condition that is wrong."""
        name = step.get(KEY)
        return type(name) is str and name in self.texts and self.texts[name] is None

    def doubt(self, step: dict[str, Any]) -> str:
        """Give the name of the condition that is probably meant by a word that is none; empty when there is no doubt."""
        word = step.get(KEY)
        if type(word) is not str or word in self.texts or not _WORD.fullmatch(word):
            return ""
        return next(iter(get_close_matches(word, self.texts, 1, 0.75)), "")


def read_conditions(files: Iterable[tuple[str, Tree, Report]]) -> Conditions:
    """Read the conditions of rule files, each with its name, its tree and where its problems are noted."""
    texts: dict[str, str | None] = {}
    places: dict[str, Location] = {}
    used: set[str] = set()
    written: dict[str, tuple[Tree, Report]] = {}
    for file, tree, report in files:
        used.update(_used(tree))
        named = locate(tree, ("conditions",))
        if not isinstance(tree, MappingNode) or not isinstance(named, MappingNode) or named is tree:
            continue
        for key, described in named.entries:
            name = str(key.value)
            if name in places:
                report(key, "E092", f"the condition `{name}` is described already, at {places[name]}", "describe it once: it holds for all files of the folder")
                continue
            places[name] = Location(file, key.line, key.column)
            texts[name] = None
            written[name] = (key, report)
            if not _NAME.fullmatch(name):
                report(key, "E091", f"`{name}` cannot name a condition", "small letters, digits and `_`, a letter first, 40 characters at most")
            elif not isinstance(described, Scalar) or type(described.value) is not str:
                report(described, "E020", "expected a JMESPath expression", "such as `severity == 'critical'`")
            else:
                texts[name] = _checked(described, described.value, report)
    for name, (where, note) in written.items():
        if name not in used:
            note(where, "W031", f"no step of the folder uses the condition `{name}`", f"as `{KEY}: {name}`")
    return Conditions(MappingProxyType(texts))


def _checked(node: Tree, text: str, report: Report) -> str | None:
    try:
        for doubt in compile_expression(text).warnings:
            report(node, doubt.code, doubt.message, doubt.help, offset=doubt.column - 1, width=doubt.width, fix=doubted(text, doubt))
    except PathError as error:
        fix = mended(text, compile_expression)
        report(node, error.code, error.message, corrected(error.help, fix), offset=error.column - 1, width=error.width, fix=fix or None)
        return None
    return text


def _used(tree: Tree) -> Iterable[str]:
    steps = locate(tree, ("steps",))
    for step in getattr(steps, "items", ()):
        for key, node in getattr(step, "entries", ()):
            if key.value == KEY:
                yield str(getattr(node, "value", ""))
