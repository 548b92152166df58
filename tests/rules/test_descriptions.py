"""What a rule does in plain words, generated from its steps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from reducer.operations import operations
from reducer.rules import Rule, compile_rules, descriptions
from reducer.rules.choose import matches, rule_chooser
from reducer.rules.instructions import grouped
from tests.helpers import BY_FILE
from tests.laws.strategies import cases


def compiled(*steps: dict[str, Any], **more: Any) -> Rule:
    ruleset, problems = compile_rules(
        [("r.yaml", json.dumps({"version": 1, "tool": "t", "steps": list(steps), **more}))]
    )
    assert ruleset is not None, problems
    return ruleset.rules[0]


def said(*steps: dict[str, Any], **more: Any) -> list[str]:
    return [one.text for one in descriptions(compiled(*steps, **more))]


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (
            {"path": "resolutions", "limit": 20, "sort_by": "last_seen"},
            "keeps the 20 newest `resolutions` by `last_seen`",
        ),
        ({"path": "a.list", "limit": 3}, "keeps the first 3 items of `a.list`"),
        ({"limit": {"head": 3, "tail": 2}}, "keeps the first 3 and last 2 items of the answer"),
        (
            {"path": "r", "limit": {"head": 1, "tail": 2}, "sort_by": "score", "order": "asc"},
            "keeps the 1 lowest and 2 highest items of `r` by `score`",
        ),
        (
            {"path": "r", "limit": 2, "always_keep": "risk == 'high'"},
            "keeps the first 2 items of `r`, and all with `risk == 'high'`",
        ),
        ({"path": "a", "keep": ["b", "c.d"]}, "keeps of `a` only `b` and `c.d`"),
        ({"path": "a", "drop": ["b", "c", "e[?f]"]}, "takes `b`, `c` and `e[?f]` out of `a`"),
        ({"path": "hosts", "dedupe": "ip"}, "keeps of the `hosts` the first with each `ip`"),
        ({"path": "hosts", "dedupe": True}, "keeps the first of equal `hosts`"),
        (
            {"path": "edges", "drop_dangling": {"a": "n[*].id"}},
            "takes the `edges` out whose `a` is not among `n[*].id`",
        ),
        ({"compact": True}, "leaves out of the answer the keys that hold null, an empty text, list or object"),
        ({"path": "a", "unwrap": True}, "turns every text in `a` that holds JSON into what it says"),
        (
            {"path": "a", "drop": "b", "when": {"min_chars": 3000, "where": "c"}},
            "takes `b` out of `a`, if it has 3,000 characters or more and `c` holds for it",
        ),
    ],
)
def test_what_a_step_does(step: dict[str, Any], text: str) -> None:
    assert said(step) == [text]


def test_a_list_and_its_keys_are_one_sentence() -> None:
    limit, keep = (
        {"path": "resolutions", "limit": 20, "sort_by": "last_seen"},
        {"path": "resolutions", "keep": ["hostname", "address"]},
    )
    assert said(limit, {**keep, "keep": ["hostname", "address", "last_seen"]}) == [
        "keeps the 20 newest `resolutions` by `last_seen`, each with `hostname`, `address` and `last_seen`"
    ]
    assert len(said({**keep, "keep": ["last_seen"]}, limit)) == 2
    assert len(said(limit, {**keep, "path": "others"})) == 2
    assert len(said({"path": "a", "limit": 2}, {"path": "a", "keep": ["b"], "when": {"min_chars": 9}})) == 2


def test_what_goes_for_the_whole_rule() -> None:
    assert said(
        {"path": "note", "truncate": 400},
        when={"min_chars": 2000},
        max_chars=12000,
        keys="all",
        preserve={"cve": 9, "ip": 50},
    ) == [
        "changes an answer only if it has 2,000 characters or more",
        "cuts every text in `note` to its first 400 characters; a mark says how many more there were",
        "cuts lists and texts evenly where more than 12,000 characters are left",
        "keeps every key of every object: a removed value becomes empty",
        "preserves these entities: ip and cve",
        "preserves at most 9 values of cve",
        "preserves at most 50 values of ip",
    ]
    assert (
        said({"drop": "a"}, {"path": "b", "truncate": 3})[-1]
        == "preserves these entities in line 1: ioc, cve, mitre_attack and threat_actor"
    )


def test_every_operation_says_what_each_example_does() -> None:
    sayings = {}
    for verb, op in operations().items():
        for example in op.examples:
            (text, *_) = said(example.step)
            assert text[0].islower()
            assert not text.endswith(".")
            assert ("`" + example.step["path"]) in text if "path" in example.step else "the answer" in text
            sayings[verb, text] = None
    assert len({text.split()[0] for _, text in sayings}) > 3


@given(cases)
def test_any_rule_has_words(case: Any) -> None:
    for rule in case[1].rules:
        words = descriptions(rule)
        assert words
        assert all(one.text for one in words)


def test_shipped_rules_have_words() -> None:
    for rule in BY_FILE.values():
        lines = [one.line for one in descriptions(rule) if one.line]
        assert lines == sorted(lines)
        assert lines[0] == rule.steps[0].location.line


def test_types_of_a_whole_group_are_named_by_it() -> None:
    assert grouped({"ipv4", "ipv6", "cve", "ticket"}) == ["ip", "cve", "ticket"]
    assert grouped({"ipv4"}) == ["ipv4"]


def test_the_first_match_is_the_rule_that_counts() -> None:
    names = ["get_host", "get_*", "*_host", "*", "get_h*", "g?t_host", "[g]et_host"]
    ruleset, _ = compile_rules(
        (f"{number}.yaml", json.dumps({"version": 1, "tool": name, "max_chars": 9}))
        for number, name in enumerate(names)
    )
    assert ruleset is not None
    left = list(ruleset.rules)
    order = []
    while left:
        chosen = rule_chooser(left)("get_host")
        assert chosen is matches(left, "get_host")[0].rule
        order.append(chosen.name)
        left.remove(chosen)
    assert [match.name for match in matches(ruleset.rules, "get_host")] == order
    assert [match.name for match in matches(ruleset.rules, "xyz")] == ["*"]
