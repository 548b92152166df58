"""Finds the rules of a tool in the order in which they are tried; the content decides which of them applies.

An exact name comes first, then the glob with the most literal characters, then the longest name behind the prefix of a
server, then `*`. For the same name, a later source comes before an earlier one.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator
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
_STARS = re.compile(r"\*{2,}")
_NAME, _GLOB, _PREFIXED, _EVERY = range(4)
"""The kinds of matches, the most specific first."""
_SERVER = re.compile(r"[^\W_]")
_MCP = re.compile(r"mcp__.+__", re.DOTALL)
_BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
_NO_NAME = re.compile(r"^\^|\$$|[,|()\\]|\.\+")
"""Parts of regular expressions and lists, which no tool name contains."""


class Match(NamedTuple):
    """A rule and the name or glob of it that matches a tool, perhaps behind the prefix of a server."""

    rule: Rule
    name: str
    is_prefixed: bool = False


def is_glob(name: str) -> bool:
    """Return whether a tool name contains `*`, `?` or `[`."""
    return _WILD.search(name) is not None


def matches(rules: Iterable[Rule], tool: str) -> list[Match]:
    """Return all names and globs that match a tool, in order of precedence."""
    tool = _bounded(tool)
    return [match for match in _ordered(rules) if _matches(match, tool)]


def rule_chooser(rules: Iterable[Rule]) -> Callable[[str], tuple[Rule, ...]]:
    """Return a function that finds the candidates for a tool name and caches 4096 results.

    They are the rules to try in order. The last of them is the first one without `when.where`: it always applies.
    """
    ordered = _ordered(rules)

    @lru_cache(maxsize=4096)
    def rules_for(tool: str) -> tuple[Rule, ...]:
        found: list[Rule] = []
        for match in ordered:
            if not _matches(match, tool) or any(rule is match.rule for rule in found):
                continue
            found.append(match.rule)
            if not match.rule.has_where:
                break
        return tuple(found)

    return lambda tool: rules_for(_bounded(tool))


def _bounded(tool: str) -> str:
    """Replace the middle of a name that is too long for a rule, so that only globs match it, in bounded time."""
    return tool if len(tool) <= MAX_NAME else f"{tool[:_END]}\0{tool[-_END:]}"


def _ordered(rules: Iterable[Rule]) -> list[Match]:
    found: list[Match] = []
    for rule in rules:
        for name in rule.tools:
            found.append(Match(rule, name))
            if rule.prefixed and not is_glob(name):
                found.append(Match(rule, name, is_prefixed=True))
    return sorted(found, key=_precedence)


def by_precedence(rules: Iterable[Rule]) -> list[Rule]:
    """Return rules in the order of their most specific names."""
    return sorted(rules, key=lambda rule: min(_precedence(Match(rule, name)) for name in rule.tools))


def _precedence(match: Match) -> tuple[tuple[int | str, ...], int]:
    return _rank(match.name, match.is_prefixed), -match.rule.source


def _matches(match: Match, tool: str) -> bool:
    return _is_behind_prefix(match.name, tool) if match.is_prefixed else _fits(match.name, tool)


def _fits(name: str, tool: str) -> bool:
    return fnmatch.fnmatchcase(tool, name) if is_glob(name) else tool == name


def _is_behind_prefix(name: str, tool: str) -> bool:
    """Return whether a tool is a name behind a prefix: `mcp__SERVER__`, or `SERVER` with `_`, `-`, `.` or `/`.

    A name of one word does not follow `_` or `-`, because `loki_query` is another tool than `query`.
    """
    prefix = tool.removesuffix(name)
    if prefix == tool or not _SERVER.search(prefix[:-1]):
        return False
    return prefix[-1] in "./" or _MCP.fullmatch(prefix) is not None or (prefix[-1] in "_-" and _has_words(name))


def _has_words(name: str) -> bool:
    return len(_BETWEEN_WORDS.split(name.strip("_-"))) > 1


@lru_cache(maxsize=4096)
def _rank(name: str, is_prefixed: bool) -> tuple[int | str, ...]:
    """Rank names before globs, then names behind a prefix, then `*`, each with more literal characters first.

    Among equal globs, the one that matches fewer names comes first, so every glob can be used: `a??`, `a?*`, `a*`.
    """
    wild = _STARS.sub("*", _CLASS.sub("?", name))
    literal = wild.replace("*", "").replace("?", "")
    kind = _NAME
    if is_prefixed:
        kind = _PREFIXED
    elif is_glob(name):
        kind = _GLOB if literal or "?" in wild else _EVERY
    return kind, -len(literal), -wild.count("?"), wild.count("*"), -len(_WILD.split(name)[0]), name


class _Use(NamedTuple):
    """The use of a tool name in a rule file."""

    source: int
    location: Location
    has_where: bool
    is_prefixed: bool


def check_tool_names(files: Iterable[tuple[Tree, Report]]) -> tuple[Replaced, ...]:
    """Report tool names and globs that are too long, dead, or used twice in one source.

    Several rules of one source can have the same name if each has a `when.where`. Return the names that a later source
    uses again without a `when.where`: its rule replaces the earlier ones.
    """
    uses: dict[str, list[_Use]] = {}
    replaced: dict[tuple[str, str], list[str]] = {}
    for tree, report in files:
        has_where, is_prefixed = _has(tree, "when", "where"), _has(tree, "prefixed")
        for item in _tool_names(tree):
            name = str(item.value)
            if _report_name(report, item, name):
                continue
            location = Location(report.file, item.line, item.column)
            use = _Use(report.source, location, has_where, is_prefixed)
            before = uses.setdefault(name, [])
            twice = next((other for other in before if _clash(other, use)), None)
            if twice is not None:
                report.add(item, "E080", f"the tool `{name}` already has a rule at {twice.location}")
                continue
            for other in before if not use.has_where else ():
                if not other.is_prefixed:
                    replaced.setdefault((report.file, other.location.file), []).append(name)
            if not use.has_where:
                before.clear()
            before.append(use)
    return tuple(Replaced(by, instead_of, tuple(tools)) for (by, instead_of), tools in replaced.items())


def _tool_names(tree: Tree) -> Iterator[ScalarNode]:
    node = locate(tree, ("tool",))
    for item in node.items if isinstance(node, SequenceNode) else (node,):
        if isinstance(item, ScalarNode) and item is not tree and type(item.value) is str:
            yield item


def _report_name(report: Report, item: ScalarNode, name: str) -> bool:
    """Report a name that is too long or no name, and return whether it is."""
    if len(name) > MAX_NAME or name.count("*") > MAX_STARS:
        size = f"{len(name):,} characters" if len(name) > MAX_NAME else f"{name.count('*')} `*`"
        report.add(item, "E082", f"the tool name has {size}")
    elif _NO_NAME.search(name):
        report.add(item, "E083", f"`{name}` is not a tool name or a glob")
    elif "[" in _CLASS.sub("", name):
        report.add(item, "E081", f"the glob `{name}` cannot match any name")
    else:
        return False
    return True


def _has(tree: Tree, *place: str) -> bool:
    """Return whether a rule file has a key."""
    key = locate(tree, place, key=True)
    return isinstance(key, ScalarNode) and key.value == place[-1]


def _clash(one: _Use, other: _Use) -> bool:
    """Return whether the shape of a return does not tell which of two rules for the same name applies."""
    if one.source != other.source:
        return False
    return one.location.file == other.location.file or not (one.has_where and other.has_where)
