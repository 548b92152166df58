"""Which rule a tool has."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.rules import compile_rules
from reducer.rules.choose import overlap


def chosen(names: list[str], tool: str) -> str | None:
    ruleset, _ = compile_rules(
        (f"{n}.yaml", f"version: 1\ntool: '{name}'\nmax_chars: 9\n") for n, name in enumerate(names)
    )
    assert ruleset is not None
    rule = ruleset.rule_for(tool)
    return rule.name if rule else None


@pytest.mark.parametrize(
    ("names", "tool", "expected"),
    [
        (["*", "vt_*", "vt_file"], "vt_file", "vt_file"),
        (["*", "vt_*", "vt_file"], "vt_domain", "vt_*"),
        (["*", "vt_*", "vt_file"], "misp", "*"),
        (["vt_*"], "misp", None),
        (["v*_report", "vt_*"], "vt_report", "v*_report"),
        (["vt_*", "*_vt"], "vt_x_vt", "vt_*"),
        (["a?c", "?bc"], "abc", "a?c"),
        (["[ab]x*", "ax*"], "axe", "ax*"),
    ],
)
def test_the_exact_name_then_the_most_literal_glob(names: list[str], tool: str, expected: str | None) -> None:
    assert chosen(names, tool) == expected
    assert chosen(names[::-1], tool) == expected, "the order of files does not matter"


globs = st.text(alphabet="ab*?", min_size=1, max_size=5)


@given(globs, globs, st.text(alphabet="ab", max_size=5))
def test_globs_that_match_one_name_overlap(a: str, b: str, name: str) -> None:
    if fnmatch.fnmatchcase(name, a) and fnmatch.fnmatchcase(name, b):
        assert overlap(a, b)
        assert overlap(b, a)


@given(globs, globs)
def test_globs_that_overlap_match_one_name(a: str, b: str) -> None:
    from itertools import product

    names = ("".join(letters) for size in range(9) for letters in product("ab", repeat=size))
    both = any(fnmatch.fnmatchcase(name, a) and fnmatch.fnmatchcase(name, b) for name in names)
    assert overlap(a, b) == both


def test_two_globs_that_overlap_are_a_warning() -> None:
    names = ("vt_*", "*_file", "misp_*", "*")
    ruleset, found = compile_rules((f"{name[0]}.yaml", f"version: 1\ntool: '{name}'\nmax_chars: 9\n") for name in names)
    assert ruleset is not None
    assert [(one.severity, one.message) for one in found] == [
        ("warning", "the globs `*_file` and `vt_*` at v.yaml:2:7 can match the same name"),
        ("warning", "the globs `misp_*` and `*_file` at *.yaml:2:7 can match the same name"),
    ]
