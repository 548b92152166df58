"""Run a proxy in front of MCP servers that reduces what their tools return. In
the configuration of an MCP client, write it instead of the server. HTTP and
several servers need FastMCP: pip install 'reducer[mcp]'.

examples:
  python -m reducer mcp --rules rules/ -- npx -y @example/server /data
      a server that is started with a command
  python -m reducer mcp https://example.com/mcp --header "Authorization: …"
      a server with streamable HTTP
  python -m reducer mcp --config mcp.json
      all servers of a configuration; their names are prefixes of their tools

Rules match the names of tools as their server names them. Changed rule files
are loaded again. Texts and structured content are reduced; everything else
passes. Output schemas are removed from the list of tools.
Exit codes: 0 the client closed the connection, 1 the server closed it, 2 cannot
run.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from importlib.util import find_spec
from typing import Any

from reducer.api import Reducer
from reducer.archive import Archive
from reducer.cli.arguments import explained, parse, parser
from reducer.cli.screen import CommandError, counted, say
from reducer.cli.sources import choose_rules, load
from reducer.mcp import Result
from reducer.mcp.recall import Recall
from reducer.mcp.relay import Relay
from reducer.mcp.results import Results
from reducer.mcp.servers import Address, Http, Process, read_addresses


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`, `ArchiveError` and OSError."""
    given = list(arguments)
    command: list[str] = []
    if "--" in given:
        at = given.index("--")
        given, command = given[:at], given[at + 1 :]
    reader = parser("mcp", __doc__, ("--rules",))
    reader.usage = "reducer mcp [-h] [options] (URL | --config FILE | -- COMMAND ...)"
    add = reader.add_argument
    add("url", nargs="?", metavar="URL", help="address of a server with streamable HTTP")
    add("--header", type=_header, action="append", default=[], metavar="HEADER", help="header for URL; repeatable")
    add("--config", metavar="FILE", help="JSON file with mcpServers, as MCP clients write it")
    add("--server", metavar="NAME", help="only this server of the configuration")
    add("--archive", metavar="FILE", help="keep originals, and add the tool recall_tool_return to read them")
    add("--dry-run", action="store_true", help="change nothing; report to standard error what would change")
    add("--metrics", action="store_true", help="print totals to standard error at the end")
    options = parse(reader, given)
    if sum(map(bool, (options.url, options.config, command))) != 1:
        reader.error("give one of: a URL, --config FILE, or -- and the command that starts a server")
    if options.header and not options.url:
        reader.error("--header needs a URL")
    if options.server and not options.config:
        reader.error("--server needs --config")
    chosen = choose_rules(options.rules)
    rules = Reducer(load(chosen), chosen.sources)  # prints all problems before a server starts
    addresses = _addresses(options, command)
    only = next(iter(addresses.values()))
    if (len(addresses) > 1 or only.url) and find_spec("fastmcp") is None:
        raise CommandError("servers with HTTP and several servers need FastMCP: pip install 'reducer[mcp]'")
    if len(addresses) > 1:
        return _serve_each(addresses, given)
    return _serve(only, rules, options)


def _addresses(options: Any, command: list[str]) -> dict[str, Address]:
    if command:
        return {"server": Address(command=command[0], args=command[1:])}
    if options.url:
        return {"server": Address(url=options.url, headers=dict(options.header))}
    with open(options.config, "rb") as file:
        text = file.read()
    try:
        found = read_addresses(text)
    except ValueError as error:
        raise CommandError(f"{options.config}: not a configuration of MCP servers: {error}") from None
    if options.server is not None:
        found = {name: address for name, address in found.items() if name == options.server}
    if not found:
        raise CommandError(f'{options.config}: no servers; expected {{"mcpServers": {{"NAME": …}}}}')
    return found


def _serve_each(names: Iterable[str], arguments: Sequence[str]) -> int:
    """Serve several servers, each behind a proxy of its own; their names are prefixes of their tools."""
    from fastmcp.server import create_proxy

    logging.getLogger("fastmcp").setLevel(logging.ERROR)  # standard error is for reports
    proxies = {}
    for name in names:
        command = ["-m", "reducer", "mcp", *arguments, "--server", name]
        proxies[name] = {"command": sys.executable, "args": command, "env": dict(os.environ)}
    create_proxy({"mcpServers": proxies}, name="reducer").run("stdio", show_banner=False)
    return 0


def _serve(address: Address, rules: Reducer, options: Any) -> int:
    recall = None if options.archive is None or options.dry_run else Recall(Archive(options.archive))
    totals: dict[str, tuple[int, int, int]] = {}

    def on_result(result: Result) -> None:
        before, after = _characters(result.given), _characters(result.outcome.content)
        calls, all_before, all_after = totals.get(result.tool, (0, 0, 0))
        totals[result.tool] = (calls + 1, all_before + before, all_after + after)
        if options.dry_run or result.outcome.fault:
            say(_line(result, before, after))
        if recall is not None:
            recall.store(result)

    with nullcontext() if recall is None else closing(recall):
        server = Process(address) if address.command else Http(address)
        relay = Relay(server, Results(rules, on_result, options.dry_run), recall, sys.stdout.buffer)
        client_closed = relay.run(_lines(sys.stdin.fileno()))
    if options.metrics:
        for tool, (calls, before, after) in totals.items():
            say(f"{tool}: {before:,} -> {counted(after, 'character')} in {counted(calls, 'call')}")
    return 0 if client_closed else 1


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield the lines of a file. A thread that waits for the next one does not delay the end of the process."""
    parts: list[bytes] = []
    while chunk := os.read(descriptor, 1 << 16):
        end, *lines = chunk.split(b"\n")
        parts.append(end)
        for line in lines:
            yield b"".join(parts)
            parts = [line]


@explained
def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not (colon and name.strip()):
        raise ValueError(f"expected a header such as `Authorization: Bearer TOKEN`, not {text}")
    return name.strip(), value.strip()


def _characters(result: dict[str, Any]) -> int:
    """Count the characters of the texts of a result, which are what a model sees."""
    texts = [block.get("text") for block in result["content"] if isinstance(block, dict)]
    return sum(len(text) for text in texts if isinstance(text, str))


def _line(result: Result, before: int, after: int) -> str:
    """Describe what the rules do to one result."""
    outcome = result.outcome
    if outcome.fault:
        return f"{result.tool}: not reduced: {outcome.fault}"
    if outcome.rule is None:
        return f"{result.tool}: no rule ({counted(before, 'character')})"
    return f"{result.tool}: {before:,} -> {counted(after, 'character')} with {outcome.rule.file}"
