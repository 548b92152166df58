"""A request over 1,000 reduced returns against a bare loop over the parts, and one over 50 MB; the target is twice the
loop, and 0.2 s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from reducer.agent import ReduceToolReturns, history_processor


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
    return sum(isinstance(part, ToolReturnPart) for message in messages for part in message.parts)


@pytest.mark.benchmark(group="live, 1,000 returns of 200 items")
@pytest.mark.parametrize("contender", ["bare loop", "first pass", "second pass", "one new return"])
def test_passes(benchmark: Any, contender: str) -> None:
    reduce = history_processor(Rules())
    messages, new = reduce(history(200)), ModelRequest([ToolReturnPart("explore", list(range(200)), "c")])
    setups: dict[str, Any] = {
        "bare loop": (bare, lambda: ((messages,), {})),
        "first pass": (lambda messages: history_processor(Rules())(messages), lambda: ((history(200),), {})),
        "second pass": (reduce, lambda: ((messages,), {})),
        "one new return": (reduce, lambda: (([*messages, new],), {})),
    }
    function, setup = setups[contender]
    benchmark.pedantic(function, setup=setup, rounds=30, warmup_rounds=2)


def large() -> list[dict[str, Any]]:
    return [
        {f"key{number}": "x" * 30 if number % 2 else number * 1000 for number in range(12)} | {"n": item}
        for item in range(150_000)
    ]


@pytest.mark.benchmark(group="live, three requests of which the second has an answer of 50 MB")
@pytest.mark.parametrize("contender", ["PydanticAI alone", "with the capability"])
def test_large_answer(benchmark: Any, contender: str, tmp_path: Path) -> None:
    (tmp_path / "rule.yaml").write_text("version: 1\ntool: large\nsteps:\n  - {limit: 20, sort_by: n}\n")
    capabilities = [ReduceToolReturns(tmp_path)] if contender == "with the capability" else []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(
            [ToolCallPart(["large", "small"][len(messages) // 2], {}) if len(messages) < 4 else TextPart("Done.")]
        )

    made: Agent[None, str] = Agent(FunctionModel(answer), capabilities=capabilities)
    found = large()
    made.tool_plain(name="large")(lambda: found)
    made.tool_plain(name="small")(lambda: "ok")
    benchmark.pedantic(lambda: made.run_sync("Look into it, please."), rounds=3, warmup_rounds=1)
