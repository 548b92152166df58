"""Shrinks the tool returns in PydanticAI message histories by rules written in YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reducer.errors import HistoryError, Problem, RuleError

if TYPE_CHECKING:
    from reducer.door import Reducer

__all__ = ["HistoryError", "Problem", "Reducer", "RuleError"]


def __getattr__(name: str) -> Any:
    # The engine takes as long to import as yaml and pydantic together; what only checks rules or tells the version does without.
    if name == "Reducer":
        from reducer.door import Reducer

        return Reducer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
