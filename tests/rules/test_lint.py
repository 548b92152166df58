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
