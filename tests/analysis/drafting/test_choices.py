"""What there is to choose from for a tool: steps that lose nothing, the list that holds most, values that stay."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.analysis.drafting.evidence import recorded
from reducer.analysis.drafting.from_histories import COMPACT, UNWRAP, Choice, Options, find_options
from reducer.analysis.drafting.rule_text import DraftRule, Step, compiled
from reducer.engine import attempt
from tests.analysis.drafting.recordings import recording


def ask(*contents: Any, used: str = "") -> Options:
    """The options of a tool that returned each content in a task of its own, after which the agent wrote `used`."""
    histories = [recorded("made-up", recording(f"q{n}", ("ask", one, used or "ok"))) for n, one in enumerate(contents)]
    return find_options(histories, "ask")


def only_step(options: Options) -> Step:
    ((), (step,)) = options.bases
    return step


def left(step: Step, content: Any) -> Any:
    return attempt(compiled(DraftRule("ask", (step,))), "ask", content).content


def columns(*names: str, end: tuple[Any, ...] = ("text", "YES", None)) -> str:
    return repr([(name, *end) for name in names])


def test_the_common_end_of_rows_is_cut_off_and_other_rows_stay() -> None:
    step = only_step(ask(*(columns(*(f"Column{task}x{n}" for n in range(9))) for task in range(6))))
    assert step.reason == 'Rows that end in "text", "YES", null: 54 in 6 returns, 0 later uses'
    mixed = "[('Name', 'text', 'YES', None), ('Size', 'bigint', 'YES', None), ('text',)]"
    assert left(step, mixed) == "[('Name',), ('Size', 'bigint', 'YES', None), ('text',)]"


def test_an_end_that_was_used_stays() -> None:
    tables = [columns(*(f"Column{n}" for n in range(9)), end=("Kind_A7x", None)) for _ in range(6)]
    assert only_step(ask(*tables)).keys["limit"] == 1
    assert only_step(ask(*tables, used="Kind_A7x")).keys["limit"] == 2


def test_other_ends_stay() -> None:
    different = [columns(*(f"C{n}" for n in range(9)), end=(n, task)) for task in range(6) for n in range(2)]
    too_few = [columns(*(f"Column{n}" for n in range(9)))] * 3
    for contents in (different, too_few, ["no rows at all", {"rows": 1}]):
        assert ask(*contents).bases == ((),)


items = st.none() | st.sampled_from(["text", "YES", "", "it's", "a\\b", "ключ", "x" * 30, "\n"]) | st.integers(0, 9)


@given(st.lists(st.lists(items, min_size=1, max_size=5), min_size=1, max_size=12))
def test_only_ends_of_rows_are_cut_off(rows: list[list[Any]]) -> None:
    for step in [step for base in ask(*[rows * 3] * 6).bases for step in base if "limit" in step.keys]:
        after = left(step, rows * 3)
        assert after != rows * 3
        assert all(row == old[: len(row)] for row, old in zip(after, rows * 3, strict=True))
        assert {len(row) for row, old in zip(after, rows * 3, strict=True) if row != old} == {step.keys["limit"]}


def test_json_in_texts_is_unwrapped() -> None:
    nested = [{"text": json.dumps({"name": f"n{n}", "more": None, "words": "a b c " * 9})} for n in range(5)]
    assert ask(*nested).bases[-1] == (UNWRAP, COMPACT)
    assert ask({"name": "nothing to save"}).bases == ((),)


@pytest.mark.parametrize(("said", "dropped"), [("srv3k", ["note", "raw"]), ("srv3k and zz9plural", ["raw"])])
def test_keys_of_maps_are_dropped_at_their_values_unless_used(said: str, dropped: list[str]) -> None:
    host = {"raw": "x" * 90, "note": "zz9plural"}
    hosts = {f"10.0.0.{number}": {"name": f"srv{number}k", **host} for number in range(6)}
    step = only_step(ask(*[{"hosts": hosts}] * 24, used=said))
    assert step.keys == {"path": "hosts.*", "drop": dropped}
    assert f"of the characters, 0 of {24 * len(said.split()[::2])} later uses" in step.reason


def test_keys_that_are_mentioned_or_name_things_stay() -> None:
    def answer(**keys: Any) -> dict[str, Any]:
        return {"found": "id-77-9x", **keys}

    assert only_step(ask(*[answer(raw="z" * 90)] * 24, used="id-77-9x")).keys["drop"] == ["raw"]
    for content in (answer(state="new"), answer(**{"10.0.0.1": "z" * 90})):
        assert ask(*[content] * 24, used="id-77-9x is new").bases == ((),)


def test_values_that_were_used_and_are_shown_in_several_tasks_are_reused() -> None:
    histories = [
        recorded("made-up", recording(f"q{task}", ("ask", answer, f"I see SigninLogs and row-{task}-77x")))
        for task in range(4)
        for answer in [["SigninLogs", "AuditLogs", f"row-{task}-77x", f"{task}99, 5"]]
    ]
    assert find_options(histories, "ask").values == ("SigninLogs",)
    assert find_options(histories, "other").values == ()


@given(
    st.text(min_size=1, max_size=60).filter(str.isprintable),
    st.lists(st.sampled_from(["SigninLogs", "a b", "10.0.0.1", "it's", "ключ-1"]), min_size=1, max_size=3, unique=True),
)
def test_reused_values_survive_a_rule_that_keeps_them(tool: str, values: list[str]) -> None:
    options = Options(tool, (), ((),), tuple(values))
    rule = options.rule(Choice(action="max_chars", size=2000, reused=True))
    assert rule is not None
    content = f"{'begin ' * 900}{' and '.join(values)}{' end' * 90}"
    after = attempt(compiled(replace(rule, tool="ask")), "ask", content).content
    assert len(after) < len(content)
    assert all(value in after for value in values)
    used = {value: {("made-up", "other task")} for value in values}
    (one,) = recorded("made-up", recording("q", ("ask", content, values[0]))).returns
    kept, cut = (options.effect(Choice(0, "max_chars", 2000, reused), one, used) for reused in (True, False))
    assert kept.absent == frozenset()
    assert values[0] in cut.absent
    assert cut.chars < kept.chars <= len(content)
