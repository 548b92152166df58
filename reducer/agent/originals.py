"""Archive the originals of reduced tool returns, and let the model recall them with a tool."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from secrets import token_hex
from typing import Any

from pydantic_ai.messages import ModelMessage, ToolReturnPart
from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import FunctionToolset

from reducer.agent.telemetry import Attempt
from reducer.archive import Archive
from reducer.archive.database import Entry, ReturnId, microseconds
from reducer.archive.recall import DESCRIPTION, Arguments, answer
from reducer.histories import RECALL
from reducer.values import stored_json

INSTRUCTION = f"`{RECALL}` reads the original of a shortened tool return: in pages, or only the part that you need."


def open_archive(archive: str | Path | Archive) -> Archive:
    """Return an archive, or open a path as one. Raises `ArchiveError`, and `TypeError` for other values."""
    return archive if isinstance(archive, Archive) else Archive(archive)


def store(
    archive: Archive, ctx: RunContext[Any], messages: Sequence[ModelMessage], attempts: Sequence[Attempt]
) -> None:
    """Archive the originals of the changed parts of `messages` in the background."""
    changed = {id(one.old): one for one in attempts if one.is_changed}
    entries = []
    for part, return_id in _return_ids(messages) if changed else ():
        if id(part) in changed:
            entries.append(partial(_entry, changed[id(part)], return_id, _owner(ctx)))
    if entries:
        archive.add(entries)


def recall_tools(archive: str | Path | Archive) -> FunctionToolset[Any]:
    """Return a toolset with the tool `recall_tool_return`, for `Agent(toolsets=[…])`.

    The tool reads returns of the history in which it is called. It explains invalid arguments and never raises.
    """
    opened = open_archive(archive)

    def recall_tool_return(ctx: RunContext[Any], **arguments: Any) -> str:
        returns = []
        for part, return_id in _return_ids(ctx.messages):
            if part.tool_name != RECALL:
                returns.append((return_id, part.content))
        return answer(returns, opened, arguments, _owner(ctx))

    tool = Tool[Any].from_schema(recall_tool_return, RECALL, DESCRIPTION, Arguments.model_json_schema(), takes_ctx=True)
    return FunctionToolset([tool], id="reducer-recall")


def _owner(ctx: RunContext[Any]) -> str:
    """Return the owner of the originals in a run: its conversation or, if that has no id, this process."""
    conversation = getattr(ctx, "conversation_id", None)  # PydanticAI 1.71 has no conversation ids
    return f"process {_process_token(os.getpid())}" if conversation is None else f"conversation {conversation}"


@cache
def _process_token(process: int) -> str:
    return token_hex(16)


def _entry(one: Attempt, return_id: ReturnId, owner: str) -> Entry:
    return Entry(return_id, stored_json(one.new.content), stored_json(one.old.content), owner=owner)


def _return_ids(messages: Sequence[ModelMessage]) -> Iterator[tuple[ToolReturnPart, ReturnId]]:
    counts: dict[str, int] = {}
    for message in messages:
        for part in message.parts if message.kind == "request" else ():
            if isinstance(part, ToolReturnPart):
                counts[part.tool_call_id] = nth = counts.get(part.tool_call_id, 0) + 1
                yield part, ReturnId(part.tool_name, part.tool_call_id, nth, microseconds(part.timestamp))
