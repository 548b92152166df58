"""Which rule a tool has: its exact name, then the glob with the most literal characters, then `*`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from reducer.errors import Location
from reducer.rules.diagnostics import Report
from reducer.rules.model import Rule
from reducer.rules.parser import Scalar, Tree, locate
from reducer.rules.parser import Sequence as SequenceNode

MAX_NAME = 200
MAX_STARS = 8
_MAX_COMPARED = 100
"""Globs that are compared with each other: every pair costs a few microseconds."""
_WILD = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[!?\]?[^\]]*\]")


class Match(NamedTuple):
    """A name or glob of a rule that a tool has; `literal` counts its characters that are no wildcards."""

    rule: Rule
    name: str
    literal: int

    @property
    def is_exact(self) -> bool:
        """Whether the name is the tool's own."""
        return not is_glob(self.name)


def is_glob(name: str) -> bool:
    """Return whether a tool name contains `*`, `?` or `[`."""
    return _WILD.search(name) is not None


def matches(rules: Iterable[Rule], tool: str) -> list[Match]:
    """Return every name and glob that matches a tool, in the order of precedence."""
    return [match for match in _ordered(rules) if _fits(match.name, tool)]


def rule_chooser(rules: Iterable[Rule]) -> Callable[[str], Rule | None]:
    """Return the function that finds the rule of a tool name; it caches the answers for 4096 names."""
    ordered = _ordered(rules)

    @lru_cache(maxsize=4096)
    def rule_for(tool: str) -> Rule | None:
        return next((match.rule for match in ordered if _fits(match.name, tool)), None)

    return rule_for


def _ordered(rules: Iterable[Rule]) -> list[Match]:
    found = [Match(rule, name, -_rank(name)[0]) for rule in rules for name in rule.tools]
    return sorted(found, key=lambda match: (is_glob(match.name), _rank(match.name)))


def _fits(name: str, tool: str) -> bool:
    return fnmatch.fnmatchcase(tool, name) if is_glob(name) else tool == name


def _rank(glob: str) -> tuple[int, int, str]:
    """Rank a glob: more literal characters first, then the longer literal head, then by its text."""
    literal = _CLASS.sub("", glob).replace("*", "").replace("?", "")
    return (-len(literal), -len(_WILD.split(glob)[0]), glob)


def shadows(first: str, second: str) -> bool:
    """Return whether a glob takes precedence over another and matches every name that the other matches.

    Globs with a character class shadow nothing.
    """
    if "[" in first or "[" in second or _rank(first) >= _rank(second):
        return False
    return fnmatch.fnmatchcase(second, first.replace("?", "[!*]"))


def check_tool_names(files: Iterable[tuple[Tree, Report]]) -> None:
    """Report names and globs of tools that are too long, dead, shadowed or already have a rule."""
    first: dict[str, Location] = {}
    for tree, report in files:
        node = locate(tree, ("tool",))
        for item in node.items if isinstance(node, SequenceNode) else (node,):
            if isinstance(item, Scalar) and item is not tree and type(item.value) is str:
                _check_tool_name(item, item.value, first, report)


def _check_tool_name(node: Scalar, name: str, first: dict[str, Location], report: Report) -> None:
    """Check a name against those before it, with their locations in `first`, and add it to them."""
    if len(name) > MAX_NAME or name.count("*") > MAX_STARS:
        size = f"{len(name):,} characters" if len(name) > MAX_NAME else f"{name.count('*')} `*`"
        report.add(node, "E082", f"the tool name has {size}")
        return
    if name in first:
        report.add(node, "E080", f"the tool `{name}` already has a rule at {first[name]}")
        return
    if is_glob(name) and "[" in _CLASS.sub("", name):
        report.add(node, "E081", f"the glob `{name}` cannot match any name")
    globs = [other for other in first if is_glob(other)] if is_glob(name) else []
    for other in globs if len(globs) < _MAX_COMPARED else ():
        if shadows(other, name):
            report.add(node, "W021", f"the glob `{name}` is never used: `{other}` at {first[other]} takes precedence")
        elif shadows(name, other):
            report.add(node, "W021", f"the glob `{other}` at {first[other]} is never used: `{name}` takes precedence")
    first[name] = Location(report.file, node.line, node.column)
