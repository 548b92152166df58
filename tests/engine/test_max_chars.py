"""The ladder of `max_chars` beside steps: what they took stays away, what they prefer stays longest, and a second pass
changes nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reducer.analysis.drafting import draft_rule
from reducer.engine import Outcome, attempt, reduce_content
from reducer.rules import Ruleset, compile_rules
from reducer.values import chars

HOSTS = [
    {
        "name": f"h{n}",
        "seen": n % 37,
        "risk": "high" if n == 9 else "low",
        "ip": f"192.0.2.{n}",
        "raw": f"from 198.51.100.{n}",
    }
    for n in range(100)
]


def rules(**keys: Any) -> Ruleset:
    ruleset, problems = compile_rules([("r.yaml", json.dumps({"version": 1, "tool": "t", **keys}))])
    assert ruleset is not None, problems
    return ruleset


def reduced(ruleset: Ruleset, content: Any) -> Outcome:
    """Reduce a content, and find it a fixed point."""
    outcome = attempt(ruleset, "t", content)
    assert outcome.fault == ""
    assert reduce_content(ruleset, "t", outcome.content) is outcome.content
    return outcome


def test_what_keep_took_is_not_put_back_when_the_ladder_takes_the_item() -> None:
    steps = [{"path": "hosts", "keep": ["name", "seen", "ip"]}]
    left = reduced(rules(steps=steps, max_chars=2000), {"hosts": HOSTS}).content["hosts"]
    assert left[:3] == [{"name": f"h{n}", "seen": n, "ip": f"192.0.2.{n}"} for n in range(3)]
    # The ladder cuts blindly, so that every address stays that stood there when it did; `keep` named what it left out.
    assert left[3:] == [{"ip": f"192.0.2.{n}"} for n in range(3, 100)]


def test_what_keep_preserves_is_put_back_when_the_ladder_takes_the_item() -> None:
    steps = [{"path": "hosts", "keep": ["name", "seen", "ip"], "preserve": ["ipv4"]}]
    left = reduced(rules(steps=steps, max_chars=2000), {"hosts": HOSTS}).content["hosts"]
    assert left[3:] == [{"ip": f"192.0.2.{n}", "raw": f"from 198.51.100.{n}"} for n in range(3, 100)]


def test_what_was_taken_inside_an_item_is_owed_only_if_both_steps_owe_it() -> None:
    keep = {"path": "hosts", "keep": ["name", "ip"]}
    limit = {"path": "hosts", "limit": 1, "preserve": ["ipv4"]}
    item = HOSTS[1]
    for steps, second in (
        ([keep, limit], {"ip": item["ip"]}),
        ([limit, keep], {"ip": item["ip"], "raw": item["raw"]}),
        ([{**keep, "preserve": ["ipv4"]}, limit], {"ip": item["ip"], "raw": item["raw"]}),
        ([{**keep, "preserve": ["ipv4"]}, {**limit, "preserve": []}], None),
    ):
        left = reduced(rules(steps=steps), {"hosts": HOSTS[:2]}).content["hosts"]
        assert left[1:] == ([] if second is None else [second])


def test_what_was_taken_inside_lists_and_lists_of_an_item_is_not_put_back() -> None:
    content = {"hosts": [{"name": "a"}, {"seen": [{"ip": f"192.0.2.{n}", "raw": f"198.51.100.{n}"} for n in range(4)]}]}
    steps = [
        {"path": "hosts[*].seen", "limit": 2},
        {"path": "hosts[*].seen", "keep": ["ip"]},
        {"path": "hosts", "limit": 1, "preserve": ["ipv4"]},
    ]
    assert reduced(rules(steps=steps), content).content["hosts"][1] == {
        "seen": [{"ip": "192.0.2.0"}, {"ip": "192.0.2.1"}]
    }


@pytest.mark.parametrize("preserve", [[], ["ipv4"]])
def test_the_ladder_keeps_the_best_items_of_a_list_that_a_step_orders(preserve: list[str]) -> None:
    steps = [{"path": "hosts", "limit": 20, "sort_by": "seen"}]
    left = reduced(rules(steps=steps, max_chars=900, preserve=preserve), {"hosts": HOSTS}).content["hosts"]
    full = [host["name"] for host in left if "name" in host]
    best = sorted(HOSTS, key=lambda host: -int(str(host["seen"])))[: len(full)]
    assert 3 <= len(full) < 20
    assert sorted(full) == sorted(str(host["name"]) for host in best)


def test_the_ladder_keeps_what_is_always_kept_longest() -> None:
    steps = [{"path": "hosts", "limit": 20, "always_keep": "risk == 'high'"}]
    ordered = [{**HOSTS[n], "risk": "high" if n == 77 else "low"} for n in range(100)]
    left = reduced(rules(steps=steps, max_chars=300, preserve=[]), {"hosts": ordered}).content["hosts"]
    assert [host["name"] for host in left] == ["h0", "h1", "h77"]


def test_a_list_that_no_step_orders_keeps_its_first_items() -> None:
    steps = [{"path": "hosts", "limit": {"head": 10, "tail": 10}}]
    left = reduced(rules(steps=steps, max_chars=300, preserve=[]), {"hosts": HOSTS}).content["hosts"]
    assert [host["name"] for host in left] == ["h0", "h1", "h2"]


def test_a_key_that_is_put_back_for_its_name_keeps_a_short_text() -> None:
    # Without its text `compact` would take the key in a second pass.
    content = {"rows": [{"n": n, "labels": {f"h{n}.example.com": "yes", "none": ""}} for n in range(40)]}
    left = reduced(rules(steps=[{"compact": True}], max_chars=500), content).content["rows"]
    assert left[:3] == [{"n": n, "labels": {f"h{n}.example.com": "yes"}} for n in range(3)]
    assert left[3:] == [{"labels": {f"h{n}.example.com": "yes"}} for n in range(3, 40)]


def test_what_unwrap_took_out_of_a_text_is_put_back_without_its_quotes() -> None:
    content = [
        {"n": n, "raw": json.dumps({"ip": f"192.0.2.{n}", "note": None if n % 2 else "of no use " * 9})}
        for n in range(40)
    ]
    left = reduced(rules(steps=[{"unwrap": True}, {"compact": True}], max_chars=800), content).content
    assert left[3:] == [{"raw": {"ip": f"192.0.2.{n}"}} for n in range(3, 40)]


@pytest.mark.parametrize("limit", [{"limit": 60, "sort_by": "risk"}, {"limit": 60}])
def test_no_edge_dangles_when_the_ladder_takes_nodes(limit: dict[str, Any]) -> None:
    graph = {
        "nodes": [{"id": n, "label": f"host {n}", "risk": n} for n in range(80)],
        "edges": [{"source": n, "target": (n * 7 + 3) % 80, "relation": "talks to"} for n in range(80)] * 2,
    }
    steps = [
        {"path": "nodes", **limit},
        {"path": "edges", "drop_dangling": {"source": "nodes[*].id", "target": "nodes[*].id"}},
    ]
    left = reduced(rules(steps=steps, max_chars=1500), graph).content
    ids = {node["id"] for node in left["nodes"]}
    assert len(ids) == 25
    assert left["edges"] != []
    assert all({edge["source"], edge["target"]} <= ids for edge in left["edges"])


SOME = (
    "asff__scan_many_vulns",
    "coreiocs__file_iocs",
    "kubescape__scan_many_findings",
    "spycloud__breach_records_api_response",
    "stix__bundle_apt1",
)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("preserve", ["", "preserve: [ioc, cve, threat_actor]\n"], ids=["by default", "preserve"])
def test_drafted_rules_with_a_target_are_fixed_points(name: str, preserve: str, data: Path) -> None:
    content = json.loads((data / "tool_outputs" / f"{name}.json").read_bytes())
    proposal = draft_rule("t", [content], "an answer", "t")
    assert proposal is not None
    text = proposal.draft.text
    steps = text[text.index("\nsteps:") : text.index("\ntests:")]
    ruleset, problems = compile_rules(
        [("r.yaml", f"version: 1\ntool: t\n{steps}\n{preserve}max_chars: {chars(content) // 12}\n")]
    )
    assert ruleset is not None, problems
    outcome = reduced(ruleset, content)
    assert chars(outcome.content) < 0.6 * chars(content)
