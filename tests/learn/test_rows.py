"""Rows that end alike, lists that hold most of an answer, and values that agents use again."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reducer.engine import attempt
from reducer.learn.evidence import Seen, recorded
from reducer.learn.familiar import MOST, brought_back, described, entity, lasting, tasks_of, uses
from reducer.learn.form import lists
from reducer.learn.lossless import COMPACT, UNWRAP, ways
from reducer.learn.rows import endings
from reducer.learn.trial import compiled
from reducer.measures import size
from reducer.rule import compile_rules
from tests.learn.recordings import recording


def seen(content: Any, *wanted: str) -> Seen:
    return Seen("ask", content, size(content), False, True, frozenset(wanted))


def columns(*names: str, end: tuple[Any, ...] = ("text", "YES", None)) -> str:
    return repr([(name, *end) for name in names])


def test_what_all_rows_end_in_is_cut_off_and_other_rows_stay() -> None:
    returns = [seen(columns(*(f"Column{task}x{number}" for number in range(9)))) for task in range(6)]
    (found,) = endings(returns)
    assert (found.width, found.end, found.rows, found.returns) == (4, ("text", "YES", None), 54, 6)
    ruleset = compiled({"version": 1, "tool": "ask", "steps": [found.step()]})
    mixed = repr([("Name", "text", "YES", None), ("Size", "bigint", "YES", None), ("Name", "text", "YES", None, "more"), ("text",)])
    assert attempt(ruleset, "ask", mixed).content == "[('Name',), ('Size', 'bigint', 'YES', None), ('Name', 'text', 'YES', None, 'more'), ('text',)]"


def test_rows_that_end_in_what_was_used_or_differ_stay() -> None:
    names = [f"Column{number}" for number in range(9)]
    assert endings([seen(columns(*names), "YES") for _ in range(6)])[0].end == (None,)
    assert endings([seen(columns(*names, end=(number, task))) for task in range(6) for number in range(2)]) == []
    assert endings([seen(columns(*names))] * 3) == []
    assert endings([seen("no rows at all"), seen({"rows": 1})]) == []


items = st.none() | st.sampled_from(["text", "YES", "", "it's", "a\\b", "ключ", "x" * 30, "\n"]) | st.integers(0, 9)


@given(st.lists(st.lists(items, min_size=1, max_size=5), min_size=1, max_size=12))
def test_every_ending_is_a_sound_step_that_takes_only_ends(rows: list[list[Any]]) -> None:
    returns = [seen(rows * 3) for _ in range(6)]
    for found in endings(returns):
        ruleset, problems = compile_rules([("drafted", json.dumps({"version": 1, "tool": "ask", "steps": [found.step()]}))])
        assert ruleset is not None
        assert not problems
        left = attempt(ruleset, "ask", rows * 3).content
        keep = found.width - len(found.end)
        assert left == [row[:keep] if len(row) == found.width and tuple(row[keep:]) == found.end else row for row in rows * 3]
        assert left != rows * 3


def test_ways_that_cost_nothing_are_told_and_come_with_more_and_more() -> None:
    nested = [seen({"text": json.dumps({"name": f"n{number}", "more": None, "words": "a b c " * 9})}) for number in range(5)]
    assert [[told for told, _ in way.first] for way in ways(nested)] == [[], [UNWRAP[0], COMPACT[0]]]
    assert len(ways([seen({"name": "nothing to save"})])) == 1


def test_the_lists_that_hold_most_are_found_below_keys() -> None:
    rows = [{"id": number, "words": "a b c " * 20} for number in range(9)]
    assert lists([seen(rows)]) == ("@",)
    assert lists([seen({"page": {"hits": rows, "few": [1, 2]}, "took": 3})]) == ("page.hits",)
    assert lists([seen({"10.0.0.1": rows})]) == ()
    assert lists([seen({"note": "x" * 9000, "hits": rows})]) == ()
    assert lists([]) == ()


def test_values_that_were_used_and_are_shown_in_several_tasks_last() -> None:
    def answer(task: int) -> list[str]:
        return ["SigninLogs", "AuditLogs", f"row-{task}-77x", f"{task}99, 5"]

    histories = [recorded("made-up", recording(f"q{task}", ("ask", answer(task), f"I see SigninLogs and row-{task}-77x"))) for task in range(4)]
    used, tasks = uses(histories, "ask"), tasks_of(histories)
    returns = [one for history in histories for one in history.returns]
    assert lasting(used, returns, tasks) == ("SigninLogs",)
    assert lasting(uses(histories, "other"), returns, tasks) == ()
    mine = tasks[id(returns[0])]
    assert brought_back({"SigninLogs", "row-0-77x", "AuditLogs"}, used, mine) == (len("SigninLogs") + 4, frozenset({"SigninLogs"}))
    assert brought_back({"row-0-77x"}, used, ("made-up", "another"))[1] == {"row-0-77x"}


@given(st.text(max_size=60), st.lists(st.sampled_from(["SigninLogs", "a b", "10.0.0.1", "it's", "ключ-1"]), min_size=1, max_size=3, unique=True))
def test_familiar_values_are_described_as_rules_take_them(tool: str, values: list[str]) -> None:
    rule = {"version": 1, "tool": "ask", "entities": described(tool, values), "max_chars": 200, "preserve": [entity(tool)]}
    ruleset = compiled(rule)
    content = f"{'begin ' * 90}{' and '.join(values)}{' end' * 90}"
    left = attempt(ruleset, "ask", content).content
    assert len(left) < len(content)
    assert all(value in left for value in values)
    assert len(values) <= MOST
