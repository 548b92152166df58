"""A server with stdio whose tools return what no server should. It writes its own lines, as few libraries would."""

from __future__ import annotations

import json
import sys
from typing import Any

ROWS = [{"id": number, "body": "word " * 400} for number in range(10_000)]


def answer(tool: str) -> str:
    """Return the JSON text of the result of a tool."""
    if tool == "deep":
        return '{"content": [], "structuredContent": {"rows": ' + "[" * 100_000 + "]" * 100_000 + "}}"
    value: Any = ROWS
    if tool == "surrogates":
        value = [{"id": "\ud83d", "body": "\udfff"} for _ in range(100)]
    if tool == "die":
        sys.exit(3)
    return json.dumps({"content": [{"type": "text", "text": json.dumps(value)}]})


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        result = "{}"
        if request["method"] == "tools/list":
            result = json.dumps({"tools": [{"name": name} for name in ("rows", "recall_tool_return")]})
        elif request["method"] == "tools/call":
            result = answer(request["params"]["name"])
        print(f'{{"jsonrpc": "2.0", "id": {request["id"]}, "result": {result}}}', flush=True)


if __name__ == "__main__":
    main()
