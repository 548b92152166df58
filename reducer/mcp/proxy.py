"""The proxy: one server in front of others, which reduces their results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastmcp import FastMCP
from fastmcp.client.transports import ClientTransport, StdioTransport, StreamableHttpTransport
from fastmcp.mcp_config import MCPConfig
from fastmcp.server import create_proxy
from fastmcp.server.middleware import Middleware


def stdio(command: Sequence[str]) -> ClientTransport:
    """Return the transport to a server that is started with a command, in the environment of this process."""
    return StdioTransport(command[0], list(command[1:]), env=dict(os.environ))


def http(url: str, headers: Mapping[str, str]) -> ClientTransport:
    """Return the transport to a server with streamable HTTP."""
    return StreamableHttpTransport(url, headers=dict(headers))


def configured(config: Mapping[str, Any]) -> dict[str, ClientTransport]:
    """Return the transports to the servers of an `mcp.json`, by name. Raises `ValueError` if it is not one."""
    servers = MCPConfig.from_dict(dict(config)).mcpServers
    return {name: server.to_transport() for name, server in servers.items()}


def proxy(
    transports: Mapping[str, ClientTransport],
    inner: Callable[[], Sequence[Middleware]],
    outer: Sequence[Middleware] = (),
) -> FastMCP[Any]:
    """Return a server that passes everything on to one server, or to several with their names as prefixes.

    Each server has its own `inner` middleware, which sees the names of tools without these prefixes. The `outer`
    middleware is in front of all servers.
    """
    servers = {name: create_proxy(transport, name=name) for name, transport in transports.items()}
    front = FastMCP[Any]("reducer") if len(servers) > 1 else next(iter(servers.values()))
    for each in outer:
        front.add_middleware(each)
    for name, server in servers.items():
        for each in inner():
            server.add_middleware(each)
        if server is not front:
            front.mount(server, namespace=name)
    return front
