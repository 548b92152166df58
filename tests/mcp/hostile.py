"""A server with stdio whose tools return what no server should. It writes its own lines, as few libraries would."""

from __future__ import annotations

import json
import sys
from typing import Any

ROWS = [{"id": number, "body": "word " * 400} for number in range(10_000)]
INFO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "hostile", "version": "1"}}


def answer(tool: str) -> str:
    """Return the JSON text of the result of a tool."""
    if tool == "deep":
        return '{"content": [], "structuredContent": {"rows": ' + "[" * 100_000 + "]" * 100_000 + "}}"
    if tool == "malformed":
        return '{"content": ["x", {"type": "text"}, {"type": "text", "text": 1}], "structuredContent": 1.5}'
    value: Any = ROWS
    if tool == "few":
        value = ROWS[:40]
    if tool == "surrogates":
        value = [{"id": "\ud83d", "body": "\udfff"} for _ in range(100)]
    if tool == "die":
        sys.exit(3)
    return json.dumps({"content": [{"type": "text", "text": json.dumps(value)}]})


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        key, value = "result", "{}"
        if request["method"] == "initialize":
            value = json.dumps({"protocolVersion": request["params"].get("protocolVersion"), **INFO})
        elif request["method"] == "tools/list":
            schema = {"type": "object"}
            value = json.dumps(
                {"tools": [{"name": name, "inputSchema": schema} for name in ("few", "recall_tool_return")]}
            )
        elif request["method"] == "tools/call":
            value = answer(request["params"]["name"])
        else:
            key, value = "error", '{"code": -32601, "message": "Method not found"}'
        print(f'{{"jsonrpc": "2.0", "id": {json.dumps(request["id"])}, "{key}": {value}}}', flush=True)


if __name__ == "__main__":
    main()
