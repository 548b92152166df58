"""An agent: the history processor on 4,000 messages, and on returns of 2 kB."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from reducer import Reducer
from reducer.agent import history_processor
from tests.benchmarks.inputs import records, ruleset

STEPS = """
  - {path: rows, limit: 2, sort_by: last_seen}
  - {path: rows, keep: [hostname, address, last_seen, risk, score]}
  - {path: notes, truncate: 100}
"""


def conversation(turns: int, as_text: bool = False) -> list[ModelMessage]:
    """Return a conversation in which each turn is a call and its return of about 2 kB."""
    messages: list[ModelMessage] = []
    for number in range(turns):
        content: Any = {"rows": records(3, number), "notes": "Checked against the second source. " * 10}
        if as_text:
            content = json.dumps(content)
        messages.append(ModelResponse([ToolCallPart("t", {}, f"call_{number}")]))
        messages.append(ModelRequest([ToolReturnPart("t", content, f"call_{number}")]))
    return messages


def test_requests(compare: Callable[..., Any]) -> None:
    """Compare the first request with 4,000 messages, the same messages again, and those that it returned."""
    reducer = Reducer(ruleset(STEPS))
    history = conversation(2000)
    reduce = history_processor(reducer)
    reduced = reduce(history)
    assert all(new is not old for old, new in zip(history[1::2], reduced[1::2], strict=True))
    calls: dict[str, Callable[[Any], Any]] = {
        "first request": lambda messages: history_processor(reducer)(messages),
        "same messages": reduce,
        "reduced messages": lambda messages: reduce(reduced),
    }
    compare("4,000 messages", calls, lambda: history, rounds=5)


@pytest.mark.parametrize("as_text", [False, True], ids=["objects", "texts"])
def test_small_returns(compare: Callable[..., Any], as_text: bool) -> None:
    reducer = Reducer(ruleset(STEPS))
    history = conversation(200, as_text)
    contents = [message.parts[0].content for message in history[1::2]]  # type: ignore[union-attr]
    calls: dict[str, Callable[[Any], Any]] = {
        "json.loads": lambda history: [json.loads(json.dumps(content)) for content in contents],
        "reduce_content": lambda history: [reducer.reduce_content("t", content) for content in contents],
        "an agent": lambda history: history_processor(reducer)(history),
    }
    compare("200 returns of 2 kB", calls, lambda: history)
