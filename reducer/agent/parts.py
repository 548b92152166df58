"""Reduce the tool return parts of a history, each once, and remember the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias
from weakref import ref

from pydantic_ai.messages import ModelMessage, ToolReturnPart

from reducer import Reducer
from reducer.agent.log import Log, location
from reducer.agent.options import Rules
from reducer.engine import Outcome, attempt
from reducer.histories.live import later_mentions, reduced_part, with_parts

_Protected: TypeAlias = "Callable[[Any], Callable[[], frozenset[str]]] | None"


class Reduced(NamedTuple):
    """A part before and after its reduction, and what the rule did."""

    old: ToolReturnPart
    new: ToolReturnPart
    outcome: Outcome


class PartCache:
    """The parts that a model was sent, and the reduced parts of originals, by identity. It keeps no part alive.

    Parts cannot be hashed, and equal parts need not be the same. `done` holds the ids of the parts that need no
    reduction. An id is removed with its part, before another object can have it. Every step is one operation on a set
    or dict, so threads need no lock; at worst two reduce the same part.
    """

    __slots__ = ("_alive", "_reduced", "done")

    def __init__(self) -> None:
        self.done: set[int] = set()
        self._reduced: dict[int, tuple[Any, ToolReturnPart]] = {}
        self._alive: dict[int, ref[ToolReturnPart]] = {}

    def add(self, part: ToolReturnPart, reduced: ToolReturnPart) -> None:
        """Add a part and its reduced part, which may be the same object."""
        self.done.add(self._watch(reduced))
        if reduced is not part:
            self._reduced[self._watch(part)] = (part.content, reduced)

    def get(self, part: ToolReturnPart) -> ToolReturnPart | None:
        """Return the reduced part of a part, or None if it is unknown or has another content now."""
        content, reduced = self._reduced.get(id(part), (None, None))
        return reduced if content is part.content else None

    def _watch(self, part: ToolReturnPart) -> int:
        key = id(part)
        self._alive[key] = ref(part, partial(self._remove, key))
        return key

    def _remove(self, key: int, _: object) -> None:
        self.done.discard(key)
        self._reduced.pop(key, None)
        self._alive.pop(key, None)


def history_reducer(
    rules: Rules, log: Log, references: bool
) -> Callable[[Sequence[ModelMessage]], tuple[list[ModelMessage], list[Reduced]]]:
    """Return a function that reduces a history: it returns the new messages and what it reduced for the first time.

    Unchanged messages are the same objects. With `references`, values that later responses reference are kept.
    """
    cache = PartCache()

    def reduce(messages: Sequence[ModelMessage]) -> tuple[list[ModelMessage], list[Reduced]]:
        result = list(messages)
        reduced: list[Reduced] = []
        mentioned = later_mentions(messages)
        # No response follows the returns of the current request, so nothing in them is referenced.
        responses = (
            [index for index, message in enumerate(messages) if message.kind == "response"] if references else []
        )
        for index, message in enumerate(messages):
            if any(type(part) is ToolReturnPart and id(part) not in cache.done for part in message.parts):
                followed = bool(responses) and index < responses[-1]
                protected = partial(mentioned, index) if followed else None
                result[index] = with_parts(message, partial(reduce_part, reduced, protected))
        return result, reduced

    def reduce_part(reduced: list[Reduced], protected: _Protected, part: Any) -> Any:
        if type(part) is not ToolReturnPart or id(part) in cache.done:
            return part
        new = cache.get(part)
        if new is None:
            outcome, new = _attempt(part, rules, log, protected)
            cache.add(part, new)
            if new is not part:
                reduced.append(Reduced(part, new, outcome))
        return new

    return reduce


def _attempt(part: ToolReturnPart, rules: Rules, log: Log, protected: _Protected) -> tuple[Outcome, ToolReturnPart]:
    outcome = Outcome(None, part.content)

    def reduce(tool: str, content: Any) -> Any:
        nonlocal outcome
        if isinstance(rules, Reducer):
            outcome = attempt(rules.ruleset, tool, content, None if protected is None else protected(content))
        else:
            outcome = Outcome(None, rules.reduce_content(tool, content))
        return outcome.content

    try:
        new, fault = reduced_part(part, reduce), outcome.fault
    except Exception as error:
        new, fault = part, location(error)
    if fault:
        rule = str(part.tool_name) if outcome.rule is None else outcome.rule.name
        log(rule, fault, f"a return of {part.tool_name} stays unchanged: {fault}")
    return outcome, new
