"""Rules that people write and whose steps conflict still reduce a return (law 5)."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from reducer.analysis.counterexamples import counterexample
from reducer.engine import attempt
from tests.helpers import fixed_point, rules

WORDS = ("the", "traffic", "was", "seen", "again", "last", "week", "near", "port", "file", "host", "login", "mail")


def _note(random: Random) -> str:
    words = random.choices(WORDS, k=random.randint(2, 40))
    if random.random() < 0.5:
        words.insert(random.randrange(len(words)), random.choice(("night", "APT28", "192.0.2.7")))
    return " ".join(words)


def _item(random: Random, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "risk": random.choice(("high", "low", "medium")),
        "note": _note(random),
        "tags": random.choices(WORDS, k=random.randint(0, 6)),
        "owner": random.choice((None, {"name": "x", "mail": random.choice(("", None, "a@evil.org"))}, {"team": ""})),
        "meta": {"raw": "raw", "extra": random.choice((None, "", [], "more"))},
    }


def _content(random: Random) -> dict[str, Any]:
    size = random.randint(6, 30)
    nodes = [{"id": number, "risk": random.randint(0, 9)} for number in range(size)]
    ends = [random.choices(range(size), k=2) for _ in range(2 * size)]
    edges = [{"source": source, "target": target} for source, target in ends]
    return {"items": [_item(random, number) for number in range(size)], "nodes": nodes, "edges": edges}


DANGLING = {"source": "nodes[*].id", "target": "nodes[*].id"}
CONFLICTING = [
    [{"path": "items", "keep": "[?contains(note, 'night')]"}, {"path": "items[*].note", "truncate": 80}],
    [{"path": "items", "drop": "[?!contains(note, 'night')]"}, {"path": "items[*].note", "truncate": 40}],
    [
        {"path": "items", "limit": 3, "always_keep": "contains(note, 'APT28')"},
        {"path": "items[*].note", "truncate": 80},
    ],
    [{"path": "items", "keep": "[?length(tags) > `2`]"}, {"path": "items[*].tags", "limit": 2}],
    [{"path": "items", "keep": "[?risk == 'high']"}, {"path": "items", "drop": ["risk"]}],
    [
        {"path": "nodes", "limit": 5, "sort_by": "risk"},
        {"path": "edges", "drop_dangling": DANGLING},
        {"path": "nodes", "drop": ["id"]},
    ],
]
HARMLESS = [
    [{"compact": True}, {"path": "items[*].owner", "extract": ["ip"]}],
    [{"compact": True}, {"path": "items[*].meta", "drop": ["raw", "extra"]}],
    [{"compact": True}, {"path": "items[*].owner", "keep": ["phone"]}],
    [{"path": "items", "limit": {"head": 3, "tail": 2}, "sort_by": "risk"}, {"path": "items", "drop": ["risk"]}],
    [{"compact": True}, {"path": "items", "drop": "[?!owner]"}, {"path": "items[*].owner", "drop": ["mail"]}],
]


@pytest.mark.parametrize("steps", CONFLICTING + HARMLESS, ids=json.dumps)
def test_rules_with_conflicts_reduce_nearly_every_return(steps: list[dict[str, Any]]) -> None:
    ruleset, random = rules(steps=steps), Random(0)
    raw = 0
    for _ in range(50):
        content = _content(random)
        outcome = attempt(ruleset, "t", content)
        raw += outcome.content is content
        assert attempt(ruleset, "t", outcome.content).content == outcome.content
        assert bool(outcome.fault) == (outcome.unstable is not None)
    assert raw <= 1


@pytest.mark.parametrize("steps", CONFLICTING, ids=json.dumps)
def test_check_finds_conflicts_without_a_sample(steps: list[dict[str, Any]]) -> None:
    assert counterexample(rules(steps=steps).rules[0]) is not None


@pytest.mark.parametrize("steps", HARMLESS[:4], ids=json.dumps)
def test_what_a_later_step_empties_is_empty_for_compact_in_the_first_pass(steps: list[dict[str, Any]]) -> None:
    ruleset, random = rules(steps=steps), Random(0)
    assert counterexample(ruleset.rules[0]) is None
    for _ in range(20):
        fixed_point(ruleset, _content(random))


NIGHT = {"items": [{"note": "a word " * 20 + "at night"}, {"note": "a word " * 20}, {"note": "night"}], "raw": "x" * 90}
BLAME = "a second pass would change the result: `keep items` is to blame"
KEEP, CUT = CONFLICTING[0]


def test_the_longest_stable_prefix_of_steps_is_applied_and_named() -> None:
    outcome = attempt(rules(steps=[KEEP, {"drop": ["raw"]}, CUT]), "t", NIGHT)
    assert outcome.content == {"items": [NIGHT["items"][0], NIGHT["items"][2], "…[1 more items]"], "raw": ""}
    assert outcome.fault == f"{BLAME}; only steps 1 to 2 were applied"
    assert [(run.number, run.ran) for run in outcome.steps] == [(1, True), (2, True), (3, False)]
    first = attempt(rules(steps=[KEEP, CUT, {"drop": ["raw"]}]), "t", NIGHT)
    assert first.content == {"items": [NIGHT["items"][0], NIGHT["items"][2], "…[1 more items]"], "raw": "x" * 90}
    assert first.fault == f"{BLAME}; only step 1 was applied"


SIMILAR = {"items": [{"text": "the same beginning " * 5 + f"of {letter * 60} " * 15} for letter in "abc"]}
DEDUPE = {"path": "items", "dedupe": "text"}
CUTS = [{"path": "items[*].text", "truncate": size} for size in range(80, 70, -1)]
SAME = "a second pass would change the result: `dedupe items` is to blame"


def test_max_chars_applies_alone_if_none_of_eight_prefixes_is_stable() -> None:
    outcome = attempt(rules(steps=[DEDUPE, *CUTS], max_chars=900), "t", SIMILAR)
    assert outcome.fault == f"{SAME}; only `max_chars` was applied"
    assert [run.number for run in outcome.steps if run.ran] == [12]
    assert len(outcome.content["items"]) == 3
    assert attempt(rules(steps=[DEDUPE, *CUTS], max_chars=900), "t", outcome.content).content == outcome.content
    alone = attempt(rules(steps=[DEDUPE, *CUTS]), "t", SIMILAR)
    assert alone.content is SIMILAR
    assert alone.fault == SAME


def test_max_chars_limits_what_a_prefix_leaves() -> None:
    content = SIMILAR | {"log": "a word " * 200}
    outcome = attempt(rules(steps=[DEDUPE, {"truncate": 80}], max_chars=1500), "t", content)
    assert outcome.fault == f"{SAME}; only step 1 was applied"
    assert [(run.number, run.ran, run.changed) for run in outcome.steps] == [
        (1, True, False),
        (2, False, False),
        (3, True, True),
    ]


def test_a_prefix_that_removes_nothing_leaves_the_return_unchanged() -> None:
    content = {"items": [NIGHT["items"][0]]}
    outcome = attempt(rules(steps=[KEEP, CUT]), "t", content)
    assert outcome.content is content
    assert outcome.fault == BLAME
