"""The history processor. It reduces each tool return once and remembers the result."""

from __future__ import annotations

import asyncio
import inspect
import os
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypeAlias
from weakref import ref

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ToolReturnPart
from pydantic_ai.tools import RunContext

from reducer import Reducer
from reducer.agent.originals import open_archive, store
from reducer.agent.telemetry import Attempt, Reduction, location, reporter, workflow
from reducer.archive import Archive
from reducer.engine import Outcome, attempt
from reducer.histories.live import LaterMentions, reduced_part, with_parts
from reducer.values import PLAIN, chars

REPLAYED = ("DBOS", "Temporal")
"""The workflow engines that run the code of a workflow again, so that it must not use a file or a clock."""
LARGE = 100_000
"""The number of characters that take about as long to reduce as an event loop may wait."""


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
    dry_run: bool = False,
) -> Callable[..., list[ModelMessage]]:
    """Return a history processor for `Agent(history_processors=[…])` (PydanticAI 1) or `ProcessHistory(…)` (2).

    `rules`: a path or several paths of rule files and folders, or a `Reducer`.
    `on_reduce`: a function that is called with a `Reduction` for each reduced return and each fault.
    `telemetry`: record OpenTelemetry events, counters and durations.
    `archive`: store the originals. The processor then takes the `RunContext` before the messages.
    `references`: keep what later responses of an old history reference. Store the history that the processor returns.
    `dry_run`: change and archive nothing; only report what would change.

    The processor modifies nothing in place, returns a new list, reduces each return once, and is safe to use in several
    threads. If a return cannot be reduced, it stays unchanged. The fault is reported, and logged once per rule.

    Raises `RuleError` for rules that cannot be loaded, `ArchiveError` for an archive that cannot be used, `TypeError`
    for wrong arguments, and `UserError` for `references` without a `Reducer`. With an archive, the processor raises
    `UserError` inside a DBOS or Temporal workflow.
    """
    run = Processor(rules, archive, on_reduce=on_reduce, telemetry=telemetry, references=references, dry_run=dry_run)

    def reduce_tool_returns(messages: list[ModelMessage]) -> list[ModelMessage]:
        return run(None, messages)

    def reduce_and_archive(ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        return run(ctx, messages)

    return reduce_tool_returns if archive is None else reduce_and_archive


class _Known(NamedTuple):
    """A part that was reduced before, its content then and its result. Both are None if the part is a result itself."""

    part: ref[ToolReturnPart]
    content: Any
    result: ToolReturnPart | None


class Processor:
    """Reduces histories, archives the originals, and reports. `history_processor` describes the arguments.

    It knows parts by `id`: parts are not hashable, and equal parts can be different parts. An id is removed together
    with its part, before another object can get it. Each access is one dict operation, so threads need no lock; at
    worst, two threads reduce the same part.
    """

    def __init__(
        self,
        rules: RulesLike,
        archive: str | Path | Archive | None = None,
        *,
        on_reduce: Callable[[Reduction], None] | None = None,
        telemetry: bool = True,
        dry_run: bool = False,
        references: bool = False,
    ) -> None:
        check_flags(telemetry=telemetry, references=references, dry_run=dry_run)
        if not (on_reduce is None or callable(on_reduce)):
            raise TypeError(f"on_reduce={reprlib.repr(on_reduce)} is not a function that takes a Reduction")
        _check_synchronous("on_reduce", on_reduce)
        self.rules = load_rules(rules)
        self.archive = None if archive is None or dry_run else open_archive(archive)
        if references and not isinstance(self.rules, Reducer):
            raise UserError("references=True needs rule files or a Reducer")
        self._references, self._dry_run = references, dry_run
        self._report = reporter(on_reduce, telemetry, dry_run)
        self.known: dict[int, _Known] = {}

    def __call__(self, ctx: RunContext[Any] | None, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """Return the reduced messages; unchanged ones stay the same objects. An archive needs the context."""
        engine = workflow()
        if self.archive is not None and engine in REPLAYED:
            raise UserError(f"an archive is a file, and a {engine} workflow does no I/O: leave out `archive` there")
        clock = float if engine in REPLAYED else perf_counter  # in a workflow that is replayed, the time is always 0
        attempt_part = _attempts(self.rules, messages, self._references, clock)
        attempts: list[Attempt] = []

        def change(index: int, part: Any) -> Any:
            if type(part) is not ToolReturnPart:
                return part
            known = self.known.get(id(part))
            if known is not None and (known.result is None or known.content is part.content):
                return known.result or part
            one = attempt_part(index, part)
            attempts.append(one)
            return self._remembered(part, one.new)

        result = [with_parts(message, partial(change, index)) for index, message in enumerate(messages)]
        changed = [one for one in attempts if one.is_changed]
        if self.archive is not None and ctx is not None and changed:
            store(self.archive, ctx, messages, changed)
        self._report([one for one in attempts if one.applies])
        return result

    async def reduce(self, ctx: RunContext[Any], messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """Reduce messages, in a worker thread if new contents are large, so that the event loop does not wait."""
        # Workflows are replayed or resumed, so their code stays in one thread. Temporal's event loop has no others.
        if self._is_large(messages) and not workflow():
            return await asyncio.to_thread(self, ctx, messages)
        return self(ctx, messages)

    def _is_large(self, messages: Sequence[ModelMessage]) -> bool:
        size = 0
        for part in chain.from_iterable(message.parts for message in messages):
            if type(part) is ToolReturnPart and id(part) not in self.known:
                size += _size(part.content)
                if size > LARGE:
                    return True
        return False

    def _remembered(self, part: ToolReturnPart, new: ToolReturnPart) -> ToolReturnPart:
        """Return the result for a part, and remember it."""
        result = part if self._dry_run else new
        self._remember(result, None, None)
        if result is not part:
            self._remember(part, part.content, result)
        return result

    def _remember(self, part: ToolReturnPart, content: Any, result: ToolReturnPart | None) -> None:
        key = id(part)
        self.known[key] = _Known(ref(part, lambda _: self.known.pop(key, None)), content, result)


def _attempts(
    rules: Rules, messages: Sequence[ModelMessage], references: bool, clock: Callable[[], float]
) -> Callable[[int, ToolReturnPart], Attempt]:
    """Return a function that tries to reduce a part of the message with this number. It never raises."""
    reduce_content = _reduce_with(rules)
    mentions = LaterMentions(messages) if references else None
    last_response = len(messages) - 1
    while last_response >= 0 and messages[last_response].kind != "response":
        last_response -= 1

    def attempt_part(number: int, part: ToolReturnPart) -> Attempt:
        protected = partial(mentions.after, number, part.content) if mentions else None
        outcome, applies = Outcome(None, part.content), False

        def reduce(tool: str, content: Any) -> Any:
            nonlocal outcome, applies
            applies = True
            outcome = reduce_content(tool, content, protected)
            return outcome.content

        started = clock()
        try:
            new = reduced_part(part, reduce)
        except Exception as error:
            new, applies, outcome = part, True, replace(outcome, fault=location(error))
        return Attempt(part, new, outcome, applies, is_new=number > last_response, seconds=clock() - started)

    return attempt_part


def _reduce_with(rules: Rules) -> Callable[..., Outcome]:
    """Return `reduce(tool, content, protected)`, with the ruleset of now: `reload` can replace it."""
    if isinstance(rules, Reducer):
        return partial(attempt, rules.ruleset)
    return lambda tool, content, _: Outcome(None, rules.reduce_content(tool, content))


def _size(content: Any) -> int:
    try:
        return chars(content) if type(content) in PLAIN else LARGE + 1  # counting would convert a live object
    except Exception:  # the attempt to reduce this content reports the error
        return 0


def load_rules(rules: RulesLike) -> Rules:
    """Return rules that are already loaded, or load sources. Raises `RuleError`, and `TypeError` for other values."""
    paths = rules if isinstance(rules, (list, tuple)) else [rules]
    if paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        return Reducer.load(*map(os.fspath, paths))  # a `Path` of an empty text would be the current folder
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


def _check_synchronous(name: str, function: Callable[..., object] | None) -> None:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        raise TypeError(f"{name} is asynchronous; define it with `def`, not with `async def`")
