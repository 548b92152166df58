"""A second pass over 1,000 reduced returns against a bare loop over the parts; the target is 3 times its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from reducer.agent import history_processor


class Rules:
    """Rules that keep 20 items."""

    def reduce_content(self, tool: str, content: Any) -> Any:
        return content[:20] if len(content) > 20 else content


def history(size: int) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for turn in range(1000):
        messages.append(ModelResponse([ToolCallPart("explore", {}, f"call_{turn}")]))
        messages.append(ModelRequest([ToolReturnPart("explore", list(range(size)), f"call_{turn}")]))
    return messages


def bare(messages: list[ModelMessage]) -> int:
    count = 0
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                count += 1
    return count


CONTENDERS = ["bare loop", "second pass", "one new return"]


@pytest.mark.benchmark(group="live, 1,000 reduced returns")
@pytest.mark.parametrize("contender", CONTENDERS)
def test_second_pass(benchmark: Any, contender: str) -> None:
    reduce = history_processor(Rules())
    messages = reduce(history(200))
    fresh: Callable[[], ModelRequest] = lambda: ModelRequest([ToolReturnPart("explore", list(range(200)), "c")])  # noqa: E731
    setups: dict[str, Any] = {
        "bare loop": (bare, lambda: ((messages,), {})),
        "second pass": (reduce, lambda: ((messages,), {})),
        "one new return": (reduce, lambda: (([*messages, fresh()],), {})),
    }
    function, setup = setups[contender]
    benchmark.pedantic(function, setup=setup, rounds=500, warmup_rounds=20)


@pytest.mark.benchmark(group="live, first pass over 1,000 returns of 200 items")
@pytest.mark.parametrize("contender", ["bare loop", "first pass"])
def test_first_pass(benchmark: Any, contender: str) -> None:
    function: Any = bare if contender == "bare loop" else lambda messages: history_processor(Rules())(messages)
    benchmark.pedantic(function, setup=lambda: ((history(200),), {}), rounds=30, warmup_rounds=2)
