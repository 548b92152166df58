"""The rule for tools without a rule of their own loads, and cuts only what is large."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer
from reducer.histories.stored import returns
from reducer.rules import Ruleset, check_rules
from reducer.values import chars

FILE = Path(__file__).with_name("default_rule.yaml")
HISTORY = Path("reducer/samples/threat_intelligence.json")
SIZE = 15_000
LOG = "\n".join(f"10:{number % 60:02} job {number} took {number % 7} s" for number in range(3000))
WORDS = " ".join(f"word{number}" for number in range(3000))


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


def test_lists_are_not_cut_and_json_in_texts_is_shown_without_empty_keys(rules: Reducer) -> None:
    content = {"text": json.dumps([{"a": None}] * 900), "none": None}
    assert rules.reduce_content("any", content) == {"text": [{}] * 900, "none": None}


def test_of_lines_that_differ_only_in_numbers_three_stay(rules: Reducer) -> None:
    kept = rules.reduce_content("any", LOG)
    assert kept.splitlines() == LOG.splitlines()[:3]


def test_long_texts_are_cut_in_the_middle(rules: Reducer) -> None:
    kept = rules.reduce_content("any", WORDS)
    assert len(kept) <= 12_000 < len(WORDS)
    assert kept[:8200] == WORDS[:8200]
    assert kept[-3400:] == WORDS[-3400:]


@pytest.mark.parametrize(
    "content",
    [
        [f"https://c2.example.net/{number}/{'x' * 3000}" for number in range(30)],
        [f"192.0.2.{number} {'seen ' * 300}" for number in range(30)],
    ],
)
def test_what_is_restored_stays_small(rules: Reducer, content: Any) -> None:
    assert chars(rules.reduce_content("any", content)) <= SIZE
