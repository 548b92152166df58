"""Requests with 1,000 reduced returns, and with an archive.

Targets: a second pass over reduced returns takes at most twice as long as a bare loop over the parts, and an archive at
most a tenth longer than without one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart

from reducer import Reducer
from reducer.agent import Archive, history_processor
from reducer.histories.stored import returns
from tests.agent.agents import call, context, reducer_of

ROOT = Path(__file__).parents[2]
RULES = reducer_of("version: 1\ntool: explore\nsteps:\n  - limit: 20\npreserve: []\n")


def history() -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for turn in range(1000):
        messages.append(ModelResponse([call("explore", turn)]))
        messages.append(ModelRequest([ToolReturnPart("explore", list(range(200)), f"call_{turn}")]))
    return messages


def bare(messages: list[ModelMessage]) -> int:
    return sum(isinstance(part, ToolReturnPart) for message in messages for part in message.parts)


def test_passes(compare: Callable[..., Any]) -> None:
    reduce = history_processor(RULES)
    messages, new = reduce(history()), ModelRequest([ToolReturnPart("explore", list(range(200)), "c")])
    contenders: dict[str, Any] = {
        "bare loop": lambda _: bare(messages),
        "first pass": lambda history: history_processor(RULES)(history),
        "second pass": lambda _: reduce(messages),
        "one new return": lambda _: reduce([*messages, new]),
    }
    compare("1,000 returns of 200 items", contenders, history, rounds=30)


def test_archive(compare: Callable[..., Any], tmp_path: Path) -> None:
    rules, archive, rounds = Reducer.load(ROOT / "rules"), Archive(tmp_path / "returns.db"), count()
    sample = (ROOT / "reducer/samples/threat_intelligence.json").read_bytes()
    found = [(one.tool, one.content) for one in returns(sample)]

    def request() -> list[ModelMessage]:
        # Each round has new originals, because the archive compresses an original only once. Its background thread is
        # idle at the start of a round, as in an agent, whose requests are seconds apart.
        archive.flush()
        number = next(rounds)
        contents = [(tool, json.loads(json.dumps(content))) for tool, content in found]
        for _, content in contents:
            if isinstance(content, dict):
                content["round"] = number
        parts = [ToolReturnPart(tool, content, f"call_{index}") for index, (tool, content) in enumerate(contents)]
        return [ModelRequest(parts)]

    contenders: dict[str, Any] = {
        "without an archive": history_processor(rules),
        "with an archive": partial(history_processor(rules, archive=archive), context()),
    }
    compare("a first request over the returns of the bundled sample, 276 kB", contenders, request, rounds=20)
    assert archive.close(60)
    assert archive.failures == 0
