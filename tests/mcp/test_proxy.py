"""The middleware in a server, and the proxy as a process in front of servers with stdio and HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastmcp", minversion="4.1")

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport

from reducer import Reducer, RuleError
from reducer.mcp import ReduceToolResults, Result
from tests.mcp.server import LOG, ROWS, server

SERVER = str(Path(__file__).with_name("server.py"))
RULES = {
    "search.yaml": "version: 1\ntool: search\nsteps:\n  - limit: 2\n",
    "report.yaml": "version: 1\ntool: report\nsteps:\n  - path: rows\n    limit: 2\n",
    "log.yaml": "version: 1\ntool: [log, picture, failed]\nsteps:\n  - truncate: 40\n",
}
MARKER = "…[38 more items]"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    for name, text in RULES.items():
        (folder / name).write_text(text)
    return folder


def reducing(rules: Path | Reducer, **options: Any) -> FastMCP[Any]:
    """Return the server of the tests behind the middleware."""
    front = FastMCP[Any]("front")
    front.mount(server)
    front.add_middleware(ReduceToolResults(rules, **options))
    return front


def ask(target: Any, use: Callable[[Client[Any]], Awaitable[Any]], **options: Any) -> Any:
    async def run() -> Any:
        async with Client(target, **options) as client:
            return await use(client)

    return asyncio.run(run())


def call(target: Any, tool: str, arguments: dict[str, Any] | None = None) -> Any:
    return ask(target, lambda client: client.call_tool_mcp(tool, arguments or {}))


def proxied(*arguments: str | Path, stderr: Path | None = None) -> StdioTransport:
    """Return the transport to `python -m reducer mcp` with these arguments."""
    command = ["-m", "reducer", "mcp", *map(str, arguments)]
    return StdioTransport(sys.executable, command, env=dict(os.environ), keep_alive=False, log_file=stderr)


def behind(rules: Path, *options: str | Path, **more: Any) -> StdioTransport:
    return proxied("--rules", rules, *options, "--", sys.executable, SERVER, **more)


# --- the middleware


def test_texts_and_structures_are_reduced_alike(rules: Path) -> None:
    result = call(reducing(rules), "search", {"query": "x"})
    expected = [*ROWS[:2], MARKER]
    assert result.structured_content == {"result": expected}
    assert [json.loads(block.text) for block in result.content] == [expected]

    result = call(reducing(rules), "report")
    assert result.structured_content == {"rows": expected, "total": 40}
    assert json.loads(result.content[0].text) == result.structured_content


def test_pictures_and_metadata_stay(rules: Path) -> None:
    text, image = call(reducing(rules), "picture").content
    assert text.text.startswith("line 0 of a log\nline 1")
    assert text.text.endswith(" more characters]")
    assert image.data == "aGVsbG8="
    assert call(reducing(rules), "picture").meta["page"] == 1


def test_errors_stay(rules: Path) -> None:
    result = call(reducing(rules), "failed")
    assert result.is_error
    assert result.content[0].text == LOG


def test_a_tool_without_a_rule_stays(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(RULES["search.yaml"].replace("search", "other"))
    result = call(reducing(tmp_path), "search", {"query": "x"})
    assert result.structured_content == {"result": ROWS}
    assert json.loads(result.content[0].text) == ROWS


def test_tools_have_no_output_schema(rules: Path) -> None:
    before = ask(server, lambda client: client.list_tools())
    after = ask(reducing(rules), lambda client: client.list_tools())
    assert any(tool.output_schema for tool in before)
    assert [tool.model_copy(update={"output_schema": None}) for tool in before] == after


def test_a_dry_run_changes_nothing_and_reports(rules: Path) -> None:
    found: list[Result] = []
    front = reducing(rules, dry_run=True, on_result=found.append)
    assert call(front, "log").content[0].text == LOG
    assert [(one.tool, one.outcome.content["content"][0]["text"] != LOG) for one in found] == [("log", True)]


def test_changed_rules_are_loaded_again(rules: Path) -> None:
    front = reducing(rules)
    messages: list[Any] = []

    async def change(client: Client[Any]) -> list[int]:
        sizes = []
        for text in (None, RULES["search.yaml"].replace("2", "5"), "tool: search\nsteps: [limit: x]\n"):
            if text is not None:
                (rules / "search.yaml").write_text(text)
            result = await client.call_tool_mcp("search", {"query": "x"})
            sizes.append(len(result.structured_content["result"]))
        return sizes

    async def receive(message: Any) -> None:
        messages.append(message)

    assert ask(front, change, message_handler=receive) == [3, 6, 6]


def test_rules_with_errors_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("version: 1\ntool: search\nsteps:\n  - limt: 2\n")
    with pytest.raises(RuleError, match="limt"):
        ReduceToolResults(tmp_path)


# --- the proxy


def test_everything_else_passes(rules: Path) -> None:
    progress: list[Any] = []

    async def report(*given: Any) -> None:
        progress.append(given)

    async def use(client: Client[Any]) -> Any:
        return [
            [tool.name for tool in await client.list_tools()],
            (await client.call_tool_mcp("work", {})).content[0].text,
            (await client.read_resource("data://x"))[0].text,
            (await client.get_prompt("ask", {"about": "this"})).messages[0].content.text,
            len((await client.call_tool_mcp("search", {"query": "x"})).structured_content["result"]),
        ]

    names = ["search", "report", "log", "picture", "failed", "work"]
    found = ask(behind(rules), use, progress_handler=report)
    assert found == [names, "done", LOG, "What is this?", 3]
    assert progress == [(1.0, 2.0, "half")]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, SERVER, str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


def test_a_server_with_http(rules: Path, address: str) -> None:
    result = call(proxied("--rules", rules, address), "search", {"query": "x"})
    assert result.structured_content == {"result": [*ROWS[:2], MARKER]}


def test_rules_match_the_names_of_each_server(rules: Path, tmp_path: Path, address: str) -> None:
    servers = {"one": {"command": sys.executable, "args": [SERVER]}, "two": {"url": address}}
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    transport = proxied("--rules", rules, "--config", config)
    for name in ("one_search", "two_search"):
        assert len(call(transport, name, {"query": "x"}).structured_content["result"]) == 3


def test_originals_can_be_recalled(rules: Path, tmp_path: Path) -> None:
    async def use(client: Client[Any]) -> list[str]:
        await client.call_tool_mcp("search", {"query": "x"})
        found = []
        for arguments in ({}, {"tool_call_id": "1", "path": "[39].title"}, {"tool_call_id": "2"}):
            result = await client.call_tool_mcp("recall_tool_return", arguments)
            found.append(result.content[0].text)
        return found

    listed, recalled, unknown = ask(behind(rules, "--archive", tmp_path / "originals.db"), use)
    assert listed == "The tool returns of this conversation:\n- `1`: search"
    assert recalled.endswith("`[39].title` in the original: characters 0-8 of 8\nTitle 39")
    assert unknown.startswith("No tool return has the id `2`.")


def test_reports_go_to_standard_error(rules: Path, tmp_path: Path) -> None:
    errors = tmp_path / "errors.txt"
    result = call(behind(rules, "--dry-run", "--metrics", stderr=errors), "log")
    assert result.content[0].text == LOG
    text = errors.read_text()
    assert f"reducer: log: {len(LOG):,} -> " in text
    assert "characters before" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one of: a URL, --config FILE, or -- and the command that starts a server"),
        (["--header", "Authorization", "http://x"], "expected a header such as `Authorization: Bearer TOKEN`"),
        (["--header", "a: b", "--", "x"], "--header needs a URL"),
        (["--config", "nothing.json"], "nothing.json: No such file or directory"),
        (["--config", "{rules}/log.yaml"], "log.yaml: not a configuration of MCP servers"),
        (["--rules", "{rules}/bad.yaml", "--", "x"], "1 error in the rules"),
    ],
)
def test_what_cannot_run(rules: Path, arguments: list[str], message: str) -> None:
    (rules / "bad.yaml").write_text("version: 1\ntool: search\nsteps:\n  - limt: 2\n")
    given = [argument.format(rules=rules) for argument in arguments]
    if "--rules" not in given:
        given[:0] = ["--rules", str(rules / "log.yaml")]
    command = [sys.executable, "-m", "reducer", "mcp", *given]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 2
    assert message in done.stderr
