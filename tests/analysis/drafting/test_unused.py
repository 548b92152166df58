"""Ends of rows, free steps, lists that hold most of an answer, and values that agents reuse."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reducer.analysis.drafting.evidence import RecordedReturn, recorded
from reducer.analysis.drafting.reused import as_entities, entity_type, reused_values, uses, with_reused
from reducer.analysis.drafting.rule_text import DraftRule, compiled
from reducer.analysis.drafting.scores import Effect
from reducer.analysis.drafting.unused import COMPACT, UNWRAP, endings, free_steps, main_list, profile_of, unused_keys
from reducer.analysis.measures import size
from reducer.engine import attempt
from tests.analysis.drafting.recordings import recording


def seen(content: Any, *used: str) -> RecordedReturn:
    return RecordedReturn("ask", content, size(content), frozenset(used))


def columns(*names: str, end: tuple[Any, ...] = ("text", "YES", None)) -> str:
    return repr([(name, *end) for name in names])


def test_the_common_end_of_rows_is_cut_off_and_other_rows_stay() -> None:
    returns = [seen(columns(*(f"Column{task}x{number}" for number in range(9)))) for task in range(6)]
    (found,) = endings(returns)
    assert (found.width, found.end, found.rows, found.returns) == (4, ("text", "YES", None), 54, 6)
    ruleset = compiled(DraftRule("ask", (found.step(),)))
    mixed = repr(
        [
            ("Name", "text", "YES", None),
            ("Size", "bigint", "YES", None),
            ("Name", "text", "YES", None, "more"),
            ("text",),
        ]
    )
    assert (
        attempt(ruleset, "ask", mixed).content
        == "[('Name',), ('Size', 'bigint', 'YES', None), ('Name', 'text', 'YES', None, 'more'), ('text',)]"
    )


def test_ends_that_were_used_or_that_differ_stay() -> None:
    names = [f"Column{number}" for number in range(9)]
    assert endings([seen(columns(*names), "YES") for _ in range(6)])[0].end == (None,)
    assert endings([seen(columns(*names, end=(number, task))) for task in range(6) for number in range(2)]) == []
    assert endings([seen(columns(*names))] * 3) == []
    assert endings([seen("no rows at all"), seen({"rows": 1})]) == []


items = st.none() | st.sampled_from(["text", "YES", "", "it's", "a\\b", "ключ", "x" * 30, "\n"]) | st.integers(0, 9)


@given(st.lists(st.lists(items, min_size=1, max_size=5), min_size=1, max_size=12))
def test_every_ending_is_a_step_that_removes_only_ends(rows: list[list[Any]]) -> None:
    returns = [seen(rows * 3) for _ in range(6)]
    for found in endings(returns):
        left = attempt(compiled(DraftRule("ask", (found.step(),))), "ask", rows * 3).content
        keep = found.width - len(found.end)
        assert left == [
            row[:keep] if len(row) == found.width and tuple(row[keep:]) == found.end else row for row in rows * 3
        ]
        assert left != rows * 3


def test_free_steps_begin_with_none_and_end_with_unwrap() -> None:
    nested = [seen({"text": json.dumps({"name": f"n{n}", "more": None, "words": "a b c " * 9})}) for n in range(5)]
    assert [steps.before for steps in free_steps(nested)] == [(), (UNWRAP, COMPACT)]
    assert len(free_steps([seen({"name": "nothing to save"})])) == 1


def test_the_list_that_holds_most_is_found_below_plain_keys() -> None:
    rows = [{"id": number, "words": "a b c " * 20} for number in range(9)]

    def found(content: Any) -> tuple[str, ...]:
        return main_list(profile_of([seen(content)]))

    assert found(rows) == ("@",)
    assert found({"page": {"hits": rows, "few": [1, 2]}, "took": 3}) == ("page.hits",)
    assert found({"10.0.0.1": rows}) == ()
    assert found({"note": "x" * 9000, "hits": rows}) == ()
    assert main_list(profile_of([])) == ()


def test_keys_of_maps_are_dropped_at_their_values_unless_used() -> None:
    hosts = {f"10.0.0.{number}": {"name": f"srv{number}k", "raw": "x" * 90} for number in range(6)}
    returns = [seen({"hosts": hosts}, "srv3k") for _ in range(6)]
    (step,) = unused_keys(profile_of(returns), uses=6)
    assert step.keys == {"path": "hosts.*", "drop": ["raw"]}
    assert step.reason == "`raw`: 76% of the characters, 0 of 6 later uses"


def test_values_that_were_used_and_are_shown_in_several_tasks_are_reused() -> None:
    def answer(task: int) -> list[str]:
        return ["SigninLogs", "AuditLogs", f"row-{task}-77x", f"{task}99, 5"]

    histories = [
        recorded("made-up", recording(f"q{task}", ("ask", answer(task), f"I see SigninLogs and row-{task}-77x")))
        for task in range(4)
    ]
    used = uses(histories, "ask")
    returns = [one for history in histories for one in history.returns]
    assert reused_values(used, returns) == ("SigninLogs",)
    assert reused_values(uses(histories, "other"), returns) == ()
    absent = frozenset({"SigninLogs", "row-0-77x", "AuditLogs"})
    effect = with_reused(Effect(10, frozenset({"SigninLogs", "row-0-77x"}), absent), returns[0], used)
    assert effect == Effect(10 + len("SigninLogs") + 4, frozenset({"row-0-77x"}), absent - {"SigninLogs"})


@given(
    st.text(max_size=60),
    st.lists(st.sampled_from(["SigninLogs", "a b", "10.0.0.1", "it's", "ключ-1"]), min_size=1, max_size=3, unique=True),
)
def test_reused_values_survive_a_rule_that_preserves_them(tool: str, values: list[str]) -> None:
    settings = {"entities": as_entities(tool, values), "max_chars": 200, "preserve": [entity_type(tool)]}
    content = f"{'begin ' * 90}{' and '.join(values)}{' end' * 90}"
    left = attempt(compiled(DraftRule("ask", (), settings)), "ask", content).content
    assert len(left) < len(content)
    assert all(value in left for value in values)
