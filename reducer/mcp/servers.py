"""Connections to servers: a process with stdio, or an address with streamable HTTP."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from queue import Queue
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

_PATIENCE = 2
"""Seconds that a server has to end after its input was closed."""


class Address(BaseModel):
    """A server, as clients write it under `mcpServers`. Other keys are ignored."""

    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] = {}
    type: Literal["stdio", "http", "streamable-http"] = "stdio"

    @model_validator(mode="after")
    def _has_one_address(self) -> Address:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server needs either a command or a url")
        return self


class _Config(BaseModel):
    servers: dict[str, Address] = Field(validation_alias="mcpServers", min_length=1)


def read_addresses(text: bytes) -> dict[str, Address]:
    """Return the servers of an `mcp.json`, by name. Raises `ValueError` if it is not one."""
    return _Config.model_validate_json(text).servers


class Process:
    """A server that is a process. Raises OSError if it cannot be started."""

    def __init__(self, address: Address) -> None:
        command = [shutil.which(address.command) or address.command, *address.args]
        environment = {**os.environ, **address.env}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, cwd=address.cwd)
        self._input: Any = self._process.stdin
        self._output: Any = self._process.stdout

    def send(self, line: bytes) -> None:
        """Send a message. Nothing happens if the process has ended."""
        with suppress(OSError):
            self._input.write(line + b"\n")
            self._input.flush()

    def lines(self) -> Iterator[bytes]:
        """Yield the messages of the process until it ends."""
        for line in self._output:
            yield line.rstrip(b"\r\n")

    def close(self) -> None:
        """Close the input of the process, and terminate it if it does not end."""
        with suppress(OSError):
            self._input.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.terminate()


class Http:
    """A server with streamable HTTP."""

    def __init__(self, address: Address) -> None:
        from anyio.from_thread import start_blocking_portal

        self._headers: dict[str, str] = {}
        self._received: Queue[bytes | None] = Queue()
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        streams = self._portal.wrap_async_context_manager(_streams(address))
        read, self._write = self._stack.enter_context(streams)
        self._portal.start_task_soon(self._receive, read)

    def send(self, line: bytes) -> None:
        """Send a message."""
        from mcp.shared import inbound
        from mcp.shared.message import ClientMessageMetadata, SessionMessage
        from mcp_types import PROTOCOL_VERSION_META_KEY, jsonrpc_message_adapter

        message: Any = jsonrpc_message_adapter.validate_json(line)
        headers = self._headers
        params = getattr(message, "params", None) or {}
        version = params.get("_meta", {}).get(PROTOCOL_VERSION_META_KEY)
        if version is not None:  # since 2026, each request states the version, and headers repeat what it is about
            headers = {inbound.MCP_PROTOCOL_VERSION_HEADER: version, inbound.MCP_METHOD_HEADER: message.method}
            name = params.get(inbound.NAME_BEARING_METHODS.get(message.method))
            if name is not None:
                headers[inbound.MCP_NAME_HEADER] = inbound.encode_header_value(name)
        self._portal.call(self._write.send, SessionMessage(message, ClientMessageMetadata(headers=headers)))

    def lines(self) -> Iterator[bytes]:
        """Yield the messages of the server until the connection is closed."""
        return iter(self._received.get, None)

    def close(self) -> None:
        """Close the connection."""
        self._stack.close()
        self._received.put(None)

    async def _receive(self, read: Any) -> None:
        async for item in read:
            if isinstance(item, Exception):
                continue
            result = getattr(item.message, "result", {})
            if "protocolVersion" in result:
                self._headers = {"mcp-protocol-version": result["protocolVersion"]}
            self._received.put(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())


@asynccontextmanager
async def _streams(address: Address) -> AsyncIterator[tuple[Any, Any]]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(30, read=None)  # a call can take any time
    async with (
        httpx2.AsyncClient(headers=address.headers, timeout=timeout) as client,
        streamable_http_client(address.url, http_client=client) as streams,
    ):
        yield streams
