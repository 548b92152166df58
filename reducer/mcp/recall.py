"""Keeps the originals of reduced results in an archive, and answers calls of the tool that reads them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from secrets import token_hex
from typing import Any

from reducer.archive import Archive
from reducer.archive.database import Entry, ReturnId
from reducer.archive.recall import DESCRIPTION, Arguments, HistoryReturn, answer
from reducer.formats import unwrapped
from reducer.histories import RECALL
from reducer.mcp.results import Result
from reducer.values import stored_json


class Recall:
    """The tool `recall_tool_return`, which reads the originals of the results that `store` received.

    A client does not tell servers the ids of its calls, so the results are numbered from 1. The tool without arguments
    lists them. The proxy serves one client, so all of them are its own.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._owner = f"proxy {token_hex(16)}"
        self._returns: list[HistoryReturn] = []
        self.tool = {"name": RECALL, "description": DESCRIPTION, "inputSchema": Arguments.model_json_schema()}

    def store(self, result: Result) -> None:
        """Archive the original of a result if it was reduced."""
        if result.outcome.rule is None or result.outcome.content is result.given:
            return
        found = ReturnId(result.tool, str(len(self._returns) + 1), 1, time.time_ns() // 1000)
        reduced, original = unwrapped(result.outcome.content), unwrapped(result.given)
        self._returns.append((found, reduced))
        self._archive.add([Entry(found, stored_json(reduced), stored_json(original), owner=self._owner)])

    def call(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a call of the tool."""
        text = answer(self._returns, self._archive, arguments, self._owner)
        return {"content": [{"type": "text", "text": text}], "resultType": "complete"}

    def close(self) -> None:
        """Write all originals, and close the archive."""
        self._archive.close()
