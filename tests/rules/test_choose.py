"""Choosing the rule of a tool."""

from __future__ import annotations

import fnmatch
from itertools import product
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.rules import choose, compile_rules
from reducer.rules.choose import MAX_NAME, matches, rule_chooser
from tests.helpers import rules, ruleset_of
from tests.rules.examples import CASES


def chosen(names: list[str], tool: str) -> str | None:
    return next((rule.name for rule in ruleset_of(*names).rules_for(tool)), None)


@pytest.mark.parametrize(("names", "tool", "expected"), CASES["chosen"])
def test_an_exact_name_precedes_the_most_literal_glob(names: list[str], tool: str, expected: str | None) -> None:
    assert chosen(names, tool) == expected
    assert chosen(names[::-1], tool) == expected, "the order of files does not matter"


def test_the_first_match_is_the_rule_that_applies() -> None:
    ruleset = ruleset_of("get_host", "get_*", "*_host", "*", "get_h*", "g?t_host", "[g]et_host")
    left, order = list(ruleset.rules), []
    while left:
        (chosen,) = rule_chooser(left)("get_host")
        assert chosen is matches(left, "get_host")[0].rule
        order.append(chosen.name)
        left.remove(chosen)
    assert [match.name for match in matches(ruleset.rules, "get_host")] == order
    assert [match.name for match in matches(ruleset.rules, "xyz")] == ["*"]


_globs = st.text("ab*?", min_size=1, max_size=4).filter(lambda glob: set(glob) & set("*?"))


NAMES = ["".join(letters) for length in range(6) for letters in product("abc", repeat=length)]


@given(_globs, _globs)
@example("a*", "a?")
@example("a*", "a?*")
@example("*a*", "a*")
def test_a_glob_that_matches_fewer_names_precedes_one_that_matches_these_too(first: str, second: str) -> None:
    wide, narrow = (set(fnmatch.filter(NAMES, glob)) for glob in (first, second))
    event("one is narrower" if narrow < wide else "neither")
    if narrow < wide:
        assert {chosen([first, second], name) for name in sorted(narrow)[:3]} == {second}


@pytest.mark.parametrize("glob", ["*", "get_*", "*_host", "get_*_host"])
def test_globs_match_both_ends_of_a_name_of_any_length(glob: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def fits(name: str, tool: str) -> bool:
        lengths.append(len(tool))
        return fnmatch.fnmatchcase(tool, name)

    monkeypatch.setattr(choose, "_fits", fits)
    ruleset = ruleset_of(glob, "no_*")
    for size in (1, MAX_NAME, 100_000):
        long = f"get_{'x' * size}_host"
        assert len(ruleset.rules_for(long)) == 1
        assert [match.name for match in matches(ruleset.rules, long)] == [glob]
    assert max(lengths) <= MAX_NAME + 1


def test_a_long_name_matches_no_rule_for_another_name() -> None:
    name = "a" * MAX_NAME
    assert chosen([name], name) == name
    for longer in (f"{name}a", name * 2, f"{name[:100]}\0{name[:100]}"):
        assert chosen([name, "?" * MAX_NAME], longer) is None


def gated(name: str, **more: Any) -> dict[str, Any]:
    """Return a rule for a name that applies to some contents."""
    return {"tool": name, "when": {"where": "a"}, "max_chars": 9, **more}


def prefixed(name: str) -> dict[str, Any]:
    """Return a rule for a name that also matches behind prefixes."""
    return gated(name, prefixed=True)


@pytest.mark.parametrize(("name", "tool", "expected"), CASES["prefixed"])
def test_a_name_matches_behind_the_prefix_of_a_server(name: str, tool: str, expected: bool) -> None:
    ruleset = rules(tool="*", max_chars=9, others=[prefixed(name)])
    assert [rule.name for rule in ruleset.rules_for(tool)] == ([name, "*"] if expected else ["*"])
    matched = [match.is_prefixed for match in matches(ruleset.rules, tool)]
    assert matched == ([tool != name, False] if expected else [False])


def test_the_longest_suffix_is_tried_first_after_names_and_globs() -> None:
    tool = "mcp__my_github_list_issues"
    behind = map(prefixed, ("list_issues", "github_list_issues", "github"))
    ruleset = rules(tool="*", max_chars=9, others=[*behind, gated("mcp_*"), gated(tool)])
    names = [rule.name for rule in ruleset.rules_for(tool)]
    assert names == [tool, "mcp_*", "github_list_issues", "list_issues", "*"]


def test_several_rules_for_a_name_need_a_condition_each() -> None:
    plain = "version: 1\ntool: x\nmax_chars: 9\n"
    gated = plain + "when: {where: a}\n"
    two = [("1.yaml", gated), ("2.yaml", gated)]
    assert compile_rules(two)[1] == ()
    for texts in ((gated, plain), (plain, gated)):
        assert [problem.code for problem in compile_rules(zip(("1.yaml", "2.yaml"), texts, strict=True))[1]] == ["E080"]
    for sources, files, replaced in (
        (([("1.yaml", plain)], [("2.yaml", gated)]), ["2.yaml", "1.yaml"], []),
        ((two, [("3.yaml", plain)]), ["3.yaml"], ["1.yaml", "2.yaml"]),
    ):
        ruleset, _ = compile_rules(*sources)
        assert ruleset is not None
        assert [rule.file for rule in ruleset.rules_for("x")] == files
        assert [each.instead_of for each in ruleset.replaced] == replaced
