"""A client of yaml-language-server over standard input and output, with as much of the protocol as the tests of the schema ask for."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

PATIENCE = 30  # seconds; answers take some milliseconds
SERVER = os.environ.get("YAML_LANGUAGE_SERVER") or shutil.which("yaml-language-server")


class Server:
    """A running server for the files of one folder; `diagnose` gives what it says of texts, `complete` and `hover` what of a place in one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = iter(range(1, 1_000_000))
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._process = subprocess.Popen([str(SERVER), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
        threading.Thread(target=self._read, daemon=True).start()
        markdown = {"completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}}, "hover": {"contentFormat": ["markdown"]}}
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {"textDocument": markdown}})
        self._tell("initialized", {})
        # Without the store the server stays off the network.
        settings = {"validate": True, "hover": True, "completion": True, "schemaStore": {"enable": False}, "customTags": []}
        self._tell("workspace/didChangeConfiguration", {"settings": {"yaml": settings}})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdin
        self._process.stdin.close()

    def diagnose(self, texts: Iterable[str]) -> list[list[tuple[int, int, str]]]:
        """Open rule files, all at once; give for each what is wrong with it: line and column from 1, and the message."""
        found: dict[str, list[tuple[int, int, str]] | None] = {self._open(text): None for text in texts}
        while None in found.values():
            said = self._messages.get(timeout=PATIENCE)
            if said.get("method") == "textDocument/publishDiagnostics" and said["params"]["uri"] in found:
                starts = [(told["range"]["start"], told["message"]) for told in said["params"]["diagnostics"]]
                found[said["params"]["uri"]] = sorted((start["line"] + 1, start["character"] + 1, message) for start, message in starts)
        return [told or [] for told in found.values()]

    def complete(self, marked: str) -> dict[str, dict[str, Any]]:
        """Give what is offered where `|` stands in a text, by label."""
        result = self._at("textDocument/completion", marked)
        return {item["label"]: item for item in (result["items"] if type(result) is dict else result)}

    def hover(self, marked: str) -> str:
        """Give the Markdown shown where `|` stands in a text."""
        result = self._at("textDocument/hover", marked)
        return "" if result is None else str(result["contents"]["value"])

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and give its result."""
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": params})
        while True:
            said = self._messages.get(timeout=PATIENCE)
            if said.get("id") == number and "method" not in said:
                assert "error" not in said, said
                return said["result"]

    def _at(self, method: str, marked: str) -> Any:
        before, _, after = marked.partition("|")
        uri = self._open(before + after)
        place = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        return self.ask(method, {"textDocument": {"uri": uri}, "position": place})

    def _open(self, text: str) -> str:
        uri = (self._folder / f"rule{next(self._numbers)}.yaml").as_uri()
        self._tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
        return uri

    def _tell(self, method: str, params: dict[str, Any]) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self._process.stdin.flush()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream
        while header := stream.readline():
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
                while stream.readline().strip():
                    pass
                message = json.loads(stream.read(length))
                if "method" in message and "id" in message:  # the server asks for something: it gets nothing
                    self._send({"id": message["id"], "result": None})
                else:
                    self._messages.put(message)
