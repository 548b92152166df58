"""In a DBOS workflow on SQLite: a workflow that is resumed after a crash sends the same requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from reducer.agent import ReduceToolReturns, Reduction, history_processor
from reducer.agent.durable import workflow
from reducer.archive import Archive
from tests.agent.agents import call, context, history_capability, steady
from tests.agent.test_scenarios import ARTICLES

dbos = pytest.importorskip("dbos")
durable = pytest.importorskip("pydantic_ai.durable_exec.dbos")
if not hasattr(durable, "DBOSDurability"):
    pytest.skip("DBOSDurability came in the course of PydanticAI 2", allow_module_level=True)

RULE = "version: 1\ntool: deep_research\nsteps:\n  - limit: 2\n"


@pytest.mark.parametrize("form", ["capability", "request alone", "processor"])
def test_a_resumed_workflow_sends_the_same_requests(form: str, tmp_path: Path) -> None:
    (tmp_path / "rule.yaml").write_text(RULE)
    received: list[bytes] = []
    where: list[str] = []

    def reported(reduction: Reduction) -> None:
        where.append(workflow())

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        received.append(ModelMessagesTypeAdapter.dump_json(messages))
        done = sum(isinstance(message, ModelResponse) for message in messages) == 2
        return ModelResponse([TextPart("Done.")] if done else [call("deep_research")])

    made = Agent(
        FunctionModel(answer),
        name="analyst",
        capabilities=[reducing(form, tmp_path, reported), durable.DBOSDurability()],
    )

    @made.tool_plain
    def deep_research() -> list[str]:
        return list(ARTICLES)

    @dbos.DBOS.workflow(name=f"investigate_{form}")
    async def investigate(question: str) -> bytes:
        return (await made.run(question)).all_messages_json()

    async def run() -> None:
        first = await dbos.DBOS.start_workflow_async(investigate, "Look into it, please.")
        stored = await first.get_result()
        assert len(received) == 3
        assert [part["content"] for message in (2, 4) for part in steady(received[2])[message]["parts"]] == [
            ARTICLES[:2]
        ] * 2
        again = await dbos.DBOS.fork_workflow_async(first.workflow_id, 3)
        assert steady(await again.get_result()) == steady(stored)
        # The answers of the first two requests were on record; the third was sent again.
        assert len(received) == 4
        assert steady(received[3]) == steady(received[2])

    with launched(tmp_path):
        asyncio.run(run())
    assert where == ["DBOS"] * 4
    assert workflow() == ""


def test_an_archive_is_refused_in_a_workflow(tmp_path: Path) -> None:
    (tmp_path / "rule.yaml").write_text(RULE)
    with Archive(tmp_path / "returns.db") as archive:
        reduce = history_processor(tmp_path / "rule.yaml", archive=archive)
        assert reduce(context(), []) == []
        with launched(tmp_path):

            @dbos.DBOS.workflow()
            def unwise() -> None:
                reduce(context(), [])

            with pytest.raises(UserError, match="a DBOS workflow does no I/O: leave out `archive` there"):
                unwise()


@contextmanager
def launched(folder: Path) -> Iterator[None]:
    level = logging.getLogger("dbos").level
    config: Any = {
        "name": "reducer-test",
        "system_database_url": f"sqlite:///{folder}/state.sqlite",
        "run_admin_server": False,
        "log_level": "ERROR",
    }
    dbos.DBOS(config=config)
    dbos.DBOS.launch()
    try:
        yield
    finally:
        dbos.DBOS.destroy()
        logging.getLogger("dbos").setLevel(level)


def reducing(form: str, rules: Path, reported: Any) -> Any:
    if form == "processor":
        return history_capability(history_processor(rules, on_reduce=reported))
    return ReduceToolReturns(rules, on_reduce=reported, persist=form == "capability")
