"""Which rule a tool has: its exact name, else the most literal glob, else `*`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from reducer.rule.model import Rule

_WILD = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[!?\]?[^\]]*\]")


def is_glob(name: str) -> bool:
    """Tell whether a tool name holds `*`, `?` or `[`."""
    return _WILD.search(name) is not None


def is_dead(glob: str) -> bool:
    """Tell whether a glob can match nothing that it seems to mean: a `[` that no `]` closes."""
    return "[" in _CLASS.sub("", glob)


def meet(a: str, b: str) -> bool:
    """Tell whether two globs can match one name; a character class counts as any character."""
    left, right = _tokens(a), _tokens(b)
    reached = {0}
    reached = _skip(right, reached)
    for token in left:
        following: set[int] = set()
        if token == "*":
            # From each place in the other glob on, everything further can be passed.
            following = set(range(min(reached), len(right) + 1)) if reached else set()
        else:
            for place in reached:
                if place < len(right):
                    other = right[place]
                    if other == "*":
                        following.add(place)
                    elif token == other or "?" in (token, other):
                        following.add(place + 1)
        reached = _skip(right, following)
    return len(right) in reached


def shadows(first: str, second: str) -> bool:
    """Tell whether a glob goes before another and matches every name that the other does; a character class matches only the same one."""
    if "[" in first or "[" in second or _rank(first) >= _rank(second):
        return False
    pattern = "".join(".*" if token == "*" else "[^*]" if token == "?" else re.escape(token) for token in _tokens(first))
    return re.fullmatch(pattern, second, re.DOTALL) is not None


def _tokens(glob: str) -> list[str]:
    return list(_CLASS.sub("?", glob))


def _skip(tokens: list[str], reached: set[int]) -> set[int]:
    grown = set(reached)
    for place in reached:
        while place < len(tokens) and tokens[place] == "*":
            place += 1
            grown.add(place)
    return grown


class Match(NamedTuple):
    """A name or glob of a rule that a tool has: `name` as it stands in the file, `literal` its characters that are no wildcards."""

    rule: Rule
    name: str
    literal: int

    @property
    def is_exact(self) -> bool:
        """Tell whether the name is the tool's own."""
        return not is_glob(self.name)


def matches(rules: Iterable[Rule], tool: str) -> list[Match]:
    """Give every name and glob that a tool matches, as `rule_chooser` ranks them: the first is the one that counts."""
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
    """Compile rules to the function that gives the rule for a tool name; its answers are remembered, 4096 names at most."""
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
