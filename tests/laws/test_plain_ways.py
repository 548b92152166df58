"""What plain values allow to be done faster gives what is done without: the same results, entities put back and places of faults."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest.mock import PropertyMock, patch

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from reducer.engine import Outcome, attempt, reduce_content, removed
from reducer.engine.draft import Draft
from reducer.rule import Ruleset
from tests.benchmarks.real import cut_down
from tests.laws import checks
from tests.laws.strategies import ENTITIES, cases, compiled

ROW = st.dictionaries(
    st.sampled_from(("a", "b", "c", "kind", "evil.com")),
    st.recursive(
        st.one_of(
            st.sampled_from((*ENTITIES, "image-url", "binary", "", "x " * 40 + ENTITIES[0], f"{ENTITIES[0]} and {ENTITIES[1]}")), st.integers(), st.none()
        ),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(("kind", "d")), inner, max_size=2)),
        max_leaves=4,
    ),
    max_size=4,
)
RULES = [
    {"steps": [{"path": "rows", "limit": 2}], "preserve": ["ioc", "cve"]},
    {"steps": [{"path": "rows", "limit": 3}, {"path": "rows", "limit": 1, "preserve": ["ipv4"]}, {"path": "rows", "keep": ["a"]}], "preserve": ["ioc"]},
    {"steps": [{"path": "rows", "drop": ["b", "c"]}], "preserve": ["ioc"]},
    {"steps": [{"path": "rows", "keep": ["d"]}], "preserve": ["ioc"], "keys": "all"},
]


def ruled(rule: dict[str, Any]) -> Ruleset:
    ruleset = compiled({"version": 1, "tool": "t", **rule})
    assert ruleset is not None
    return ruleset


def plainly(ruleset: Ruleset, content: Any) -> Outcome:
    """Reduce a content without what plain values, and steps that owe the same, allow: the second pass, too, settles what it owes."""
    never = PropertyMock(return_value=False)
    with patch.object(removed, "_SEVERAL", 1 << 30), patch.object(Draft, "is_plain", never), patch.object(Draft, "alike", never):
        return attempt(ruleset, "t", content)


def check(ruleset: Ruleset, content: Any) -> int:
    """Assert that both ways give the same; give how many entities were put back or are mentioned."""
    ours, slow = attempt(ruleset, "t", content), plainly(ruleset, content)
    assert checks.as_bytes(ours.content) == checks.as_bytes(slow.content)
    assert (ours.fault, ours.lost, ours.preserved) == (slow.fault, slow.lost, slow.preserved)
    return ours.preserved


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large])
@given(cases)
def test_generated_rules(case: Any) -> None:
    _, ruleset, content = case
    event(f"{min(check(ruleset, content), 3)} entities put back")


@given(st.sampled_from(RULES), st.lists(ROW, max_size=12))
@example(RULES[0], [{}] * 3 + [{"a": "1.2.3.4", "evil.com": 1}] * 4)
@example(RULES[0], [{}] * 3 + [{"a": "1.2.3.4", "b": {"kind": "image-url", "url": "x"}}, {"a": ["5.6.7.8", {"kind": "binary"}], "b": "9"}])
@example(RULES[0], [{}] * 3 + [{"a": "1.2.3.4"}, {"kind": "image-url", "a": "5.6.7.8"}, {"b": 1}, {"a": "1.2.3.4"}])
@example(RULES[0], [{}] * 3 + [{1: "1.2.3.4"}, {2: "5.6.7.8"}, {"b": (1, "9.9.9.9")}, {"b": [("8.8.4.4",)]}])
def test_rows(rule: dict[str, Any], rows: list[Any]) -> None:
    event(f"{min(check(ruled(rule), {'rows': rows}), 3)} entities put back")


def test_real_returns(data: Path) -> None:
    several = [*cut_down(data)][::3]
    assert len(several) > 20
    assert sum(check(ruleset, content) for _, ruleset, content in several) > 100


def test_a_second_pass_over_real_returns_settles_nothing_where_the_steps_leave_the_same(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = sys.modules["reducer.engine.run"]
    calls, settle = [], run.settle
    monkeypatch.setattr(run, "settle", lambda *given: calls.append(given) or settle(*given))
    several = [*cut_down(data)]
    changed = sum(reduce_content(ruleset, "t", content) is not content for _, ruleset, content in several)
    assert changed > 80
    assert len(several) <= len(calls) < len(several) + changed // 10


@pytest.mark.parametrize(
    ("steps", "content"),
    [
        # A key holds what is owed: its value may be thinned for its own sake or for the key's.
        ([{"path": "rows", "limit": 1}], {"rows": [{"a": 1}, {"evil.com": {"b": "nothing"}}, {"b": "1.2.3.4 and evil.com"}]}),
        # A list of texts has a mark at its end.
        ([{"path": "rows", "limit": 1}], {"rows": ["nothing", "1.2.3.4", "x" * 300 + " evil.com"]}),
        # A cut text has one.
        ([{"path": "rows[*].a", "truncate": 20}], {"rows": [{"a": "nothing " * 9 + "evil.com"}, {"a": "b"}]}),
        # What decides is put back in part.
        ([{"path": "rows", "drop": "[?length(a) > `1`]"}], {"rows": [{"a": ["1.2.3.4", "5.6.7.8"]}, {"a": ["9.9.9.9", "nothing", "none"]}, {"a": []}]}),
    ],
)
def test_what_the_steps_leave_does_not_tell_all(steps: list[Any], content: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run = sys.modules["reducer.engine.run"]
    told, is_repeated = [], run._is_repeated
    monkeypatch.setattr(run, "_is_repeated", lambda *given: told.append(is_repeated(*given)) or told[-1])
    assert attempt(ruled({"steps": steps, "preserve": ["ioc"]}), "t", content).content is not content
    assert told == [False]
    check(ruled({"steps": steps, "preserve": ["ioc"]}), content)


class Unhashable:
    """What a tool may have put into its answer: asked for its hash it raises what no caller expects."""

    def __hash__(self) -> int:
        raise ValueError("no hash")


def test_values_whose_hash_raises_leave_the_return_as_it_is() -> None:
    content = {"rows": [{"a": "nothing"}] * 3 + [{"a": "1.2.3.4"}] * 3 + [{"a": Unhashable()}]}
    faults: list[str] = []
    assert reduce_content(ruled(RULES[0]), "t", content, lambda _, fault: faults.append(fault)) is content
    assert faults == ["a Unhashable has no JSON form"]


@pytest.mark.parametrize("depth", [120, 126, 127, 128, 129, 130, 131, 140])
def test_depths(depth: int) -> None:
    deep: Any = "1.2.3.4"
    for level in range(depth):
        deep = [deep] if level % 2 else {"a": deep}
    check(ruled(RULES[0]), {"rows": [{}, {}, deep, {"b": "5.6.7.8"}, {"b": 1}, {}, {}]})
