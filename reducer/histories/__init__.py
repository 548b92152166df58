"""Find the tool returns of a history, and write back only the contents that change.

`stored.reduce_json(data, reduce)` takes and returns JSON bytes; `live.reduce_messages(messages, reduce)` takes and
returns PydanticAI objects. A stored format is a module in `formats/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from reducer.references import Mentions

RECALL = "recall_tool_return"
"""The tool with which a model reads the original of a tool return, page by page."""

_SYNTHESIZED = "pydantic_ai_synthesized_tool_return"


def why_untouched(tool: object, outcome: object = None, tool_kind: object = None, metadata: object = None) -> str:
    """Return the reason why rules never apply to a tool return with these fields, or an empty text if they do."""
    if type(tool) is not str:
        return "it has no tool name"
    if tool.startswith("final_result"):
        return "it answers an output tool"
    if tool == RECALL:
        return "it answers the recall tool"
    if outcome is not None and outcome != "success":
        return f"its outcome is {outcome}"
    if tool_kind is not None:
        return f"its tool kind is {tool_kind}"
    if isinstance(metadata, Mapping) and _SYNTHESIZED in metadata:
        return "PydanticAI wrote it for a call without an answer"
    return ""


def protecting(reduce: Callable[..., Any], mentions: Mentions | None, place: Any) -> Callable[..., Any]:
    """Return `reduce(tool, content)`, which protects the values that messages after `place` mention.

    The place is the number of a message, or a `Key` in a stored history.
    """
    if mentions is None:
        return reduce
    return lambda tool, content: reduce(tool, content, protected=partial(mentions.after, place, content))
