"""Choosing the rule of a tool."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.rules import Ruleset, compile_rules
from reducer.rules.choose import matches, rule_chooser, shadows
from tests.rules.examples import CASES


def ruleset_of(names: list[str]) -> Ruleset:
    files = [(f"{n}.yaml", f"version: 1\ntool: '{name}'\nmax_chars: 9\n") for n, name in enumerate(names)]
    ruleset, _ = compile_rules(files)
    assert ruleset is not None
    return ruleset


def chosen(names: list[str], tool: str) -> str | None:
    rule = ruleset_of(names).rule_for(tool)
    return rule.name if rule else None


@pytest.mark.parametrize(("names", "tool", "expected"), CASES["chosen"])
def test_an_exact_name_precedes_the_most_literal_glob(names: list[str], tool: str, expected: str | None) -> None:
    assert chosen(names, tool) == expected
    assert chosen(names[::-1], tool) == expected, "the order of files does not matter"


def test_the_first_match_is_the_rule_that_applies() -> None:
    ruleset = ruleset_of(["get_host", "get_*", "*_host", "*", "get_h*", "g?t_host", "[g]et_host"])
    left, order = list(ruleset.rules), []
    while left:
        chosen = rule_chooser(left)("get_host")
        assert chosen is matches(left, "get_host")[0].rule
        order.append(chosen.name)
        left.remove(chosen)
    assert [match.name for match in matches(ruleset.rules, "get_host")] == order
    assert [match.name for match in matches(ruleset.rules, "xyz")] == ["*"]


_globs = st.text("ab*?", min_size=1, max_size=4).filter(lambda glob: set(glob) & set("*?"))


@given(_globs, _globs, st.text("ab", max_size=5))
@example("a*", "a?", "ab")
def test_a_shadowed_glob_is_never_used(first: str, second: str, name: str) -> None:
    if shadows(first, second) and fnmatch.fnmatchcase(name, second):
        assert chosen([second, first], name) == first
