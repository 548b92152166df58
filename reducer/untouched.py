"""Which tool returns rules never apply to, told by the fields of the return, as objects and as stored JSON."""

from __future__ import annotations

from collections.abc import Mapping

SYNTHESIZED = "pydantic_ai_synthesized_tool_return"
"""The metadata key with which PydanticAI marks a return that it wrote itself, for a call that was never answered."""

RECALL = "recall_tool_return"
"""The tool with which a model reads the original of a return again, page by page."""


def untouched(tool: object, outcome: object, tool_kind: object, metadata: object) -> str:
    """Say why rules never apply to a tool return with these fields; empty when they do."""
    if not isinstance(tool, str):
        return "it names no tool"
    if (outcome is None or outcome == "success") and tool_kind is metadata is None and tool[:12] != "final_result" and tool != RECALL:
        return ""  # the usual case, in one step
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
