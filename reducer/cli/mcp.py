"""Run a proxy in front of MCP servers that reduces what their tools return. In
the configuration of an MCP client, write it instead of the server. It needs
FastMCP: pip install 'reducer[mcp]'.

examples:
  python -m reducer mcp --rules rules/ -- npx -y @example/server /data
      a server that is started with a command
  python -m reducer mcp https://example.com/mcp --header "Authorization: …"
      a server with streamable HTTP
  python -m reducer mcp --config mcp.json
      all servers of a configuration; their names are prefixes of their tools

Rules match the names of tools as their server names them. Changed rule files
are loaded again. Texts and structured content are reduced; errors, images and
resources stay. Output schemas are removed from the list of tools.
Exit codes: 0 the client closed the connection, 2 cannot run.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from reducer.cli.arguments import explained, parse, parser
from reducer.cli.screen import CommandError, counted, make_table, say
from reducer.cli.sources import choose_rules, load

if TYPE_CHECKING:
    from fastmcp.client.transports import ClientTransport

    from reducer.mcp import Result


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
    add("--archive", metavar="FILE", help="keep originals, and add the tool recall_tool_return to read them")
    add("--dry-run", action="store_true", help="change nothing; report to standard error what would change")
    add("--metrics", action="store_true", help="print totals to standard error at the end")
    options = parse(reader, given)
    if sum(map(bool, (options.url, options.config, command))) != 1:
        reader.error("give one of: a URL, --config FILE, or -- and the command that starts a server")
    if options.header and not options.url:
        reader.error("--header needs a URL")
    chosen = choose_rules(options.rules)
    load(chosen)  # prints all problems before a server starts
    if find_spec("fastmcp") is None:
        raise CommandError("this verb needs FastMCP: pip install 'reducer[mcp]'")
    _serve(options, command, chosen.sources)
    return 0


def _serve(options: Any, command: Sequence[str], sources: Sequence[Any]) -> None:
    from fastmcp.server.middleware import Middleware

    from reducer.api import Reducer
    from reducer.archive import Archive
    from reducer.mcp import ReduceToolResults
    from reducer.mcp.proxy import proxy
    from reducer.mcp.recall import Recall

    logging.getLogger("fastmcp").setLevel(logging.ERROR)  # standard error is for reports
    transports = _transports(options, command)
    rules = Reducer.load(*sources)
    recall = None if options.archive is None or options.dry_run else Recall(Archive(options.archive))
    totals: dict[str, list[int]] = {}

    def on_result(result: Result) -> None:
        before, after = _characters(result.given), _characters(result.outcome.content)
        if options.metrics:
            total = totals.setdefault(result.tool, [0, 0, 0])
            for number, value in enumerate((1, before, after)):
                total[number] += value
        if options.dry_run or result.outcome.fault:
            say(_line(result, before, after))
        if recall is not None:
            recall.store(result)

    def middleware() -> list[Middleware]:
        return [ReduceToolResults(rules, on_result=on_result, dry_run=options.dry_run)]

    server = proxy(transports, middleware, [] if recall is None else [recall])
    try:
        server.run("stdio", show_banner=False)
    finally:
        if recall is not None:
            recall.close()
        if options.metrics:
            _print_totals(totals)


def _transports(options: Any, command: Sequence[str]) -> dict[str, ClientTransport]:
    from reducer.mcp.proxy import configured, http, stdio

    if command:
        return {command[0]: stdio(command)}
    if options.url:
        return {options.url: http(options.url, dict(options.header))}
    with open(options.config, "rb") as file:
        text = file.read()
    try:
        found = configured(json.loads(text))
    except ValueError as error:  # also of pydantic and json
        raise CommandError(f"{options.config}: not a configuration of MCP servers: {error}") from None
    if not found:
        raise CommandError(f'{options.config}: no servers; expected {{"mcpServers": {{"NAME": …}}}}')
    return found


@explained
def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not (colon and name.strip()):
        raise ValueError(f"expected a header such as `Authorization: Bearer TOKEN`, not {text}")
    return name.strip(), value.strip()


def _characters(result: dict[str, Any]) -> int:
    """Count the characters of the texts of a result, which are what a model sees."""
    return sum(len(block["text"]) for block in result["content"] if block["type"] == "text")


def _line(result: Result, before: int, after: int) -> str:
    """Describe what the rules do to one result."""
    outcome = result.outcome
    sizes = f"{before:,} -> {counted(after, 'character')}"
    if outcome.fault:
        return f"{result.tool}: not reduced: {outcome.fault}"
    if outcome.rule is None:
        return f"{result.tool}: no rule ({counted(before, 'character')})"
    return f"{result.tool}: {sizes} with {outcome.rule.file}"


def _print_totals(totals: dict[str, list[int]]) -> None:
    from reducer.cli.screen import console

    rows, whole = [], [0, 0, 0]
    for tool, counts in totals.items():
        rows.append([tool, *_cells(counts)])
        whole = [one + other for one, other in zip(whole, counts, strict=True)]
    titles = ("tool", "calls", "characters before", "after", "saved")
    console(sys.stderr).print(make_table(titles, rows, ["total", *_cells(whole)]))


def _cells(counts: Sequence[int]) -> list[str]:
    calls, before, after = counts
    saved = f"{1 - after / before:.1%}" if before else ""
    return [f"{calls:,}", f"{before:,}", f"{after:,}", saved]
