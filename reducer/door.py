"""The door to everything else: rules that are loaded, and what they do to contents and histories."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reducer.engine import OnFault, prepare, reduce_content
from reducer.errors import Location, Problem, RuleError
from reducer.rule import Ruleset, instructions, read_rules

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

_logger = logging.getLogger("reducer")


@dataclass(slots=True, eq=False)
class Reducer:
    """Rules that are loaded and compiled; safe to share between threads.

    `sources` are the files and folders they came from. Only `reload` changes `ruleset`, and all of it at once.
    """

    ruleset: Ruleset
    sources: tuple[Path | str, ...] = ()

    def __post_init__(self) -> None:
        prepare(self.ruleset)

    @classmethod
    def load(cls, *sources: Path | str) -> Reducer:
        """Load rule files, and all `.yaml` and `.yml` files of folders.

        Raises `RuleError` with every problem of every file; OSError for what cannot be opened.
        """
        return cls(read_rules(*sources), sources)

    def reload(self) -> tuple[Problem, ...]:
        """Read the rules from their sources again, and use them from now on if all of them are good; give what is wrong with them else.

        With any problem the rules stay as they were and the problems are logged too. Processors and capabilities made from this
        `Reducer` use the new rules for the returns that they have not looked at; those sent before stay, so that the prefix of a
        conversation does. Raises `ValueError` for a `Reducer` that came from no files.
        """
        if not self.sources:
            raise ValueError("these rules came from no files: make the Reducer with Reducer.load")
        try:
            ruleset = read_rules(*self.sources)
            prepare(ruleset)
            self.ruleset = ruleset
        except RuleError as error:
            problems = error.problems
        except OSError as error:
            problems = (Problem(Location(str(error.filename), 1, 1), "E007", "cannot be read", str(error.strerror)),)
        else:
            return ()
        _logger.error("the rules stay as they were:\n%s", "\n".join(map(str, problems)))
        return problems

    def reduce_content(self, tool: str, content: Any, on_fault: OnFault | None = None) -> Any:
        """Reduce the content of one return of `tool`; the same object if nothing changes. Never raises.

        `on_fault(tool, fault)` hears why a content for which there is a rule stayed as it was.
        """
        return reduce_content(self.ruleset, tool, content, on_fault)

    def reduce(self, messages: Sequence[ModelMessage], references: bool = True) -> list[ModelMessage]:
        """Reduce the tool returns of a history of PydanticAI objects; messages in which nothing changes are the same objects.

        With `references`, items, keys and texts that hold a distinctive value which a later response mentions stay, whatever the rules say:
        an id, an address, a name or a number that the agent wrote in a text or in the arguments of a tool call.
        """
        from reducer.history import Mentioned, reduce_messages

        return reduce_messages(messages, partial(reduce_content, self.ruleset), Mentioned(messages) if references else None)

    def reduce_json(self, data: bytes, references: bool = True) -> bytes:
        """Reduce the tool returns of a stored history, JSON as UTF-8 bytes; all other bytes stay. Raises `HistoryError`.

        With `references`, what later responses mention stays, as `reduce` says.
        """
        from reducer.stored import reduce_json
        from reducer.stored.mentioned import Mentioned

        return reduce_json(data, partial(reduce_content, self.ruleset), finding=Mentioned(data) if references else None)

    def instructions(self, tools: Iterable[str] | None = None) -> str:
        """Say for the model what the rules for `tools`, or all rules, leave out: static text, a line a rule, empty when there is none."""
        return instructions(self.ruleset, tools)
