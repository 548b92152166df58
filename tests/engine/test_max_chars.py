"""`max_chars` after steps: it keeps the items that steps prefer, and does not restore what they removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from reducer.analysis.drafting import draft_rule
from reducer.engine import reduce_content
from reducer.values import chars
from tests.helpers import fixed_point, rules

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


KEEP = {"path": "hosts", "keep": ["name", "ip"]}
LIMIT = {"path": "hosts", "limit": 1, "preserve": ["ipv4"]}
ALL_IPS = [{"ip": host["ip"]} for host in HOSTS]
ALL_OF = [{"ip": host["ip"], "raw": host["raw"]} for host in HOSTS]
SEEN = [{"name": "a"}, {"seen": [{"ip": f"192.0.2.{n}", "raw": f"198.51.100.{n}"} for n in range(4)]}]


@pytest.mark.parametrize(
    ("rule", "hosts", "restored"),
    [
        # `keep` named what it removed.
        ({"steps": [KEEP | {"preserve": []}], "preserve": ["ipv4"], "max_chars": 2000}, HOSTS, ALL_IPS),
        ({"steps": [{**KEEP, "preserve": ["ipv4"]}], "max_chars": 2000}, HOSTS, ALL_OF),
        # What two steps removed is restored only if both preserve it.
        ({"steps": [KEEP, LIMIT]}, HOSTS[:2], [None, {"ip": HOSTS[1]["ip"]}]),
        ({"steps": [LIMIT, KEEP]}, HOSTS[:2], ALL_OF[:2]),
        ({"steps": [{**KEEP, "preserve": ["ipv4"]}, LIMIT]}, HOSTS[:2], ALL_OF[:2]),
        ({"steps": [{**KEEP, "preserve": ["ipv4"]}, {**LIMIT, "preserve": []}]}, HOSTS[:2], [None]),
        (
            {"steps": [{"path": "hosts[*].seen", "limit": 2}, {"path": "hosts[*].seen", "keep": ["ip"]}, LIMIT]},
            SEEN,
            [None, {"seen": [{"ip": "192.0.2.0"}, {"ip": "192.0.2.1"}]}],
        ),
    ],
)
def test_what_a_step_removed_is_restored_only_if_the_step_preserves_it(
    rule: dict[str, Any], hosts: list[Any], restored: list[Any]
) -> None:
    left = fixed_point(rules(**rule), {"hosts": hosts}).content["hosts"]
    left = [host for host in left if isinstance(host, dict)]
    whole = sum("name" in host for host in left)
    assert left[:whole] == [{key: host[key] for key in left[0]} for host in hosts[:whole]]
    assert left[whole:] == restored[whole:]


@pytest.mark.parametrize("preserve", [[], ["ipv4"]])
def test_max_chars_keeps_the_best_items_of_a_list_that_a_step_orders(preserve: list[str]) -> None:
    steps = [{"path": "hosts", "limit": 20, "sort_by": "seen"}]
    left = fixed_point(rules(steps=steps, max_chars=900, preserve=preserve), {"hosts": HOSTS}).content["hosts"]
    full = [host["name"] for host in left if isinstance(host, dict) and "name" in host]
    best = sorted(HOSTS, key=lambda host: -int(str(host["seen"])))[: len(full)]
    assert 3 <= len(full) < 20
    assert sorted(full) == sorted(str(host["name"]) for host in best)


@pytest.mark.parametrize(
    ("step", "names"),
    [
        ({"limit": 20, "always_keep": "risk == 'high'"}, ["h0", "h1", "h77"]),
        ({"limit": {"head": 10, "tail": 10}}, ["h0", "h1", "h2"]),
    ],
)
def test_max_chars_keeps_what_is_always_kept_or_else_the_first_items(step: dict[str, Any], names: list[str]) -> None:
    hosts = [{**host, "risk": "high" if host["name"] == "h77" else "low"} for host in HOSTS]
    ruleset = rules(steps=[{"path": "hosts", **step}], max_chars=300, preserve=[])
    *left, marker = fixed_point(ruleset, {"hosts": hosts}).content["hosts"]
    assert [host["name"] for host in left] == names
    assert marker == "…[97 more items]"


@pytest.mark.parametrize("most", [2_000, 8_000, 12_000, 20_000])
@pytest.mark.parametrize(
    "content",
    [
        "the traffic was seen again last night " * 600,
        [*range(10_000)],
        [{"id": n, "note": "seen again last night " * 9} for n in range(300)],
        {"a": [{"rows": [{"n": n, "text": "word " * 40} for n in range(40)]}] * 4},
        {"articles": ["word " * 900] * 12, "ids": [*range(900)]},
    ],
    ids=["text", "numbers", "objects", "lists in lists", "articles"],
)
def test_max_chars_uses_most_of_the_target(content: Any, most: int) -> None:
    assert 0.8 * most <= chars(fixed_point(rules(max_chars=most), content).content) <= most


def test_max_chars_keeps_whole_items_from_both_ends() -> None:
    rows = [{"id": n, "note": "seen again last night"} for n in range(1000)]
    *left, marker = fixed_point(rules(max_chars=5000), rows).content
    head = next(n for n, row in enumerate(left) if row["id"] != n)
    assert left == [*rows[:head], *rows[head - len(left) :]]
    assert len(left) - head == len(left) * 3 // 10
    assert marker == f"…[{1000 - len(left)} more items]"


ADDRESSES = [{"n": n, "note": "seen again last night", "url": f"https://example.com/{n}"} for n in range(500)]


def test_entities_count_within_the_target_unless_the_author_preserves_them() -> None:
    outcome = fixed_point(rules(max_chars=6000), ADDRESSES)
    assert 4800 <= chars(outcome.content) <= 6000
    assert len(outcome.restored.lost) > 300
    text = "seen again last night " * 500 + " ".join(row["url"] for row in ADDRESSES)
    cut = fixed_point(rules(max_chars=6000), text)
    assert 5900 <= chars(cut.content) <= 6000
    assert "; mentions https://example.com/0, https://example.com/1, " in cut.content
    named = fixed_point(rules(max_chars=6000, preserve=["url"]), ADDRESSES).content
    assert [row["url"] for row in named if isinstance(row, dict)] == [row["url"] for row in ADDRESSES]


def test_a_target_that_cannot_be_reached_gets_the_last_level() -> None:
    content = {f"key {n}": ["word " * 90] * 9 for n in range(200)}
    small, smaller = (fixed_point(rules(max_chars=most), content).content for most in (20_000, 1_000))
    assert small == smaller
    assert [len(items) for items in small.values()] == [4] * 200


def test_a_key_that_is_restored_for_its_name_keeps_a_short_text() -> None:
    # Without its text `compact` would remove the key in a second pass.
    content = {"rows": [{"n": n, "labels": {f"h{n}.example.com": "yes", "none": ""}} for n in range(40)]}
    ruleset = rules(steps=[{"compact": True}], max_chars=500, mark=False, preserve=["domain"])
    left = fixed_point(ruleset, content).content["rows"]
    assert left[:3] == [{"n": n, "labels": {f"h{n}.example.com": "yes"}} for n in range(3)]
    assert left[3:] == [{"labels": {f"h{n}.example.com": "yes"}} for n in range(3, 40)]


def test_what_unwrap_replaced_is_restored_without_its_quotes() -> None:
    content = [
        {"n": n, "raw": json.dumps({"ip": f"192.0.2.{n}", "note": None if n % 2 else "of no use " * 9})}
        for n in range(40)
    ]
    steps = [{"unwrap": True}, {"compact": True}]
    left = fixed_point(rules(steps=steps, max_chars=800, mark=False, preserve=["ipv4"]), content).content
    assert left[3:] == [{"raw": {"ip": f"192.0.2.{n}"}} for n in range(3, 40)]


@pytest.mark.parametrize("limit", [{"limit": 60, "sort_by": "risk"}, {"limit": 60}])
def test_no_edge_dangles_when_max_chars_removes_nodes(limit: dict[str, Any]) -> None:
    graph = {
        "nodes": [{"id": n, "label": f"host {n}", "risk": n} for n in range(80)],
        "edges": [{"source": n, "target": (n * 7 + 3) % 80, "relation": "talks to"} for n in range(80)] * 2,
    }
    steps = [
        {"path": "nodes", **limit},
        {"path": "edges", "drop_dangling": {"source": "nodes[*].id", "target": "nodes[*].id"}},
    ]
    left = fixed_point(rules(steps=steps, max_chars=1500, mark=False), graph).content
    ids = {node["id"] for node in left["nodes"]}
    assert 20 < len(ids) < 40
    assert left["edges"] != []
    assert all({edge["source"], edge["target"]} <= ids for edge in left["edges"])


SOME = (
    "asff__scan_many_vulns",
    "coreiocs__file_iocs",
    "kubescape__scan_many_findings",
    "spycloud__breach_records_api_response",
    "stix__bundle_apt1",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("preserve", [{}, {"preserve": ["ioc", "cve", "threat_actor"]}], ids=["by default", "preserve"])
def test_drafted_rules_with_a_target_are_fixed_points(name: str, preserve: dict[str, Any], data: Path) -> None:
    content = json.loads((data / "tool_outputs" / f"{name}.json").read_bytes())
    drafted = draft_rule("t", [content], "an answer", "t")
    assert drafted is not None
    draft, trial = drafted
    steps = yaml.safe_load(draft.text)["steps"]
    ruleset = rules(steps=steps, max_chars=chars(content) // 12, **preserve)
    # With entities of several steps to restore, a result may be that of a fallback.
    left = reduce_content(ruleset, "t", content)
    assert reduce_content(ruleset, "t", left) == left
    assert chars(left) <= trial.after
