"""Reduces the results of MCP servers: a proxy in front of any server, and a middleware for FastMCP (extra `mcp`).

`Relay` passes messages between a client and a server; `ReduceToolResults(rules)` is for people who write servers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reducer.mcp.middleware import ReduceToolResults
    from reducer.mcp.results import Result

__all__ = ["ReduceToolResults", "Result"]


def __getattr__(name: str) -> Any:
    # The proxy does not need FastMCP, which takes seconds to import.
    if name == "ReduceToolResults":
        return import_module("reducer.mcp.middleware").ReduceToolResults
    if name == "Result":
        return import_module("reducer.mcp.results").Result
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
