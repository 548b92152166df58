"""The processor and the capability leave out what earlier returns show."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse, ToolReturnPart

from reducer.agent import ReduceToolReturns, Reduction, history_processor
from reducer.histories.repeats import INSTRUCTION
from tests.agent.agents import analyst, call, contents, reducer_of, same, script
from tests.laws.strategies import laws
from tests.laws.test_repeats import History, histories

PAGE = "\n".join(f"line {number}: the cache is cold" for number in range(20))
MARKER = f"…[{len(PAGE)} characters as in the return of read (c0)]"
RULES = reducer_of("version: 1\ntool: other\nsteps:\n  - limit: 2\n")


def read(*pages: str) -> list[ModelMessage]:
    """Return a history in which `read` returns these pages."""
    messages: list[ModelMessage] = []
    for number, page in enumerate(pages):
        part = ToolReturnPart("read", page, f"c{number}")
        messages += [ModelResponse([call("read")]), ModelRequest([part])]
    return messages


@laws
@given(histories, st.booleans())
def test_each_request_is_reduced_as_the_whole_history(history: History, stores: bool) -> None:
    process = history_processor(history.reducer, repeats=True)
    messages = ModelMessagesTypeAdapter.validate_python(history.messages)
    expected = history.reducer.reduce(messages, references=False, repeats=True)
    sent: list[ModelMessage] = []
    for end in range(len(messages)):
        before = [*sent, messages[end]] if stores else messages[: end + 1]
        sent = process(before)
        assert ModelMessagesTypeAdapter.dump_json(sent) == ModelMessagesTypeAdapter.dump_json(expected[: end + 1])
    if stores:
        assert same(process(sent), sent)


def test_the_characters_that_repeats_save_are_reported() -> None:
    reported: list[Reduction] = []
    process = history_processor(RULES, repeats=True, on_reduce=reported.append)
    assert contents(process(read(PAGE, PAGE))) == [PAGE, MARKER]
    (one,) = reported
    assert (one.tool_call_id, one.after, one.repeats) == ("c1", len(MARKER), len(PAGE) - len(MARKER))


def test_a_raw_return_is_reduced_again_if_what_it_repeats_was_removed() -> None:
    process = history_processor(RULES, repeats=True)
    messages = read(PAGE, PAGE, PAGE)
    assert contents(process(messages)) == [PAGE, MARKER, MARKER]
    assert contents(process(messages[2:])) == [PAGE, MARKER.replace("c0", "c1")]


def test_markers_of_a_stored_history_stay_if_what_they_repeat_was_removed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    process = history_processor(RULES, repeats=True)
    stored = process(read(PAGE, PAGE))
    assert caplog.messages == []
    for _ in range(2):
        assert same(process(stored[2:]), stored[2:])
        assert same(history_processor(RULES, repeats=True)(stored[2:]), stored[2:])
    assert [message[:40] for message in caplog.messages[:1]] == ["markers name tool returns that the history"[:40]]
    assert sum("markers name" in message for message in caplog.messages) == 3  # once for each processor


def test_a_dry_run_changes_nothing() -> None:
    reported: list[Reduction] = []
    messages = read(PAGE, PAGE)
    process = history_processor(RULES, repeats=True, dry_run=True, on_reduce=reported.append)
    assert same(process(messages), messages)
    assert [one.tool_call_id for one in reported] == ["c1"]


@pytest.mark.parametrize("rules", ["other", "deep_research"])
def test_the_capability_explains_the_marker(rules: str) -> None:
    asked = script("deep_research", "explore")
    reducer = reducer_of(f"version: 1\ntool: {rules}\nsteps:\n  - limit: 2\n")
    made = analyst(asked, ReduceToolReturns(reducer, repeats=True))
    instructions: Any = made.run_sync("go").all_messages()[0].instructions
    assert instructions.endswith(INSTRUCTION)
    assert INSTRUCTION not in reducer.instructions()
    assert reducer.instructions(["nothing"], repeats=True) == INSTRUCTION
