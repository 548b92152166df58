"""The door to everything else: rules that are loaded, and what they do to contents and histories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reducer.engine import OnFault, prepare, reduce_content
from reducer.rule import Ruleset, instructions, read_rules

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage


@dataclass(frozen=True, slots=True)
class Reducer:
    """Rules that are loaded and compiled; safe to share between threads."""

    ruleset: Ruleset

    @classmethod
    def load(cls, *sources: Path | str) -> Reducer:
        """Load rule files, and all `.yaml` and `.yml` files of folders.

        Raises `RuleError` with every problem of every file; OSError for what cannot be opened.
        """
        ruleset = read_rules(*sources)
        prepare(ruleset)
        return cls(ruleset)

    def reduce_content(self, tool: str, content: Any, on_fault: OnFault | None = None) -> Any:
        """Reduce the content of one return of `tool`; the same object if nothing changes. Never raises.

        `on_fault(tool, fault)` hears why a content for which there is a rule stayed as it was.
        """
        return reduce_content(self.ruleset, tool, content, on_fault)

    def reduce(self, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """Reduce the tool returns of a history of PydanticAI objects; messages in which nothing changes are the same objects."""
        from reducer.history import reduce_messages

        return reduce_messages(messages, self.reduce_content)

    def reduce_json(self, data: bytes) -> bytes:
        """Reduce the tool returns of a stored history, JSON as UTF-8 bytes; all other bytes stay. Raises `HistoryError`."""
        from reducer.stored import reduce_json

        return reduce_json(data, self.reduce_content)

    def instructions(self, tools: Iterable[str] | None = None) -> str:
        """Say for the model what the rules for `tools`, or all rules, leave out: static text, a line a rule, empty when there is none."""
        return instructions(self.ruleset, tools)
