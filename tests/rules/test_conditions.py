"""Conditions with a name: written once, used by the rules of a folder."""

from __future__ import annotations

import pytest

from reducer.engine import reduce_content
from reducer.rules import compile_rules

SHARED = "version: 1\nconditions:\n  critical: severity == 'critical' || score >= `90`\n"
RULE = "version: 1\ntool: t\nsteps:\n  - limit: 1\n    always_keep: critical\n"
ROWS = [{"severity": "low"}, {"severity": "low", "critical": True}, {"severity": "critical"}, {"score": 95}]


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        ((SHARED, RULE), [0, 2, 3]),
        ((RULE, SHARED), [0, 2, 3]),
        ((RULE + SHARED.removeprefix("version: 1\n"),), [0, 2, 3]),
        ((RULE,), [0, 1]),
    ],
    ids=["of an earlier file", "of a later file", "of the same file", "a key"],
)
def test_a_condition_of_any_file_is_used_by_its_name(texts: tuple[str, ...], kept: list[int]) -> None:
    ruleset, problems = compile_rules((f"{number}.yaml", text) for number, text in enumerate(texts))
    assert ruleset is not None
    assert problems == ()
    assert reduce_content(ruleset, "t", ROWS) == [ROWS[index] for index in kept]
