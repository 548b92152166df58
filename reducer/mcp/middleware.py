"""The middleware: it reduces the texts and the structured content of results, and leaves everything else alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import mcp_types as mt
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
from pydantic import TypeAdapter

from reducer.api import Reducer
from reducer.engine import Outcome, attempt
from reducer.mcp.reload import Reloading

_BLOCKS = TypeAdapter[list[mt.ContentBlock]](list[mt.ContentBlock])


class Result(NamedTuple):
    """What the rules did to the result of one tool call.

    tool: the name as the server names it
    given: the content blocks and the structured content, as JSON values
    outcome: the reduced `given`, the rule, and the fault if the rule could not be applied
    """

    tool: str
    given: dict[str, Any]
    outcome: Outcome


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
        self,
        rules: str | Path | Sequence[str | Path] | Reducer,
        *,
        on_result: Callable[[Result], None] | None = None,
        dry_run: bool = False,
    ) -> None:
        self._rules = Reloading(_reducer(rules))
        self._on_result = on_result
        self._dry_run = dry_run

    async def on_list_tools(
        self, context: MiddlewareContext[mt.ListToolsRequest], call_next: CallNext[mt.ListToolsRequest, Sequence[Tool]]
    ) -> Sequence[Tool]:
        """List the tools without their output schemas."""
        tools = await call_next(context)
        return tools if self._dry_run else [tool.model_copy(update={"output_schema": None}) for tool in tools]

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Call the tool, and reduce its result."""
        result = await call_next(context)
        if not isinstance(result, ToolResult) or isinstance(result, InputRequiredToolResult) or result.is_error:
            return result
        if await asyncio.to_thread(self._rules.reload_changed) and context.fastmcp_context is not None:
            await context.fastmcp_context.send_notification(mt.ToolListChangedNotification())
        # In a thread, so that other calls do not wait for a large result.
        return await asyncio.to_thread(self._reduced, context.message.name, result)

    def _reduced(self, tool: str, result: ToolResult) -> ToolResult:
        blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
        given: dict[str, Any] = {"content": blocks}
        # Since 2026, structured content can be any JSON value; before, servers wrote `{"result": value}`.
        is_bare = result.structured_content is not None and not isinstance(result.structured_content, dict)
        if result.structured_content is not None:
            given["structuredContent"] = {"result": result.structured_content} if is_bare else result.structured_content
        outcome = attempt(self._rules.reducer.ruleset, tool, given)
        if self._on_result is not None:
            self._on_result(Result(tool, given, outcome))
        if self._dry_run or outcome.content is given:
            return result
        structure = outcome.content.get("structuredContent")
        if is_bare:
            structure = structure["result"]
        content = result.content
        if outcome.content["content"] != blocks:
            content = _BLOCKS.validate_python(outcome.content["content"])
        return result.model_copy(update={"content": content, "structured_content": structure})


def _reducer(rules: str | Path | Sequence[str | Path] | Reducer) -> Reducer:
    if isinstance(rules, Reducer):
        return rules
    return Reducer.load(rules) if isinstance(rules, (str, Path)) else Reducer.load(*rules)
