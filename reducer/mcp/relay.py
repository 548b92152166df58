"""Passes messages between a client and a server, and reduces the results of tools on the way.

A message is one line of JSON-RPC. Every line that is neither the result of a tool nor a list of tools passes as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from threading import Lock, Thread
from typing import Any, BinaryIO

import msgspec

from reducer.formats.json_text import read_json
from reducer.histories import RECALL
from reducer.mcp.recall import Recall
from reducer.mcp.results import Results
from reducer.mcp.servers import Http, Process

_CLOSED = -32000
"""The code of errors after the end of a connection."""


class _Params(msgspec.Struct, frozen=True):
    name: str = ""
    cursor: str | None = None
    arguments: dict[str, Any] | None = None


class _Message(msgspec.Struct):
    """A request, a response or a notification."""

    id: int | str | None = None
    method: str = ""
    params: _Params = _Params()
    result: Any = None

    @property
    def tool(self) -> str:
        """The name of the tool that a request calls, or an empty text."""
        return self.params.name if self.method == "tools/call" else ""


class Relay:
    """Passes messages between one client and one server.

    `output`: the stream to the client.
    `recall`: the tool that reads originals; it is added to the tools of the server, unless that has one of this name.
    """

    def __init__(self, server: Process | Http, results: Results, recall: Recall | None, output: BinaryIO) -> None:
        self._server = server
        self._results = results
        self._recall = recall
        self._output = output
        self._writing = Lock()
        self._client_closed = False
        self._requests: dict[int | str | None, _Message] = {}
        """The requests of the client that have no response yet."""

    def run(self, lines: Iterable[bytes]) -> bool:
        """Pass messages until the server ends, and return whether the `lines` of the client ended before.

        When these end, the server is closed. If it ends before, the client gets errors for its open requests.
        """
        Thread(target=self._read_client, args=(lines,), daemon=True).start()
        for line in self._server.lines():
            self._write(self._from_server(line))
        client_closed = self._client_closed
        for request in list(self._requests.values()):
            self._write(_response(request, error={"code": _CLOSED, "message": "the server closed the connection"}))
        return client_closed

    def _read_client(self, lines: Iterable[bytes]) -> None:
        try:
            for line in lines:
                self._from_client(line)
            self._client_closed = True
        finally:  # otherwise, an error here would let the client wait for ever
            self._server.close()

    def _from_client(self, line: bytes) -> None:
        """Send a line of the client to the server, or answer it."""
        message = _read(line)
        if message.tool == RECALL and self._recall is not None:
            result = self._recall.call(message.params.arguments or {})
            self._write(_response(message, result=result))
            return
        if message.method and message.id is not None:
            self._requests[message.id] = message
        self._server.send(line)

    def _from_server(self, line: bytes) -> bytes:
        """Return what the client receives for a line of the server."""
        response = _read(line)
        request = None if response.method else self._requests.pop(response.id, None)
        if request is None or not isinstance(response.result, dict):
            return line
        result: Mapping[str, Any] = response.result
        changed = result
        if request.tool:
            if self._results.reload_changed():
                self._write(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
            changed = self._results.reduced(request.tool, result)
        elif request.method == "tools/list" and isinstance(result.get("tools"), list):
            changed = self._listed(result, is_first=not request.params.cursor)
        return line if changed is result else _response(request, result=changed)

    def _listed(self, result: Mapping[str, Any], is_first: bool) -> Mapping[str, Any]:
        """Return a list of tools without output schemas, and with the tool that reads originals on its first page."""
        tools = [tool for tool in result["tools"] if isinstance(tool, dict)]
        for tool in tools:
            if tool.get("name") == RECALL:
                self._recall = None
            if not self._results.dry_run:
                tool.pop("outputSchema", None)
        if self._recall is not None and is_first:
            tools = [*tools, self._recall.tool]
        return {**result, "tools": tools}

    def _write(self, line: bytes) -> None:
        with self._writing:
            self._output.write(line + b"\n")
            self._output.flush()


def _read(line: bytes) -> _Message:
    """Return the message of a line, or an empty one if it is anything else that cannot be written back without loss."""
    try:
        return msgspec.convert(read_json(line.decode()), _Message)
    except (msgspec.ValidationError, UnicodeDecodeError):
        return _Message()


def _response(request: _Message, **answer: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request.id, **answer}, separators=(",", ":")).encode()
