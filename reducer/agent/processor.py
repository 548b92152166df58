"""The history processor. It reduces each tool return once and remembers the result."""

from __future__ import annotations

import inspect
import logging
import os
import reprlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from weakref import ref

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ToolReturnPart
from pydantic_ai.tools import RunContext

from reducer import Reducer
from reducer.agent.originals import open_archive, store
from reducer.agent.telemetry import Reduced, Reduction, location, reporter, workflow
from reducer.archive import Archive
from reducer.engine import Outcome, attempt
from reducer.histories.live import later_mentions, reduced_part, with_parts


class Rules(Protocol):
    """A `Reducer`, or any object with the same method."""

    def reduce_content(self, tool: str, content: Any, /) -> Any:
        """Return the reduced content of a return of `tool`, or the same object if nothing changes."""


RulesLike: TypeAlias = "str | Path | Sequence[str | Path] | Rules"
"""One path or several paths of rule files and folders, or an object that reduces contents."""


def history_processor(
    rules: RulesLike,
    *,
    on_reduce: Callable[[Reduction], None] | None = None,
    telemetry: bool = True,
    archive: str | Path | Archive | None = None,
    references: bool = False,
) -> Callable[..., list[ModelMessage]]:
    """Return a history processor for `Agent(history_processors=[…])` (PydanticAI 1) or `ProcessHistory(…)` (2).

    `rules`: a path or several paths of rule files and folders, or a `Reducer`.
    `on_reduce`: a function that is called with a `Reduction` for each reduced return.
    `telemetry`: record OpenTelemetry events and counters.
    `archive`: store the originals. The processor then takes the `RunContext` before the messages.
    `references`: keep what later responses of an old history reference. Store the history that the processor returns.

    The processor modifies nothing in place, returns a new list, reduces each return once, and is safe to use in several
    threads. If a return cannot be reduced, it stays unchanged and the error is logged once per rule and kind.

    Raises `RuleError` for rules that cannot be loaded, `ArchiveError` for an archive that cannot be used, `TypeError`
    for wrong arguments, and `UserError` for `references` without a `Reducer`. With an archive, the processor raises
    `UserError` inside a DBOS or Temporal workflow.
    """
    check_flags(telemetry=telemetry, references=references)
    if on_reduce is not None:
        if not callable(on_reduce):
            raise TypeError(f"on_reduce={reprlib.repr(on_reduce)} is not a function that takes a Reduction")
        _check_synchronous("on_reduce", on_reduce)
    loaded = load_rules(rules)
    opened = None if archive is None else open_archive(archive)
    if references and not isinstance(loaded, Reducer):
        raise UserError("references=True needs rule files or a Reducer")
    log_once = cache(logging.getLogger("reducer").error)
    reduce = PartReducer(loaded, log_once, references).reduce
    report = reporter(on_reduce, telemetry, log_once)

    def reduce_tool_returns(messages: list[ModelMessage]) -> list[ModelMessage]:
        result, reduced = reduce(messages)
        report(reduced)
        return result

    if opened is None:
        return reduce_tool_returns

    def reduce_and_archive(ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        if engine := workflow():
            raise UserError(f"an archive is a file, and a {engine} workflow does no I/O: leave out `archive` there")
        result, reduced = reduce(messages)
        if reduced:
            store(opened, ctx, messages, reduced)
        report(reduced)
        return result

    return reduce_and_archive


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


def load_rules(rules: RulesLike) -> Rules:
    """Return rules that are already loaded, or load paths. Raises `RuleError`, and `TypeError` for other values."""
    paths = rules if isinstance(rules, (list, tuple)) else [rules]
    if paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        return Reducer.load(*map(Path, paths))
    if isinstance(rules, type) or not callable(getattr(rules, "reduce_content", None)):
        expected = "a path ('rules'), several paths (['rules', 'more.yaml']), or a Reducer"
        raise TypeError(f"rules={reprlib.repr(rules)} cannot be used; give {expected}")
    _check_synchronous("rules.reduce_content", rules.reduce_content)  # type: ignore[union-attr]
    return rules  # type: ignore[return-value]


def check_flags(**flags: object) -> None:
    """Raise `TypeError` unless all options are True or False."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}={reprlib.repr(value)} is not a boolean; give True or False")


def _check_synchronous(name: str, function: Callable[..., object]) -> None:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        raise TypeError(f"{name} is asynchronous; define it with `def`, not with `async def`")
