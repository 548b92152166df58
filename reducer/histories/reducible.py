"""Which tool returns rules never apply to, by the fields of the return."""

from __future__ import annotations

from collections.abc import Mapping

SYNTHESIZED = "pydantic_ai_synthesized_tool_return"
"""The metadata key with which PydanticAI marks a return that it wrote itself, for a call without an answer."""

RECALL = "recall_tool_return"
"""The tool with which a model reads the original of a return again, page by page."""


def why_untouched(tool: object, outcome: object = None, tool_kind: object = None, metadata: object = None) -> str:
    """Return the reason why rules never apply to a tool return with these fields; empty if they do."""
    if type(tool) is not str:
        return "it names no tool"
    if tool.startswith("final_result"):
        return "it answers an output tool"
    if tool == RECALL:
        return "it is what the model asked to see again"
    if outcome is not None and outcome != "success":
        return f"its outcome is {outcome}"
    if tool_kind is not None:
        return f"its tool kind is {tool_kind}"
    if isinstance(metadata, Mapping) and SYNTHESIZED in metadata:
        return "PydanticAI wrote it for a call without an answer"
    return ""
