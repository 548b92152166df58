"""The middleware in a server, and the proxy as a process in front of servers with stdio and HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastmcp", minversion="4.1")

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport

from reducer import Reducer, RuleError
from reducer.mcp import ReduceToolResults, Result
from tests.mcp.features import see
from tests.mcp.hostile import ROWS as MANY_ROWS
from tests.mcp.server import LOG, ROWS, server

SERVER = str(Path(__file__).with_name("server.py"))
HOSTILE = str(Path(__file__).with_name("hostile.py"))
FEATURES = str(Path(__file__).with_name("features.py"))
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


def seen_by(command: Sequence[str | Path], errors: Path) -> dict[str, Any]:
    """Return what a client sees of a server that it starts, and uses with all features of MCP."""
    return asyncio.run(see([sys.executable, *map(str, command)], errors))


def test_everything_else_passes(rules: Path, tmp_path: Path) -> None:
    """Sampling, elicitation, roots, progress, cancellation, logs, changes, resources, prompts, completion, pages."""
    server = [sys.executable, FEATURES]
    direct = seen_by(server[1:], tmp_path / "errors")
    assert {"sampling", "elicitation", "roots", "progress", "logs", "messages"} <= direct.keys()
    assert direct["cancelled"]["structured_content"]["value"] == ["wait"]
    assert seen_by(["-m", "reducer", "mcp", "--rules", rules, "--", *server], tmp_path / "errors") == direct


def test_everything_else_passes_with_an_archive(rules: Path, tmp_path: Path) -> None:
    server = [sys.executable, FEATURES]
    options = ["--rules", rules, "--archive", tmp_path / "originals.db"]
    direct = seen_by(server[1:], tmp_path / "errors")
    found = seen_by(["-m", "reducer", "mcp", *options, "--", *server], tmp_path / "errors")
    assert found["tools"]["tools"].pop()["name"] == "recall_tool_return"
    assert found == direct


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_old_and_new_versions_of_the_protocol(rules: Path, mode: Any) -> None:
    async def use(client: Client[Any]) -> Any:
        tools = [tool.name for tool in await client.list_tools()]
        return client.protocol_version, tools, (await client.call_tool_mcp("search", {"query": "x"})).structured_content

    version, tools, found = ask(behind(rules), use, mode=mode)
    assert version == ask(StdioTransport(sys.executable, [SERVER]), use, mode=mode)[0]
    assert tools == ["search", "report", "log", "picture", "failed", "work"]
    assert found == {"result": [*ROWS[:2], MARKER]}


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
    assert re.search(r"reducer: log: [\d,]+ -> \d+ characters in 1 call\n", text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one of: a URL, --config FILE, or -- and the command that starts a server"),
        (["--header", "Authorization", "http://x"], "expected a header such as `Authorization: Bearer TOKEN`"),
        (["--header", "a: b", "--", "x"], "--header needs a URL"),
        (["--server", "files", "--", "x"], "--server needs --config"),
        (["--", "no-such-command"], "no-such-command: No such file or directory"),
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


# --- servers that do what no server should


def exchange(command: Sequence[str | Path], *requests: tuple[str, str]) -> tuple[int, list[Any]]:
    """Send requests to a command, each after the response before, and return its exit code and the responses."""
    responses = []
    given = [sys.executable, *map(str, command)]
    with subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number, (method, name) in enumerate(requests):
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"name": name, "arguments": {}}}
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            responses.append(process.stdout.readline())
    return process.returncode, responses


@pytest.fixture
def hostile(tmp_path: Path) -> list[str | Path]:
    """The command of the proxy in front of the server, with a rule for all its tools."""
    rule = tmp_path / "rule.yaml"
    rule.write_text("version: 1\ntool: '*'\nsteps:\n  - limit: 2\n")
    archive = ["--archive", tmp_path / "originals.db"]
    return ["-m", "reducer", "mcp", "--rules", rule, *archive, "--", sys.executable, HOSTILE]


def test_twenty_megabytes_are_reduced(hostile: list[str | Path]) -> None:
    code, (line,) = exchange(hostile, ("tools/call", "rows"))
    assert len(json.dumps(MANY_ROWS)) > 20_000_000
    assert json.loads(json.loads(line)["result"]["content"][0]["text"]) == [*MANY_ROWS[:2], "…[9998 more items]"]
    assert code == 0


def test_lone_surrogates_are_reduced(hostile: list[str | Path]) -> None:
    _, (line,) = exchange(hostile, ("tools/call", "surrogates"))
    item = {"id": "\ud83d", "body": "\udfff"}
    assert json.loads(json.loads(line)["result"]["content"][0]["text"]) == [item, item, "…[98 more items]"]


@pytest.mark.parametrize("tool", ["deep", "malformed"])
def test_what_cannot_be_read_passes(hostile: list[str | Path], tool: str) -> None:
    given = [("tools/call", tool), ("initialize", "")]
    assert exchange(hostile, *given) == exchange([HOSTILE], *given)


def test_a_server_that_dies_in_a_call(hostile: list[str | Path]) -> None:
    code, (_, line) = exchange(hostile, ("initialize", ""), ("tools/call", "die"))
    assert json.loads(line)["error"] == {"code": -32000, "message": "the server closed the connection"}
    assert code == 1


def test_a_notification_has_no_response(hostile: list[str | Path]) -> None:
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n"
    given = [sys.executable, *map(str, hostile)]
    done = subprocess.run(given, input=line, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == ""


def test_a_tool_of_the_server_that_has_the_name_of_ours(hostile: list[str | Path]) -> None:
    _, (listed, called) = exchange(hostile, ("tools/list", ""), ("tools/call", "recall_tool_return"))
    names = [tool["name"] for tool in json.loads(listed)["result"]["tools"]]
    assert names == ["few", "recall_tool_return"]
    assert "more items" in called
