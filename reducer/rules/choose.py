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
from reducer.rules.tree import Scalar

MAX_NAME = 200
MAX_STARS = 8
_MAX_COMPARED = 100
"""Globs that are compared with each other: every pair costs a few microseconds."""
_WILD = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[!?\]?[^\]]*\]")


def is_glob(name: str) -> bool:
    """Return whether a tool name contains `*`, `?` or `[`."""
    return _WILD.search(name) is not None


def overlap(a: str, b: str) -> bool:
    """Return whether two globs can match one name; a character class counts as any character."""
    left, right = (re.sub(r"\*+", "*", _CLASS.sub("?", glob)) for glob in (a, b))
    # Bit n of a number is the place before character n of the right glob.
    places: dict[str, int] = {}
    for number, token in enumerate(right):
        places[token] = places.get(token, 0) | 1 << number
    end, stars, wild = 1 << len(right), places.get("*", 0), places.get("?", 0)

    def past_stars(reached: int) -> int:
        return reached | (reached & stars) << 1

    reached = past_stars(1)
    for token in left:
        if token == "*":
            reached = -(reached & -reached) & (2 * end - 1)
        else:
            fitting = end - 1 & ~stars if token == "?" else places.get(token, 0) | wild
            reached = past_stars(reached & stars | (reached & fitting) << 1)
    return bool(reached & end)


def shadows(first: str, second: str) -> bool:
    """Return whether a glob takes precedence over another and matches every name that the other matches.

    Globs with a character class shadow nothing.
    """
    if "[" in first or "[" in second or _rank(first) >= _rank(second):
        return False
    return _glob_pattern(first).match(second) is not None


@lru_cache(maxsize=1024)
def _glob_pattern(glob: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(glob.replace("?", "[!*]")))


class Match(NamedTuple):
    """A name or glob of a rule that a tool has; `literal` counts its characters that are no wildcards."""

    rule: Rule
    name: str
    literal: int

    @property
    def is_exact(self) -> bool:
        """Whether the name is the tool's own."""
        return not is_glob(self.name)


def matches(rules: Iterable[Rule], tool: str) -> list[Match]:
    """Return every name and glob that matches a tool, in the order of precedence."""
    found = []
    for rule in rules:
        for name in rule.tools:
            if fnmatch.fnmatchcase(tool, name) if is_glob(name) else tool == name:
                found.append((is_glob(name), *_rank(name), Match(rule, name, -_rank(name)[0])))
    return [entry[-1] for entry in sorted(found, key=lambda entry: entry[:-1])]


def _rank(glob: str) -> tuple[int, int, str]:
    """Rank a glob: more literal characters first, then the longer literal head, then by its text."""
    literal = _CLASS.sub("", glob).replace("*", "").replace("?", "")
    return (-len(literal), -len(_WILD.split(glob)[0]), glob)


def rule_chooser(rules: Iterable[Rule]) -> Callable[[str], Rule | None]:
    """Return the function that finds the rule of a tool name; it caches the answers for 4096 names."""
    exact: dict[str, Rule] = {}
    globs: list[tuple[tuple[int, int, str], re.Pattern[str], Rule]] = []
    for rule in rules:
        for name in rule.tools:
            if is_glob(name):
                globs.append((_rank(name), re.compile(fnmatch.translate(name)), rule))
            else:
                exact[name] = rule
    globs.sort(key=lambda entry: entry[0])

    @lru_cache(maxsize=4096)
    def rule_for(tool: str) -> Rule | None:
        if tool in exact:
            return exact[tool]
        return next((rule for _, pattern, rule in globs if pattern.match(tool)), None)

    return rule_for


def check_tool_name(node: Scalar, tools: dict[str, Location], report: Report) -> None:
    """Check a tool name against those before it, with their locations in `tools`, and add it to them."""
    name = str(node.value)
    if len(name) > MAX_NAME or name.count("*") > MAX_STARS:
        much = f"{len(name):,} characters" if len(name) > MAX_NAME else f"{name.count('*')} `*`"
        report.add(node, "E082", f"the tool name has {much}")
        return
    if name in tools:
        report.add(node, "E080", f"the tool `{name}` already has a rule at {tools[name]}")
        return
    if is_glob(name) and name != "*":
        if "[" in _CLASS.sub("", name):
            report.add(node, "E081", f"the glob `{name}` cannot match any name")
        globs = [(other, place) for other, place in tools.items() if is_glob(other) and other != "*"]
        for other, place in globs if len(globs) < _MAX_COMPARED else ():
            if shadows(other, name):
                report.add(node, "W021", f"the glob `{name}` is never used: `{other}` at {place} takes precedence")
            elif shadows(name, other):
                report.add(node, "W021", f"the glob `{name}` takes precedence over all of `{other}` at {place}")
            elif overlap(name, other):
                report.add(node, "W020", f"the globs `{name}` and `{other}` at {place} can match the same name")
            else:
                continue
            break
    tools[name] = Location(report.file, node.line, node.column)
