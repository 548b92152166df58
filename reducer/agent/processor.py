"""The history processor. It reduces each tool return once and remembers the result."""

from __future__ import annotations

import asyncio
import inspect
import reprlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias
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
from reducer.histories.repeats import Mentioned, Repeated, Repeats
from reducer.rules import Ruleset

REPLAYED = ("DBOS", "Temporal")
"""The workflow engines that run the code of a workflow again, so that it must not use a file or a clock."""


RulesLike: TypeAlias = "str | Path | Sequence[str | Path] | Reducer"
"""A `Reducer`, or one path or several paths of rule files and folders."""


def history_processor(
    rules: RulesLike,
    *,
    on_reduce: Callable[[Reduction], None] | None = None,
    telemetry: bool = True,
    archive: str | Path | Archive | None = None,
    references: bool = False,
    dry_run: bool = False,
    repeats: bool = False,
) -> Callable[..., list[ModelMessage]]:
    """Return a history processor for `Agent(history_processors=[…])` (PydanticAI 1) or `ProcessHistory(…)` (2).

    `rules`: a path or several paths of rule files and folders, or a `Reducer`.
    `on_reduce`: a function that is called with a `Reduction` for each reduced return and each fault.
    `telemetry`: record OpenTelemetry events, counters and durations.
    `archive`: store the originals. The processor then takes the `RunContext` before the messages.
    `references`: keep what later responses of an old history reference. Store the history that the processor returns.
    `dry_run`: change and archive nothing; only report what would change.
    `repeats`: leave out what an earlier return of the history shows. Run processors that remove messages before.

    The processor modifies nothing in place, returns a new list, reduces each return once, and is safe to use in several
    threads. If a return cannot be reduced, it stays unchanged. The fault is reported, and logged once per rule.

    Raises `RuleError` for rules that cannot be loaded, `ArchiveError` for an archive that cannot be used, and
    `TypeError` for rules, an archive or a callback of another type. With an archive, the processor raises `UserError`
    inside a DBOS or Temporal workflow.
    """
    run = Processor(
        rules,
        archive,
        on_reduce=on_reduce,
        telemetry=telemetry,
        references=references,
        dry_run=dry_run,
        repeats=repeats,
    )

    def reduce_tool_returns(messages: list[ModelMessage]) -> list[ModelMessage]:
        return run(None, messages)

    def reduce_and_archive(ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        return run(ctx, messages)

    return reduce_tool_returns if archive is None else reduce_and_archive


class _Known(NamedTuple):
    """A part that was reduced before, its content then and its result, which is None if the part is a result itself."""

    part: ref[ToolReturnPart] | None
    content: Any
    result: ToolReturnPart | None


_NEW = _Known(None, object(), None)
"""What is known about a part that was not reduced before; no part has this content."""


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
        repeats: bool = False,
    ) -> None:
        if inspect.iscoroutinefunction(on_reduce) or not (on_reduce is None or callable(on_reduce)):
            given = f"on_reduce={reprlib.repr(on_reduce)} cannot be used"
            raise TypeError(f"{given}; give a function that takes a Reduction, defined with `def`")
        self.reducer = load_rules(rules)
        self.archive = None if archive is None or dry_run else open_archive(archive)
        self._references, self._dry_run, self._repeats = references, dry_run, repeats
        self._report = reporter(on_reduce, telemetry, dry_run)
        self.known: dict[int, _Known] = {}

    def __call__(self, ctx: RunContext[Any] | None, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """Return the reduced messages; unchanged ones stay the same objects. An archive needs the context."""
        engine = workflow()
        if self.archive is not None and engine in REPLAYED:
            raise UserError(f"an archive is a file, and a {engine} workflow does no I/O: leave out `archive` there")
        clock = float if engine in REPLAYED else perf_counter  # in a workflow that is replayed, the time is always 0
        ruleset = self.reducer.ruleset  # `reload` can replace it at any time
        mentions = LaterMentions(messages) if self._references else None
        last_response = _last_response(messages)
        attempts: list[Attempt] = []
        repeats = Repeats(partial(attempt, ruleset)) if self._repeats else None
        dangling = 0

        def change(index: int, part: Any) -> Any:
            nonlocal dangling
            if type(part) is not ToolReturnPart:
                return part
            known = self._result_of(part, repeats)
            if known is not None:
                dangling += 0 if repeats is None else _show(known, repeats)
                return known
            mentioned = partial(mentions.after, index) if mentions else None
            started = clock()
            new, repeated = _attempt(ruleset, part, mentioned, repeats)
            if repeated is not None:
                seconds = clock() - started
                attempts.append(Attempt(part, new, repeated.outcome, index > last_response, seconds, repeated.saved))
                dangling += repeated.dangling
            result = part if self._dry_run else new
            self._remember(result, None)
            if result is not part:
                self._remember(part, result)
            return result

        result = list(messages)
        for index in self._unfinished(messages):
            result[index] = with_parts(messages[index], partial(change, index))
        if self.archive is not None and ctx is not None:
            store(self.archive, ctx, messages, attempts)
        self._report(attempts, dangling)
        return result

    async def reduce(self, ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        """Reduce messages in a worker thread, so that the event loop does not wait for large contents.

        Return the same list if all were reduced before.
        """
        if not self._unfinished(messages):
            return messages
        # Workflows are replayed or resumed, so their code stays in one thread. Temporal's event loop has no others.
        return self(ctx, messages) if workflow() else await asyncio.to_thread(self, ctx, messages)

    def _unfinished(self, messages: Sequence[ModelMessage]) -> Sequence[int]:
        """Return the numbers of the messages with a tool return that is not a result; for repeats, of all messages."""
        if self._repeats:
            return range(len(messages))
        numbers: list[int] = []
        get = self.known.get
        for number, message in enumerate(messages):
            if message.kind == "request":
                for part in message.parts:
                    if type(part) is ToolReturnPart:
                        known = get(id(part), _NEW)
                        if known.content is not part.content or known.result is not None:
                            numbers.append(number)
                            break
        return numbers

    def _result_of(self, part: ToolReturnPart, repeats: Repeats | None) -> ToolReturnPart | None:
        """Return the result for a part that was reduced before, or None.

        A result is not used again if the history no longer contains an earlier return that its markers name.
        """
        known = self.known.get(id(part), _NEW)
        if known.content is not part.content:
            return None
        if known.result is None:
            return part
        return None if repeats is not None and repeats.dangling(known.result.content) else known.result

    def _remember(self, part: ToolReturnPart, result: ToolReturnPart | None) -> None:
        key = id(part)
        self.known[key] = _Known(ref(part, lambda _: self.known.pop(key, None)), part.content, result)


def _last_response(messages: Sequence[ModelMessage]) -> int:
    """Return the number of the last response, or -1."""
    numbers = reversed(range(len(messages)))
    return next((number for number in numbers if messages[number].kind == "response"), -1)


def _attempt(
    ruleset: Ruleset, part: ToolReturnPart, mentioned: Mentioned | None, repeats: Repeats | None
) -> tuple[ToolReturnPart, Repeated | None]:
    """Return the reduced part and what was done to it, and never raise.

    The latter is None if rules never apply to the part: to a number or a failed return, for example.
    """
    repeated: Repeated | None = None

    def reduce(tool: str, content: Any) -> Any:
        nonlocal repeated
        if repeats is None:
            protected = None if mentioned is None else partial(mentioned, content)
            outcome = attempt(ruleset, tool, content, protected)
            repeated = Repeated(outcome, outcome.content)
        else:
            repeated = repeats.reduce(tool, part.tool_call_id, content, mentioned)
        return repeated.content

    try:
        return reduced_part(part, reduce), repeated
    except Exception as error:
        return part, Repeated(Outcome(None, part.content, fault=location(error)), part.content)


def _show(part: ToolReturnPart, repeats: Repeats) -> int:
    """Remember what a reduced part shows, and return the number of its markers that dangle."""
    dangling = 0

    def show(tool: str, content: Any) -> Any:
        nonlocal dangling
        dangling = repeats.show(tool, part.tool_call_id, content)
        return content

    reduced_part(part, show)
    return dangling


def load_rules(rules: RulesLike) -> Reducer:
    """Return a `Reducer`, or load sources into one. Raises `RuleError`, and `TypeError` for other values."""
    if isinstance(rules, Reducer):
        return rules
    paths = rules if isinstance(rules, (list, tuple)) else [rules]
    if not paths or not all(isinstance(path, (str, Path)) for path in paths):
        expected = "a path ('rules'), several paths (['rules', 'more.yaml']), or a Reducer"
        raise TypeError(f"rules={reprlib.repr(rules)} cannot be used; give {expected}")
    return Reducer.load(*paths)
