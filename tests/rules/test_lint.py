"""Steps and globs that are valid, but probably not intended."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.rules import compile_rules
from reducer.rules.choose import rule_chooser, shadows

HEAD = "version: 1\ntool: t\nsteps:\n"


def found(text: str) -> list[tuple[int, str, str]]:
    _, problems = compile_rules([("r.yaml", text)])
    return [(problem.location.line, problem.code, problem.message) for problem in problems]


GONE = "step 1 ({}) already removes `items[*].tags`"


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (
            "  - {path: items, keep: [name]}\n  - {path: 'items[*].tags', limit: 3}\n",
            [(5, "W040", GONE.format("`keep`"))],
        ),
        ("  - {keep: [name]}\n  - {path: 'items[*].tags', limit: 3}\n", [(5, "W040", GONE.format("`keep`"))]),
        (
            "  - {path: items, drop: tags}\n  - {path: 'items[*].tags', limit: 3}\n",
            [(5, "W040", GONE.format("`drop`"))],
        ),
        ("  - {drop: items}\n  - {path: 'items[*].tags', limit: 3}\n", [(5, "W040", GONE.format("`drop`"))]),
        (
            "  - {path: items, truncate: 9}\n  - {path: items, limit: 3}\n",
            [(5, "W041", "step 1 (`truncate`) truncates texts in items that this step removes")],
        ),
        (
            "  - {path: 'items[*].text', truncate: 9}\n  - {path: items, limit: 3}\n",
            [(5, "W041", "step 1 (`truncate`) truncates texts in items that this step removes")],
        ),
        ("  - {path: 'items[*]', limit: 3}\n", [(4, "W042", "`items[*]` names each item, and `limit` works on lists")]),
        ("  - {path: '[*]', dedupe: true}\n", [(4, "W042", "`[*]` names each item, and `dedupe` works on lists")]),
    ],
)
def test_steps_that_are_probably_not_intended(steps: str, expected: list[tuple[int, str, str]]) -> None:
    assert found(HEAD + steps) == expected


@pytest.mark.parametrize(
    "steps",
    [
        "  - {path: items, keep: [name, tags]}\n  - {path: 'items[*].tags', limit: 3}\n",
        "  - {path: items, keep: [name, tags.id]}\n  - {path: 'items[*].tags', limit: 3}\n",
        "  - {path: items, keep: [name], when: {min_chars: 99}}\n  - {path: 'items[*].tags', limit: 3}\n",
        "  - {path: \"items[?kind == 'a']\", keep: [name, kind]}\n  - {path: 'items[*].tags', limit: 3}\n",
        "  - {path: items, drop: \"[?kind == 'a'].tags\"}\n  - {path: 'items[*].tags', limit: 3}\n",
        "  - {path: others, keep: [name]}\n  - {path: 'items[*].tags', limit: 3}\n",
        "  - {path: items, limit: 3}\n  - {path: items, truncate: 9}\n",
        "  - {path: items, truncate: 9}\n  - {path: 'items[*].tags', limit: 3}\n",
        "  - {path: 'items[]', limit: 3}\n",
        "  - {path: 'items[*]', keep: [name]}\n",
    ],
)
def test_steps_that_are_fine(steps: str) -> None:
    assert found(HEAD + steps) == []


def test_a_shadowed_glob_is_not_an_overlap_too() -> None:
    assert found("version: 1\ntool: ['vt_?', 'vt_*']\nmax_chars: 9\n") == [
        (2, "W021", "the glob `vt_*` takes precedence over all of `vt_?` at r.yaml:2:8")
    ]
    assert [code for _, code, _ in found("version: 1\ntool: ['vt_*', '*']\nmax_chars: 9\n")] == []


_globs = st.text("ab*?", min_size=1, max_size=4).filter(lambda glob: set(glob) & set("*?"))


@given(_globs, _globs, st.text("ab", max_size=5))
@example("a*", "a?", "ab")
def test_a_shadowed_glob_is_never_used(first: str, second: str, name: str) -> None:
    if shadows(first, second) and fnmatch.fnmatchcase(name, second):
        rules = [
            compile_rules([("r.yaml", f"version: 1\ntool: '{glob}'\nmax_chars: 9\n")])[0] for glob in (second, first)
        ]
        chosen = rule_chooser([rule for ruleset in rules if ruleset is not None for rule in ruleset.rules])(name)
        assert chosen is not None
        assert chosen.tools == (first,)
