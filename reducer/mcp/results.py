"""Reduces the results of tool calls, as they are in messages of MCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from reducer.api import Reducer
from reducer.engine import Outcome, attempt
from reducer.mcp.reload import Reloading

Rules: TypeAlias = str | Path | Sequence[str | Path] | Reducer


class Result(NamedTuple):
    """What the rules did to the result of one tool call.

    tool: the name as the server names it
    given: the content blocks and the structured content, as JSON values
    outcome: the reduced `given`, the rule, and the fault if the rule could not be applied
    """

    tool: str
    given: dict[str, Any]
    outcome: Outcome


class Results:
    """Reduces results with rules whose files may change. See `ReduceToolResults`."""

    def __init__(self, rules: Rules, on_result: Callable[[Result], None] | None, dry_run: bool) -> None:
        self._rules = Reloading(_reducer(rules))
        self._on_result = on_result
        self.dry_run = dry_run

    def reload_changed(self) -> bool:
        """Load changed rule files again, and return whether there were any."""
        return self._rules.reload_changed()

    def reduced(self, tool: str, result: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a result with less content, or the same object if nothing changes. Errors stay."""
        given: dict[str, Any] = {"content": result.get("content")}
        if result.get("isError") or not isinstance(given["content"], list):
            return result
        # Since 2026, structured content can be any JSON value; before, servers wrote `{"result": value}`.
        structure = result.get("structuredContent")
        is_bare = structure is not None and not isinstance(structure, dict)
        if structure is not None:
            given["structuredContent"] = {"result": structure} if is_bare else structure
        outcome = attempt(self._rules.reducer.ruleset, tool, given)
        if self._on_result is not None:
            self._on_result(Result(tool, given, outcome))
        if self.dry_run or outcome.content is given:
            return result
        reduced = {**result, **outcome.content}
        if is_bare:
            reduced["structuredContent"] = reduced["structuredContent"]["result"]
        return reduced


def _reducer(rules: Rules) -> Reducer:
    if isinstance(rules, Reducer):
        return rules
    return Reducer.load(rules) if isinstance(rules, (str, Path)) else Reducer.load(*rules)
