"""What an archive costs in the processor. The target is 1.1 times the time without one."""

from __future__ import annotations

import json
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from reducer import Reducer
from reducer.agent import Archive, history_processor
from reducer.histories.stored import returns
from tests.agent.agents import context

ROOT = Path(__file__).parents[2]


@pytest.mark.benchmark(group="live, a first request over the returns of the bundled sample, 276 kB")
@pytest.mark.parametrize("contender", ["without an archive", "with an archive"])
def test_processor(benchmark: Any, tmp_path: Path, contender: str) -> None:
    rules = Reducer.load(ROOT / "rules")
    found = [
        (one.tool, one.content) for one in returns((ROOT / "reducer/samples/threat_intelligence.json").read_bytes())
    ]
    archive = Archive(tmp_path / "returns.db") if contender == "with an archive" else None

    rounds = count()

    def history() -> tuple[tuple[list[ModelMessage]], dict[str, Any]]:
        # Every round has other originals, because a known one is not compressed again. The background thread is idle,
        # as in an agent, whose requests are seconds apart.
        if archive is not None:
            archive.flush()
        number = next(rounds)
        contents = [(tool, json.loads(json.dumps(content))) for tool, content in found]
        for _, content in contents:
            if isinstance(content, dict):
                content["round"] = number
        parts = [ToolReturnPart(tool, content, f"call_{index}") for index, (tool, content) in enumerate(contents)]
        return ([ModelRequest(parts)],), {}

    reduce = history_processor(rules, archive=archive)
    processor = reduce if archive is None else partial(reduce, context())
    benchmark.pedantic(processor, setup=history, rounds=20, warmup_rounds=2)
    if archive is not None:
        assert archive.close(60)
        assert (archive.failures, archive.dropped) == (0, 0)
