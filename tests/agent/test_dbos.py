"""A DBOS workflow on SQLite sends the same requests when it is resumed after a crash."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo

from reducer.agent import history_processor
from reducer.agent.telemetry import workflow
from reducer.archive import Archive
from tests.agent.agents import ARTICLES, FORMS, PROMPT, Script, analyst, context, reducing, script, steady

dbos = pytest.importorskip("dbos")
durable = pytest.importorskip("pydantic_ai.durable_exec.dbos")
if not hasattr(durable, "DBOSDurability"):
    pytest.skip("this PydanticAI has no DBOSDurability", allow_module_level=True)


@pytest.fixture
def launched(tmp_path: Path) -> Iterator[None]:
    level = logging.getLogger("dbos").level
    config = {"name": "reducer-test", "run_admin_server": False, "log_level": "ERROR"}
    dbos.DBOS(config={**config, "system_database_url": f"sqlite:///{tmp_path}/state.sqlite"})
    dbos.DBOS.launch()
    yield
    dbos.DBOS.destroy()
    logging.getLogger("dbos").setLevel(level)


class Resumable(Script):
    """A script that counts earlier responses to find its answer, because a resumed workflow repeats a request."""

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        super().answer(messages, info)
        return ModelResponse(self.answers[sum(isinstance(message, ModelResponse) for message in messages)])


@pytest.mark.parametrize("form", FORMS)
def test_a_resumed_workflow_sends_the_same_requests(form: str, rules: Path, launched: None) -> None:
    where: list[str] = []
    asked = Resumable(script("deep_research", "deep_research").answers * 2)
    capability = reducing(form, rules, on_reduce=lambda reduction: where.append(workflow()))
    made = analyst(asked, capability, durable.DBOSDurability(), name="analyst")

    @dbos.DBOS.workflow(name=f"investigate_{form}")
    async def investigate(question: str) -> bytes:
        return (await made.run(question)).all_messages_json()

    async def run() -> None:
        first = await dbos.DBOS.start_workflow_async(investigate, PROMPT)
        stored = await first.get_result()
        assert asked.contents(2) == [ARTICLES[:2]] * 2
        again = await dbos.DBOS.fork_workflow_async(first.workflow_id, 3)
        assert steady(await again.get_result()) == steady(stored)

    asyncio.run(run())
    # The answers of the first two requests were recorded; the third was sent again.
    assert len(asked.received) == 4
    assert steady(asked.received[3]) == steady(asked.received[2])
    assert where == ["DBOS"] * 4
    assert workflow() == ""


def test_an_archive_is_refused_in_a_workflow(rules: Path, archive: Archive, launched: None) -> None:
    reduce = history_processor(rules, archive=archive)
    assert reduce(context(), []) == []

    @dbos.DBOS.workflow()
    def unwise() -> None:
        reduce(context(), [])

    with pytest.raises(UserError, match="a DBOS workflow does no I/O: leave out `archive` there"):
        unwise()
