"""Keeps the originals of reduced results in an archive, and lets the model read them with a tool."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from secrets import token_hex
from typing import Any

import mcp_types as mt
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import Tool, ToolResult

from reducer.archive import Archive
from reducer.archive.database import Entry, ReturnId
from reducer.archive.recall import DESCRIPTION, Arguments, HistoryReturn, answer
from reducer.formats import unwrapped
from reducer.histories import RECALL
from reducer.mcp.middleware import Result
from reducer.values import stored_json


class Recall(Middleware):
    """Adds the tool `recall_tool_return`, which reads the originals of the results that `store` received.

    A client does not tell servers the ids of its calls, so the results are numbered from 1. The tool without arguments
    lists them. The proxy serves one client, so all of them are its own.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._owner = f"proxy {token_hex(16)}"
        self._returns: list[HistoryReturn] = []

    def store(self, result: Result) -> None:
        """Archive the original of a result if it was reduced."""
        if result.outcome.rule is None or result.outcome.content is result.given:
            return
        found = ReturnId(result.tool, str(len(self._returns) + 1), 1, time.time_ns() // 1000)
        reduced, original = unwrapped(result.outcome.content), unwrapped(result.given)
        self._returns.append((found, reduced))
        self._archive.add([Entry(found, stored_json(reduced), stored_json(original), owner=self._owner)])

    def close(self) -> None:
        """Write all originals, and close the archive."""
        self._archive.close()

    async def on_list_tools(
        self, context: MiddlewareContext[mt.ListToolsRequest], call_next: CallNext[mt.ListToolsRequest, Sequence[Tool]]
    ) -> Sequence[Tool]:
        """List the tools of the server and the tool that recalls originals."""
        tool = Tool(name=RECALL, description=DESCRIPTION, parameters=Arguments.model_json_schema())
        return [*await call_next(context), tool]

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Answer calls of the tool that recalls originals."""
        if context.message.name != RECALL:
            return await call_next(context)
        arguments: dict[str, Any] = context.message.arguments or {}
        text = await asyncio.to_thread(answer, self._returns, self._archive, arguments, self._owner)
        return ToolResult(content=[mt.TextContent(type="text", text=text)])
