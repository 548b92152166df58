"""A soak test: 100 agents share an archive over 20 runs each, while their processes are killed at random.

`python -m tests.archive.soak [SEED]` takes about a minute on two cores; the seed determines when it kills. Each
agent continues from the history that it stored after its last complete run. Each recalled original must belong to the
conversation. In the end, every original in the archive must be readable, each conversation must find its own originals,
and no conversation those of another. All tools return the same content except a secret, which the rule removes, and all
calls have the same id.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from reducer import Reducer
from reducer.agent import Archive, ReduceToolReturns
from reducer.agent.originals import _return_ids as return_ids
from reducer.archive.database import _load as load
from reducer.archive.database import open_to_read

AGENTS, RUNS, WORKERS, KILLS = 100, 20, 4, 40
RULE = "version: 1\ntool: look\nmark: false\nsteps:\n  - {path: rows, limit: 2}\n  - {drop: note}\n"
SECRET = re.compile(r"secret of agent \d+ in run \d+")


def secret(agent: int, run: int) -> str:
    return f"secret of agent {agent} in run {run}"


async def hold(file: Path, number: int, rules: Reducer, archive: Archive) -> None:
    """Make the runs that are left of a conversation. Store the history after each, once its originals are written."""
    history = ModelMessagesTypeAdapter.validate_json(file.read_bytes() if file.exists() else b"[]")
    prompts = [part for message in history for part in message.parts if isinstance(part, UserPromptPart)]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        """Check the last part; then call the tool, recall its original in some runs, and end."""
        last = messages[-1].parts[-1]
        if not isinstance(last, ToolReturnPart):
            return ModelResponse([ToolCallPart("look", {}, "call")])
        if last.tool_name != "look":
            assert SECRET.findall(last.content) == [secret(number, run)], last.content
            return ModelResponse([TextPart("Done.")])
        assert last.content == {"rows": [0, 1], "note": ""}
        if run % 4 == number % 4:
            return ModelResponse([ToolCallPart("recall_tool_return", {"tool_call_id": "call", "find": "secret"}, "id")])
        return ModelResponse([TextPart("Done.")])

    capability: Any = ReduceToolReturns(rules, archive=archive)
    agent = Agent(FunctionModel(answer), capabilities=[capability])
    agent.tool_plain(name="look")(lambda: {"rows": list(range(40)), "note": secret(number, run)})
    for run in range(len(prompts), RUNS):
        options: dict[str, Any] = {"message_history": history, "conversation_id": f"{number}"}
        result = await agent.run(f"Run {run}.", **options)
        history = result.all_messages()
        assert await asyncio.to_thread(archive.flush)
        assert archive.failures == 0
        new = file.with_suffix(".tmp")
        new.write_bytes(result.all_messages_json())
        new.replace(file)


def work(folder: Path, worker: int) -> None:
    async def hold_all() -> None:
        numbers = range(worker, AGENTS, WORKERS)
        await asyncio.gather(*(hold(folder / f"{number}.json", number, rules, archive) for number in numbers))

    rules = Reducer.load(folder / "look.yaml")
    with Archive(folder / "returns.db", timeout=60) as archive:
        asyncio.run(hold_all())


def soak(folder: Path, random: Random) -> int:
    """Let processes hold all conversations, kill one of them from time to time, and return how often."""
    fork = multiprocessing.get_context("fork")
    running: dict[int, Any] = {}
    kills = 0
    while True:
        for worker in range(WORKERS):
            process = running.get(worker)
            if process is None or process.exitcode == -signal.SIGKILL:
                running[worker] = fork.Process(target=work, args=(folder, worker), daemon=True)
                running[worker].start()
            elif process.exitcode:
                sys.exit(f"worker {worker} failed")
        if all(process.exitcode == 0 for process in running.values()):
            return kills
        time.sleep(random.uniform(0.1, 1.5))
        process = running[random.randrange(WORKERS)]
        if kills < KILLS and process.is_alive():
            process.kill()
            process.join()
            kills += 1


def check(folder: Path) -> int:
    """Check the archive and all histories, and return the number of returns in the archive."""
    archive = Archive(folder / "returns.db")  # refuses a damaged file
    with open_to_read(archive.path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = connection.execute("SELECT count(*), count(DISTINCT owner) FROM returns").fetchone()
        assert rows[0] >= AGENTS * RUNS
        assert rows[1] == AGENTS
        for (original,) in connection.execute("SELECT id FROM originals"):
            assert SECRET.search(json.loads(load(connection, original).data or b"{}")["note"])
    for number in range(AGENTS):
        history = ModelMessagesTypeAdapter.validate_json((folder / f"{number}.json").read_bytes())
        looks = [one for one in return_ids(history) if one[1].tool == "look"]
        assert len(looks) == RUNS
        for run, (part, return_id) in enumerate(looks):
            own = archive.find(return_id, part.content, f"conversation {number}")
            assert json.loads(own.data or b"{}")["note"] == secret(number, run)
            other = archive.find(return_id, part.content, f"conversation {(number + 1) % AGENTS}")
            assert secret(number, run).encode() not in (other.data or b"")
    return int(rows[0])


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else int.from_bytes(os.urandom(4))
    print(f"seed {seed}", flush=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "look.yaml").write_text(RULE)
        kills = soak(folder, Random(seed))
        rows = check(folder)
    took = time.monotonic() - start
    print(f"{AGENTS} agents x {RUNS} runs, {kills} processes killed, {rows:,} returns in the archive, {took:.0f} s")


if __name__ == "__main__":
    main()
