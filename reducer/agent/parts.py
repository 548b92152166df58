"""Reduce each tool return part of a history once, and remember the result."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from weakref import ref

from pydantic_ai.messages import ModelMessage, ToolReturnPart

from reducer import Reducer
from reducer.engine import Outcome, attempt
from reducer.histories.live import later_mentions, reduced_part, with_parts


class Rules(Protocol):
    """A `Reducer`, or any object with the same method."""

    def reduce_content(self, tool: str, content: Any, /) -> Any:
        """Return the reduced content of a return of `tool`, or the same object if nothing changes."""


class Reduced(NamedTuple):
    """A part before and after its reduction, with the outcome."""

    old: ToolReturnPart
    new: ToolReturnPart
    outcome: Outcome


class PartReducer:
    """Reduces histories and remembers parts by `id`: results in `done`, originals with their results in `originals`.

    Parts are not hashable, and equal parts can be different parts. An id is removed together with its part, before
    another object can get it. Each access is one dict operation, so threads need no lock; at worst, two threads reduce
    the same part.
    """

    def __init__(self, rules: Rules, log: Callable[[str], None], references: bool) -> None:
        self.done: dict[int, ref[ToolReturnPart]] = {}
        self.originals: dict[int, tuple[ref[ToolReturnPart], Any, ToolReturnPart]] = {}
        self._rules = rules
        self._log = log
        self._references = references

    def reduce(self, messages: Sequence[ModelMessage]) -> tuple[list[ModelMessage], list[Reduced]]:
        """Return the new messages and the parts that were reduced for the first time.

        Unchanged messages stay the same objects.
        """
        ruleset = self._rules.ruleset if isinstance(self._rules, Reducer) else None  # `reload` can replace it
        mentions = later_mentions(messages)
        result, reduced = list(messages), list[Reduced]()

        def is_new(part: Any) -> bool:
            return type(part) is ToolReturnPart and id(part) not in self.done

        def reduce_content(index: int, tool: str, content: Any) -> Outcome:
            if ruleset is None:
                return Outcome(None, self._rules.reduce_content(tool, content))
            return attempt(ruleset, tool, content, mentions(index, content) if self._references else None)

        def reduce_part(index: int, part: Any) -> Any:
            if not is_new(part):
                return part
            _, content, new = self.originals.get(id(part), (None, None, None))
            if new is None or content is not part.content:
                new, outcome = self._attempt(part, partial(reduce_content, index))
                self.done[id(new)] = ref(new, partial(self._remove, id(new)))
                if new is not part:
                    self.originals[id(part)] = ref(part, partial(self._remove, id(part))), part.content, new
                    reduced.append(Reduced(part, new, outcome))
            return new

        for index, message in enumerate(messages):
            if any(map(is_new, message.parts)):
                result[index] = with_parts(message, partial(reduce_part, index))
        return result, reduced

    def _attempt(
        self, part: ToolReturnPart, reduce_content: Callable[[str, Any], Outcome]
    ) -> tuple[ToolReturnPart, Outcome]:
        outcome = Outcome(None, part.content)

        def reduce(tool: str, content: Any) -> Any:
            nonlocal outcome
            outcome = reduce_content(tool, content)
            return outcome.content

        try:
            new, fault = reduced_part(part, reduce), outcome.fault
        except Exception as error:
            new, fault = part, location(error)
        if fault:
            self._log(f"a return of {outcome.rule.name if outcome.rule else part.tool_name} stays unchanged: {fault}")
        return new, outcome

    def _remove(self, key: int, _: object) -> None:
        self.done.pop(key, None)
        self.originals.pop(key, None)


def location(error: Exception) -> str:
    """Return the type and the line of an error without its message, which may contain what a tool returned."""
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    return f"{type(error).__name__} at {Path(frame.f_code.co_filename).name}:{line}"
