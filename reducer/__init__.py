"""Shrinks the tool returns in PydanticAI message histories with rules written in YAML."""

from __future__ import annotations

TYPE_CHECKING = False  # like `typing.TYPE_CHECKING`, but `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from reducer.api import Reducer
    from reducer.errors import Diagnostic, HistoryError, RuleError

__all__ = ["Diagnostic", "HistoryError", "Reducer", "RuleError"]


def __getattr__(name: str) -> Any:
    # Import the engine on demand: it takes as long as yaml and pydantic together, and checking rules does not need it.
    if name in __all__:
        from importlib import import_module

        return getattr(import_module("reducer.api" if name == "Reducer" else "reducer.errors"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
