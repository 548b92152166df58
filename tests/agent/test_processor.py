"""The history processor reduces each return once, modifies nothing in place, and survives errors."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest

from reducer import Reducer
from reducer.agent import Reduction, history_processor, processor
from reducer.values import MAX_TEXT_CHARS
from tests.agent.agents import RULE, SHORTER, contents, reducer_of, returns, same, turns, watch_engine

Processor = Callable[..., list[ModelMessage]]


@pytest.fixture
def reduce() -> Processor:
    return history_processor(SHORTER)


def test_each_return_is_reduced_once(reduce: Processor, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = watch_engine(monkeypatch)
    history = turns(3)
    once = reduce(history)
    assert type(once) is list
    assert once[0] is history[0]
    assert once[1].parts[1] is history[1].parts[1]
    assert same(reduce(once), once)
    assert same([one.parts[0] for one in reduce(history)], [one.parts[0] for one in once])  # type: ignore[misc]
    merged = [ModelRequest([*once[1].parts, *once[3].parts])]
    assert same(reduce(merged), merged)
    assert len(tried) == 3
    reduce([*once, *turns(1)])
    assert len(tried) == 4
    parts = [replace(message, parts=[replace(part) for part in message.parts]) for message in once]
    for number, copied in enumerate((copy.deepcopy(once), parts)):
        assert same(reduce(copied), copied)
        assert len(tried) == 7 + 3 * number


def test_a_new_content_is_reduced_again(reduce: Processor) -> None:
    history = turns(1)
    (_, reduced) = reduce(history)
    for message in (history[1], reduced):
        message.parts[0].content = ["the original", "without", "its secret"]
        assert contents(reduce([message])) == [["the original", "without"]]


def test_nothing_is_kept_of_histories_in_cycles() -> None:
    reducer = processor.Processor(SHORTER)
    histories = [returns([1, 2, 3]) for _ in range(50)]
    reduced = [reducer(None, history) for history in histories]
    assert len(reducer.known) == 100
    for history in histories + reduced:
        history[0].parts[0].metadata = {"history": history}
    del histories, reduced, history
    gc.collect()
    gc.collect()  # a reduced part is free after its original
    assert reducer.known == {}


def test_threads_get_equal_results(reduce: Processor) -> None:
    history = turns(300)

    def run(number: int) -> Any:
        reduce(turns(100))  # collected while other histories are added
        return contents(reduce(history))

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(run, range(30)))
    assert results == [[[f"turn {turn} item 0", f"turn {turn} item 1"] for turn in range(300)]] * 30


def test_an_error_leaves_the_return_unchanged_and_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reported: list[Reduction] = []
    reduce = history_processor(SHORTER, on_reduce=reported.append)
    watch_engine(monkeypatch, explore=KeyError("something secret"), deep=RecursionError())
    fine = returns([1, 2, 3], tool="fine")
    for _ in range(3):
        messages = [*returns([1, 2, 3], [1, 2, 3], tool="explore"), *returns([1, 2, 3], tool="deep")]
        assert same(reduce([*messages, *fine])[:-1], messages)
    assert contents(reduce(fine)) == [[1, 2]]
    assert (reported[0].tool, reported[0].tool_call_id, reported[0].rule) == ("explore", "call_0", "")
    assert (reported[0].before, reported[0].after) == (7, 7)
    assert reported[0].fault.startswith("KeyError at agents.py:")
    assert [message.rpartition(":")[0] for message in caplog.messages] == [
        "a return of explore stays unchanged: KeyError at agents.py",
        "a return of deep stays unchanged: RecursionError at agents.py",
    ]


def test_a_content_that_the_engine_cannot_reduce_is_logged_once_per_rule(caplog: pytest.LogCaptureFixture) -> None:
    reduce = history_processor(reducer_of("version: 1\ntool: look_*\nsteps:\n  - truncate: 20\n"))
    cyclic: list[Any] = ["a long text that would be cut somewhere"]
    cyclic.append(cyclic)
    for tool in ("look_up", "look_around"):
        messages = returns((n for n in "abc"), cyclic, "x" * (MAX_TEXT_CHARS + 1), [object()], tool=tool)
        assert same(reduce(messages), messages)
    assert caplog.messages == [
        f"a return of look_* stays unchanged: {fault}"
        for fault in (
            "a generator can be read only once",
            "deeper than 128 levels",
            "a text of more than 67,108,864 characters",
            "a object has no JSON form",
        )
    ]


# --- reload

ITEMS = list(range(20))


@pytest.fixture
def rule(rules: Path) -> Path:
    return rules / "deep_research.yaml"


def test_new_rules_apply_to_new_returns_and_to_loaded_conversations(rule: Path) -> None:
    reducer = Reducer.load(rule)
    reduce = history_processor(reducer)
    before = reduce(returns(ITEMS, tool="deep_research"))
    rule.write_text(RULE.replace("2", "1"))
    assert contents(reduce(returns(ITEMS, tool="deep_research"))) == [[0, 1]]
    assert reducer.reload() == ()
    after = reduce([*before, *returns(ITEMS, tool="deep_research")])
    assert same(after[:1], before)
    assert contents(after) == [[0, 1], [0]]
    loaded = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(before))
    assert contents(reduce(loaded)) == [[0]]


def test_rules_with_errors_keep_the_old_rules_and_are_logged(rule: Path, caplog: pytest.LogCaptureFixture) -> None:
    reducer = Reducer.load(rule.parent)
    old = reducer.ruleset
    rule.write_text(RULE.replace("limit", "limt"))
    wrong = reducer.reload()
    rule.unlink()
    empty = reducer.reload()
    rule.parent.rmdir()
    missing = reducer.reload()
    assert [problem.message for problem in wrong + empty] == ["unknown key `limt`", "no rule files found"]
    assert [problem.location.file for problem in missing] == [str(rule.parent)]
    heading = "the rules were not reloaded:\n"
    assert caplog.messages == [f"{heading}{problem}" for problem in wrong + empty + missing]
    assert reducer.ruleset is old
    with pytest.raises(ValueError, match="were not loaded from files"):
        Reducer(old).reload()


@pytest.mark.parametrize("reduce", [Reducer.reduce, lambda reducer, messages: history_processor(reducer)(messages)])
def test_a_request_is_reduced_by_one_ruleset_during_a_reload(rule: Path, reduce: Any) -> None:
    reducer = Reducer.load(rule)
    old = reducer.ruleset

    def rules_for(tool: str) -> Any:
        assert reducer.reload() == ()
        return old.rules_for(tool)

    reducer.ruleset = replace(old, rules_for=rules_for)
    rule.write_text(RULE.replace("2", "3"))
    assert contents(reduce(reducer, returns(*[ITEMS] * 3, tool="deep_research"))) == [[0, 1]] * 3
    assert contents(reduce(reducer, returns(ITEMS, tool="deep_research"))) == [[0, 1, 2]]
