"""The tool with which a model reads the original of an earlier tool answer."""

from __future__ import annotations

from typing import Any

from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import FunctionToolset
from pydantic_core import SchemaValidator
from pydantic_core.core_schema import any_schema, dict_schema, no_info_before_validator_function, str_schema

from reducer.agent.filing import numbered
from reducer.archive import Archive
from reducer.archive.entries import Place, instant
from reducer.archive.recall import DESCRIPTION, SCHEMA, Held, answer
from reducer.untouched import RECALL

INSTRUCTION = f"`{RECALL}` reads such an answer as it was before, page by page, or only what you look for in it."
"""What the model is told besides, where there is an archive."""


def recall_tools(archive: Archive) -> FunctionToolset[Any]:
    """Make the toolset with the one tool `recall_tool_return`, for `Agent(toolsets=[…])`; `ReduceToolReturns` with an archive has it.

    It reads the returns of the history that it is called in, and no others of the archive. Wrong arguments are answered, not raised.
    """

    def recall_tool_return(ctx: RunContext[Any], **arguments: Any) -> str:
        held = [
            Held(Place(part.tool_name, part.tool_call_id, nth, instant(part.timestamp)), part.content)
            for part, nth in numbered(ctx.messages)
            if part.tool_name != RECALL
        ]
        return answer(held, archive, arguments)

    tool = Tool[Any].from_schema(recall_tool_return, RECALL, DESCRIPTION, SCHEMA, takes_ctx=True)
    # Arguments that are no object would be refused by raising; without any, the tool lists what there is.
    named = dict_schema(str_schema(), any_schema())
    tool.function_schema.validator = SchemaValidator(no_info_before_validator_function(lambda given: given if isinstance(given, dict) else {}, named))
    return FunctionToolset([tool], id="reducer-recall")
