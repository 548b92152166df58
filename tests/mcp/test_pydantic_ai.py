"""An agent uses a server with stdio through the proxy. PydanticAI 1.x and 2.x have different clients of MCP."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from pydantic_ai import Agent
from pydantic_ai.messages import ToolReturnPart
from pydantic_ai.models.test import TestModel

from tests.mcp.hostile import ROWS

# 2.0.0 reads `listChanged`, which mcp 2 calls `list_changed`; it fails without the proxy, too.
pytestmark = pytest.mark.skipif(version("pydantic-ai-slim") == "2.0.0", reason="PydanticAI 2.0.0 does not know mcp 2")

SERVER = [sys.executable, str(Path(__file__).with_name("hostile.py"))]


def returned(command: list[str]) -> list[Any]:
    """Return what an agent gets from the tool `few` of a server that it starts."""
    try:
        from pydantic_ai.mcp import MCPToolset
    except ImportError:  # before 2.0
        from pydantic_ai.mcp import MCPServerStdio

        server = MCPServerStdio(command[0], command[1:], env=dict(os.environ), timeout=60)
    else:
        from fastmcp.client.transports import StdioTransport

        server = MCPToolset(StdioTransport(command[0], command[1:], env=dict(os.environ), keep_alive=False))

    async def run() -> list[Any]:
        agent = Agent(TestModel(call_tools=["few"]), toolsets=[server])
        messages = (await agent.run("What is new?")).all_messages()
        parts = [part for message in messages for part in message.parts]
        return [part.content for part in parts if isinstance(part, ToolReturnPart)]

    return asyncio.run(run())


def test_an_agent_gets_reduced_results(tmp_path: Path) -> None:
    rule = tmp_path / "rule.yaml"
    rule.write_text("version: 1\ntool: few\nsteps:\n  - limit: 2\n")
    assert returned(SERVER) == [ROWS[:40]]
    proxy = [sys.executable, "-m", "reducer", "mcp", "--rules", str(rule), "--", *SERVER]
    assert returned(proxy) == [[*ROWS[:2], "…[38 more items]"]]
