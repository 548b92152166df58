"""Chooses the rule of a tool: its exact name, then the glob with the most literal characters, then `*`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from reducer.errors import Location
from reducer.rules.diagnostics import Report
from reducer.rules.model import Replaced, Rule
from reducer.rules.parser import ScalarNode, SequenceNode, Tree, locate

MAX_NAME = 200
MAX_STARS = 8
_END = MAX_NAME // 2
_WILD = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[!?\]?[^\]]*\]")
_NO_NAME = re.compile(r"^\^|\$$|[,|()\\]|\.\+")
"""Parts of regular expressions and lists, which no tool name contains."""


class Match(NamedTuple):
    """A rule and the name or glob of it that matches a tool."""

    rule: Rule
    name: str


def is_glob(name: str) -> bool:
    """Return whether a tool name contains `*`, `?` or `[`."""
    return _WILD.search(name) is not None


def matches(rules: Iterable[Rule], tool: str) -> list[Match]:
    """Return all names and globs that match a tool, in order of precedence."""
    tool = _bounded(tool)
    return [match for match in _ordered(rules) if _fits(match.name, tool)]


def rule_chooser(rules: Iterable[Rule]) -> Callable[[str], Rule | None]:
    """Return a function that finds the rule of a tool name and caches 4096 results."""
    ordered = _ordered(rules)

    @lru_cache(maxsize=4096)
    def rule_for(tool: str) -> Rule | None:
        return next((match.rule for match in ordered if _fits(match.name, tool)), None)

    return lambda tool: rule_for(_bounded(tool))


def _bounded(tool: str) -> str:
    """Replace the middle of a name that is too long for a rule, so that only globs match it, in bounded time."""
    return tool if len(tool) <= MAX_NAME else f"{tool[:_END]}\0{tool[-_END:]}"


def _ordered(rules: Iterable[Rule]) -> list[Match]:
    names = [Match(rule, name) for rule in rules for name in rule.tools]
    return sorted(names, key=lambda match: _rank(match.name))


def by_precedence(rules: Iterable[Rule]) -> list[Rule]:
    """Return rules in the order of their most specific names."""
    return sorted(rules, key=lambda rule: min(map(_rank, rule.tools)))


def _fits(name: str, tool: str) -> bool:
    return fnmatch.fnmatchcase(tool, name) if is_glob(name) else tool == name


@lru_cache(maxsize=4096)
def _rank(name: str) -> tuple[bool, int, int, int, int, str]:
    """Rank names before globs, and globs by their number of literal characters.

    Among equal globs, the one that matches fewer names comes first, so every glob can be used: `a??`, `a?*`, `a*`.
    """
    wild = _CLASS.sub("?", name)
    literal = wild.replace("*", "").replace("?", "")
    return is_glob(name), -len(literal), -wild.count("?"), wild.count("*"), -len(_WILD.split(name)[0]), name


def check_tool_names(files: Iterable[tuple[Tree, Report]]) -> tuple[Replaced, ...]:
    """Report tool names and globs that are too long, dead, or used twice in one source.

    Return those that a later source uses again: its rule replaces the earlier one.
    """
    first: dict[str, Location] = {}
    sources: dict[str, int] = {}
    replaced: dict[tuple[str, str], list[str]] = {}
    for tree, report in files:
        node = locate(tree, ("tool",))
        for item in node.items if isinstance(node, SequenceNode) else (node,):
            if not isinstance(item, ScalarNode) or item is tree or type(item.value) is not str:
                continue
            name = item.value
            if len(name) > MAX_NAME or name.count("*") > MAX_STARS:
                size = f"{len(name):,} characters" if len(name) > MAX_NAME else f"{name.count('*')} `*`"
                report.add(item, "E082", f"the tool name has {size}")
            elif _NO_NAME.search(name):
                report.add(item, "E083", f"`{name}` is not a tool name or a glob")
            elif "[" in _CLASS.sub("", name):
                report.add(item, "E081", f"the glob `{name}` cannot match any name")
            elif sources.get(name) == report.source:
                report.add(item, "E080", f"the tool `{name}` already has a rule at {first[name]}")
            else:
                if name in first:
                    replaced.setdefault((report.file, first[name].file), []).append(name)
                first[name], sources[name] = Location(report.file, item.line, item.column), report.source
    return tuple(Replaced(by, instead_of, tuple(tools)) for (by, instead_of), tools in replaced.items())
