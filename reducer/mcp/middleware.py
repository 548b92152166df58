"""The middleware for servers with FastMCP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import mcp_types as mt
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
from pydantic import TypeAdapter

from reducer.mcp.results import Result, Results, Rules

_BLOCKS = TypeAdapter[list[mt.ContentBlock]](list[mt.ContentBlock])


class ReduceToolResults(Middleware):
    """Reduces the results of tools with rules: `mcp.add_middleware(ReduceToolResults("rules"))`.

    `rules`: a path of a rule file or a folder, several paths, or a `Reducer`. Changed files are loaded again.
    `on_result`: a function that is called with a `Result` for each successful result.
    `dry_run`: change nothing; only call `on_result`.

    Text blocks and structured content are reduced alike. Errors, images, resources and metadata stay. The middleware
    removes the output schemas of all tools from the list, because a reduced result may not match them.

    Raises `RuleError` for rules that cannot be loaded, and OSError for files that cannot be read.
    """

    def __init__(
        self, rules: Rules, *, on_result: Callable[[Result], None] | None = None, dry_run: bool = False
    ) -> None:
        self._results = Results(rules, on_result, dry_run)

    async def on_list_tools(
        self, context: MiddlewareContext[mt.ListToolsRequest], call_next: CallNext[mt.ListToolsRequest, Sequence[Tool]]
    ) -> Sequence[Tool]:
        """List the tools without their output schemas."""
        tools = await call_next(context)
        return tools if self._results.dry_run else [tool.model_copy(update={"output_schema": None}) for tool in tools]

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Call the tool, and reduce its result."""
        result = await call_next(context)
        if not isinstance(result, ToolResult) or isinstance(result, InputRequiredToolResult) or result.is_error:
            return result
        if await asyncio.to_thread(self._results.reload_changed) and context.fastmcp_context is not None:
            await context.fastmcp_context.send_notification(mt.ToolListChangedNotification())
        # In a thread, so that other calls do not wait for a large result.
        return await asyncio.to_thread(self._reduced, context.message.name, result)

    def _reduced(self, tool: str, result: ToolResult) -> ToolResult:
        blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
        given = {"content": blocks, "structuredContent": result.structured_content}
        reduced = self._results.reduced(tool, given)
        if reduced is given:
            return result
        content = _BLOCKS.validate_python(reduced["content"])
        return result.model_copy(update={"content": content, "structured_content": reduced["structuredContent"]})
