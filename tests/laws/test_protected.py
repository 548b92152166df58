"""Values that later messages refer to: what stood in a content stands in its result, and the laws hold all the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from reducer.engine import attempt, reduce_content
from reducer.references import NUMBER, searched, searcher
from tests.helpers import compiled
from tests.laws import checks
from tests.laws.strategies import cases, laws

_WORD = re.compile(r"[A-Za-z0-9#$][\w.:/@\[\]-]*[A-Za-z0-9]|[A-Za-z0-9]{2,}")
_NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?![\w.])")


@st.composite
def _referred(draw: st.DrawFn) -> tuple[dict[str, Any], Any, Any, frozenset[str]]:
    """A rule as data, its ruleset, a content, and some values that stand in it."""
    rule, ruleset, content = draw(cases)
    text = searched(content)
    values = sorted({*_WORD.findall(text), *(NUMBER + number for number in _NUMBER.findall(text))})
    chosen = draw(st.lists(st.sampled_from(values), max_size=4)) if values else []
    return rule, ruleset, content, frozenset((*chosen, "not-in-it-1"))


referred = _referred()


@laws
@given(referred)
def test_what_stood_in_a_content_stands_in_its_result(case: Any) -> None:
    _, ruleset, content, values = case
    search = searcher(values)
    before = search(searched(content))
    result = reduce_content(ruleset, "t", content, protected=values)
    event("with values" if before else "without")
    assert search(searched(result)) >= before


@laws
@given(referred)
def test_the_laws_hold_with_protected_values(case: Any) -> None:
    rule, ruleset, content, values = case
    result = reduce_content(ruleset, "t", content, protected=values)
    checks.same_type(content, result)
    checks.root_keys(content, result, rule.get("keys") == "all")
    checks.within(content, result)
    checks.never_larger(content, result)
    again = reduce_content(ruleset, "t", checks.round_tripped(result), protected=values)
    assert checks.as_bytes(again) == checks.as_bytes(result)


@laws
@given(cases)
def test_values_that_are_not_there_change_nothing(case: Any) -> None:
    _, ruleset, content = case
    plain = reduce_content(ruleset, "t", content)
    for protected in (None, frozenset[str](), frozenset(("nowhere-77", NUMBER + "918273"))):
        assert checks.as_bytes(reduce_content(ruleset, "t", content, protected=protected)) == checks.as_bytes(plain)


def test_protected_cases_are_still_reduced() -> None:
    counts = {"all": 0, "changed": 0, "faults": 0, "kept": 0}

    @settings(laws, max_examples=200, database=None, derandomize=True)
    @given(referred)
    def run(case: Any) -> None:
        _, ruleset, content, values = case
        search = searcher(values)
        outcome = attempt(ruleset, "t", content, values)
        counts["all"] += 1
        counts["changed"] += outcome.content is not content
        counts["faults"] += bool(outcome.fault)
        counts["kept"] += not search(searched(content)) <= search(searched(reduce_content(ruleset, "t", content)))

    run()
    assert counts["changed"] >= 0.35 * counts["all"], counts
    assert counts["kept"] >= 0.1 * counts["all"], counts
    assert counts["faults"] <= 0.1 * counts["all"], counts


ROWS = [{"id": f"case-{n}", "score": 1000 + n, "tags": ["a", f"tag-{n}"], "note": "seen " * 20} for n in range(6)]
LONG = f"First line.\n{'word ' * 100}\nThe ticket is INC-4711 here.\n{'more ' * 100}"
AROUND = f"{LONG[:56]} …[456 more characters]…\nThe ticket is INC-4711 here. …[501 more characters]"


@pytest.mark.parametrize(
    ("steps", "content", "protected", "result"),
    [
        ([{"limit": 1}], ROWS, ["case-4"], [ROWS[0], {"id": "case-4"}]),
        ([{"limit": 1}], ROWS, [NUMBER + "1004"], [ROWS[0], {"score": 1004}]),
        ([{"limit": 1}], ROWS, ["tag-3", "case-5"], [ROWS[0], {"tags": ["tag-3"]}, {"id": "case-5"}]),
        (
            [{"drop": ["score", "note"]}, {"limit": 1}],
            ROWS[:2],
            [NUMBER + "1000"],
            [{"id": "case-0", "score": 1000, "tags": ["a", "tag-0"]}],
        ),
        ([{"path": "a", "drop": ["key-7"]}], {"a": {"key-7": 1, "b": 2}}, ["key-7"], {"a": {"key-7": 1, "b": 2}}),
        ([{"path": "a", "drop": ["key-7"]}], {"a": {"key-7": [1], "b": 2}}, ["key-7"], {"a": {"key-7": [], "b": 2}}),
        ([{"limit": 1}], ["one", "two", "id-33 here"], ["id-33"], ["one", "id-33 here"]),
        ([{"truncate": 60}], {"t": LONG}, ["INC-4711"], {"t": AROUND}),
        ([{"truncate": 600}], {"t": LONG}, ["INC-4711"], {"t": f"{LONG[:596]} …[446 more characters]"}),
        (
            [{"extract": ["ip"]}],
            LONG,
            ["INC-4711"],
            "…[512 more characters]…\nThe ticket is INC-4711 here. …[501 more characters]",
        ),
        ([{"path": "a", "drop": ["t"]}], {"a": {"t": LONG}}, ["INC-4711"], {"a": {"t": f"…[512{AROUND[62:]}"}}),
        (
            [{"truncate": 60}],
            f"{LONG[:402]}INC-4711",
            ["INC-4711"],
            f"{LONG[:56]} …[150 more characters]…{LONG[206:402]}INC-4711",
        ),
        (
            [{"truncate": 60}],
            f"{LONG[:56]} INC-4711 {LONG[402:]}",
            ["INC-4711"],
            f"{LONG[:56]} INC-4711 {LONG[402:511]} …[531 more characters]",
        ),
        ([{"truncate": 60}], f"{LONG[:142]}INC-4711", ["INC-4711"], f"{LONG[:142]}INC-4711"),
        ([{"limit": 1}], ROWS, ["case-0"], [ROWS[0]]),
    ],
)
def test_what_holds_a_protected_value_stays(steps: list[Any], content: Any, protected: list[str], result: Any) -> None:
    ruleset = compiled({"version": 1, "tool": "t", "steps": steps})
    assert ruleset is not None
    assert reduce_content(ruleset, "t", content, protected=protected) == result
    assert reduce_content(ruleset, "t", result, protected=protected) == result
    assert reduce_content(ruleset, "t", content) != content


@dataclass
class _Row:
    id: str
    score: int


def test_live_values_are_read_as_they_are_stored() -> None:
    ruleset = compiled({"version": 1, "tool": "t", "steps": [{"limit": 1}]})
    assert ruleset is not None
    rows = [_Row(f"case-{n}", 1000 + n) for n in range(4)]
    assert reduce_content(ruleset, "t", rows, protected=["case-2", NUMBER + "1003"]) == [
        rows[0],
        {"id": "case-2"},
        {"score": 1003},
    ]


def test_what_is_too_deep_stays_as_it_is() -> None:
    ruleset = compiled({"version": 1, "tool": "t", "steps": [{"path": "a", "limit": 1}]})
    assert ruleset is not None
    deep: Any = ["case-1"]
    for _ in range(5000):
        deep = [deep]
    content = {"a": ["x", "case-2"], "b": deep}
    assert reduce_content(ruleset, "t", content, protected=["case-1", "case-2"]) is content
    assert reduce_content(ruleset, "t", content)["a"] == ["x"]
