"""Reduces the results of MCP servers: a middleware for FastMCP, and a proxy in front of any server (extra `mcp`).

`ReduceToolResults(rules)` is for people who write servers; `proxy` puts it in front of the servers of others.
"""

from reducer.mcp.middleware import ReduceToolResults, Result

__all__ = ["ReduceToolResults", "Result"]
