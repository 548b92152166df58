"""What steps removed: edits that are read from the plan, and their descriptions."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from hypothesis import event, given
from rich.console import Console

from reducer.analysis.explanation import changes, explain, explain_outcome
from reducer.cli.views.diff import describe, print_effects, print_head, step_line
from reducer.engine import Edit, Outcome, attempt, reduce_content
from reducer.values import chars
from tests.helpers import rules
from tests.laws.strategies import cases, laws


def outcome(content: Any, *steps: dict[str, Any], **keys: Any) -> Outcome:
    return attempt(rules(steps=steps, **keys), "t", content)


def edits_of(found: Outcome, restored: bool = False) -> list[Edit]:
    """Return what was removed, or what was restored."""
    return [edit for edit in found.edits() if edit.is_restored is restored]


ROWS = [{"id": number, "ttl": 60} for number in range(20)]
KEYS = {f"k{number}": "x" for number in range(1, 10)}
HOSTS = {f"192.0.2.{n}": {"asn": 1, "raw": "x"} for n in range(12)}
ALONE = {"names": ["k0"], "strict": True}
EVEN = [{"n": n, "even": n % 2 == 0} for n in range(11)]


@pytest.mark.parametrize(
    ("content", "step", "expected"),
    [
        ([1, 2, 3, 4], {"limit": {"head": 1, "tail": 1}}, "[1..2]: 2 of 4 items, 4 characters"),
        ({"a": {"b": ["x", "y"]}}, {"path": "a.b", "limit": 1}, "a.b[1]: 1 of 2 items, 4 characters"),
        (EVEN[:9], {"drop": "[?!even]"}, "[*]: 4 of 9 items, 84 characters"),
        (EVEN, {"drop": "[?even]"}, "[*]: 6 of 11 items, 121 characters"),
        ({"rows": ROWS}, {"path": "rows", "keep": ["id"]}, "rows[*].ttl (20 times): 180 characters"),
        ({"a": KEYS}, {"path": "a", "keep": ALONE}, "a.* (9 times): 81 characters"),
        ([KEYS, KEYS], {"keep": ALONE}, "[*].* (18 times): 162 characters"),
        ({"by_ip": HOSTS}, {"path": "by_ip.*", "drop": "raw"}, "by_ip.*.raw (12 times): 120 characters"),
        ({"a": {"raw": "x" * 4809}}, {"path": "a.raw", "truncate": 390}, "a.raw: 4,809 -> 414 characters"),
        ({"links": {"self": "here"}, "n": 1}, {"drop": "links"}, "links: 13 characters, the key stays"),
        ({"a": [{"b": '{"c": [1, 2]}'}]}, {"path": "a[*].b.c", "limit": 1}, "a[0].b.c[1]: 1 of 2 items, 2 characters"),
        ({"a": '{"c": [1, 2]}'}, {"unwrap": True}, "a: 17 -> 11 characters"),
        ({"a": {"b": [7]}}, {"path": "a.b", "drop": "[?@ == `7`]"}, "a.b[0]: 1 of 1 item, 2 characters"),
        ({"a": [1]}, {"path": "a", "limit": 5}, None),
        ("text", {"path": "a", "limit": 5}, None),
    ],
)
def test_one_line_for_each_kind_of_place(content: Any, step: dict[str, Any], expected: str | None) -> None:
    lines = [describe(change) for change in changes(edits_of(outcome(content, step)))]
    assert lines == ([] if expected is None else [expected])


SCAN = {"day": datetime.date(2024, 5, 1), "cost": Decimal("1.5"), "pair": (1, float("nan")), "ports": {22}}
SHOWN = {
    "text": ("""{"day": "datetime.date(2024, 5, 1)", "cost": "Decimal('1.5')", …""", "\"Decimal('1.5')\""),
    "live": ("""{"day": "2024-05-01", "cost": "1.5", "pair": [1, null], "ports"…""", "1.5"),
}


@pytest.mark.parametrize("path", ["@", "rows"])
@pytest.mark.parametrize("kind", SHOWN)
def test_removed_values_that_are_no_json_are_shown(kind: str, path: str) -> None:
    rows: Any = repr([SCAN] * 3) if kind == "text" else [SCAN] * 3
    ruleset = rules(steps=[{"path": path, "limit": 1}, {"path": path, "drop": "cost"}])
    found = explain(ruleset, "t", rows if path == "@" else {"rows": rows})
    assert found.status == "reduced"
    assert tuple(step.changes[0].sample for step in found.steps) == SHOWN[kind]


def test_a_removed_value_without_a_json_form_is_shown_as_dots() -> None:
    found = explain(rules(steps=[{"limit": 1}]), "t", [1, object(), 10**5000])
    assert [change.sample for step in found.steps for change in step.changes] == ["…"]


def test_indices_are_those_of_the_return_as_it_arrived() -> None:
    rows = [{"n": number, "raw": "x"} for number in range(6)]
    steps = ({"drop": "[?n < `2`]"}, {"limit": 1}, {"drop": "raw"})
    assert edits_of(outcome({"rows": rows}, *({"path": "rows", **step} for step in steps))) == [
        Edit(1, "items", ("rows",), rows[:2], 36, 0, (0, 1), 6),
        Edit(2, "items", ("rows",), rows[3:], 54, 0, (3, 4, 5), 4),
        Edit(3, "key", ("rows", 2, "raw"), "x", 10, 0),
    ]


def test_what_an_earlier_step_cut_in_a_removed_item_counts_once() -> None:
    found = outcome({"a": [{"t": "word " * 40}]}, {"path": "a[*].t", "truncate": 100}, {"drop": "a"})
    emptied, cut = edits_of(found)
    left = emptied.value[0]["t"]
    assert left.endswith("more characters]")
    assert (emptied.step, emptied.kind, emptied.path, emptied.after) == (2, "emptied", ("a",), 2)
    assert (cut.step, cut.kind, cut.path, cut.before, cut.after) == (1, "cut", ("a", 0, "t"), 200, len(left))


def test_what_is_restored_names_the_step_that_removed_it() -> None:
    rows = [{"cve": f"CVE-2024-{number:05}", "raw": "x" * 40} for number in range(3)]
    content = {"rows": rows, "text": f"{'a word ' * 60}CVE-2023-11111", "link": {"ref": "CVE-2022-22222"}}
    steps = ({"path": "rows", "limit": 1}, {"path": "text", "truncate": 60}, {"drop": "link"})
    found = outcome(content, *steps, preserve=["cve"])
    restored = edits_of(found, restored=True)
    assert [(each.step, each.kind, each.path, each.indices, each.value) for each in restored] == [
        (1, "items", ("rows",), (1, 2), [{"cve": row["cve"]} for row in rows[1:]]),
        (2, "cut", ("text",), (), found.content["text"]),
        (3, "emptied", ("link",), (), {"ref": "CVE-2022-22222"}),
    ]
    lines = ["rows[1..2]: 2 items, 50 characters", "text: 80 -> 105 characters", "link: 2 -> 24 characters"]
    assert [describe(change) for change in changes(restored)] == lines


@laws
@given(cases)
def test_a_step_has_edits_if_and_only_if_it_changed_what_was_left(case: Any) -> None:
    _, ruleset, content = case
    found = attempt(ruleset, "t", content)
    by_step: dict[int, list[Edit]] = {}
    for edit in edits_of(found):
        by_step.setdefault(edit.step, []).append(edit)
        assert edit.before >= 0 <= edit.after
    before = found.left_after(0)
    for run in found.steps:
        left = found.left_after(run.number)
        edits = by_step.pop(run.number, [])
        is_unwrapped = any(edit.kind == "unwrapped" for edit in edits)
        event("changed" if left != before else "same")
        assert bool(edits) == (left != before or is_unwrapped)
        removed = sum(len(edit.indices) + (edit.kind == "key") for edit in edits)
        assert removed <= chars(before)
        before = left
    assert by_step == {}
    for change in (*changes(edits_of(found)), *changes(edits_of(found, restored=True))):
        assert describe(change)


@laws
@given(cases)
def test_figures_of_steps_are_consistent(case: Any) -> None:
    _, ruleset, content = case
    did = explain(ruleset, "t", content)
    event(f"steps: {len(did.steps)}")
    assert did.content == reduce_content(ruleset, "t", content)
    assert (did.status == "reduced") == (did.content is not content and not did.fault)
    assert sum(step.before - step.after for step in did.steps) <= (did.steps[0].before if did.steps else 0)
    for step in did.steps:
        assert 0 <= step.restored <= max(0, step.before - step.after)
        lines = [step_line(step), *map(describe, step.changes)]
        assert not any(re.search(r"-\d|\b1 (character|item|key|list|time)s", line) for line in lines), lines
        assert all(change.items <= change.total for change in step.changes if change.kind == "removed")


def test_a_result_that_was_refused_says_what_the_steps_would_remove() -> None:
    content = {"hosts": [{"ip": f"192.0.2.{number}"} for number in range(5)]}
    reduced = outcome(content, {"path": "hosts", "limit": 1, "mark": False})
    done = explain_outcome("t", content, reduced, detailed=True)
    assert [step_line(step, done.is_refused) for step in done.steps] == ["step 1, limit hosts: 76 fewer characters"]
    refused = replace(reduced, content=content, fault="a second pass would change the result")
    did = explain_outcome("t", content, refused, detailed=True)
    stream = StringIO()
    for show in (print_head, print_effects):
        show(did, Console(file=stream, width=120))
    printed = stream.getvalue()
    assert "unchanged: a second pass would change the result" in printed
    assert "step 1, limit hosts: would be 76 fewer characters" in printed
