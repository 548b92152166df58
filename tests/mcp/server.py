"""A server with one tool for each kind of result; with a port as its argument it uses HTTP."""

from __future__ import annotations

import sys
from typing import Any

import mcp_types as mt
from fastmcp import Context, FastMCP
from fastmcp.tools.base import ToolResult

server = FastMCP("demo", instructions="Ask me.")
ROWS = [{"id": number, "title": f"Title {number}", "body": "word " * 60} for number in range(40)]
LOG = "".join(f"line {number} of a log\n" for number in range(400))


@server.tool
def search(query: str) -> list[dict[str, Any]]:
    """Find rows."""
    return ROWS


@server.tool
def report() -> dict[str, Any]:
    """Return an object."""
    return {"rows": ROWS, "total": len(ROWS)}


@server.tool
def log() -> str:
    """Return a text."""
    return LOG


@server.tool
def picture() -> ToolResult:
    """Return a text and a picture."""
    image = mt.ImageContent(type="image", data="aGVsbG8=", mime_type="image/png")
    return ToolResult(content=[mt.TextContent(type="text", text=LOG), image], meta={"page": 1})


@server.tool
def failed() -> ToolResult:
    """Return an error."""
    return ToolResult(content=[mt.TextContent(type="text", text=LOG)], is_error=True)


@server.tool
async def work(context: Context) -> str:
    """Report progress."""
    await context.report_progress(1, 2, "half")
    return "done"


@server.resource("data://x")
def resource() -> str:
    """Return a resource."""
    return LOG


@server.prompt
def ask(about: str) -> str:
    """Return a prompt."""
    return f"What is {about}?"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="http", port=int(sys.argv[1]), show_banner=False)
    else:
        server.run(show_banner=False)
