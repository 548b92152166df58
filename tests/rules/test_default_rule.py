"""The rule for tools without a rule of their own loads, and cuts only what is large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer
from reducer.histories.stored import returns
from reducer.rules import Ruleset, check_rules
from reducer.values import chars
from tests.helpers import RULES

FILE = RULES / "general" / "any_tool.yaml"
HISTORY = Path("reducer/samples/threat_intelligence.json")
SIZE = 15_000


@pytest.fixture(scope="module")
def rules() -> Reducer:
    return Reducer.load(FILE)


def test_it_loads_without_warnings() -> None:
    ruleset, problems = check_rules(FILE)
    assert isinstance(ruleset, Ruleset)
    assert problems == ()


def test_a_recorded_history_is_reduced_to_its_size_and_only_once(rules: Reducer) -> None:
    stored = HISTORY.read_bytes()
    reduced = rules.reduce_json(stored)
    before, after = ([chars(found.content) for found in returns(each)] for each in (stored, reduced))
    assert max(before) > 2 * SIZE
    assert max(after) <= SIZE
    assert [size for size in after if size < 1000] == [size for size in before if size < 1000]
    assert rules.reduce_json(reduced) == reduced


@pytest.mark.parametrize(
    "content",
    [
        [f"https://c2.example.net/{number}/{'x' * 3000}" for number in range(30)],
        [f"192.0.2.{number} {'seen ' * 300}" for number in range(30)],
    ],
)
def test_what_is_restored_stays_small(rules: Reducer, content: Any) -> None:
    assert chars(rules.reduce_content("any", content)) <= SIZE
