"""The history processor. It reduces each tool return once and remembers the result."""

from __future__ import annotations

import asyncio
import inspect
import os
import reprlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from weakref import ref

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ToolReturnPart
from pydantic_ai.tools import RunContext

from reducer import Reducer
from reducer.agent.originals import open_archive, store
from reducer.agent.telemetry import Attempt, Reduction, location, reporter, workflow
from reducer.archive import Archive
from reducer.engine import Outcome, attempt
from reducer.histories.live import later_mentions, reduced_part, with_parts
from reducer.values import PLAIN, chars

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
    `telemetry`: record OpenTelemetry events and counters.
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


class Processor:
    """Reduces histories, archives the originals, and reports. `history_processor` describes the arguments."""

    def __init__(
        self,
        rules: RulesLike,
        archive: str | Path | Archive | None,
        *,
        on_reduce: Callable[[Reduction], None] | None,
        telemetry: bool,
        dry_run: bool,
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
        self._parts = PartReducer(self.rules, references, dry_run)
        self._report = reporter(on_reduce, telemetry, dry_run)

    def __call__(self, ctx: RunContext[Any] | None, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """Return the reduced messages. An archive needs the context."""
        if self.archive is not None and (engine := workflow()) in ("DBOS", "Temporal"):
            raise UserError(f"an archive is a file, and a {engine} workflow does no I/O: leave out `archive` there")
        result, attempts = self._parts.reduce(messages)
        if self.archive is not None and ctx is not None and attempts:
            store(self.archive, ctx, messages, [one for one in attempts if one.new is not one.old])
        self._report(attempts)
        return result

    async def reduce(self, ctx: RunContext[Any], messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """Reduce messages, in a worker thread if new contents are large, so that the event loop does not wait."""
        # Workflows are replayed or resumed, so their code stays in one thread. Temporal's event loop has no others.
        if self._parts.is_large(messages) and not workflow():
            return await asyncio.to_thread(self, ctx, messages)
        return self(ctx, messages)


class PartReducer:
    """Reduces histories and remembers parts by `id`: results in `done`, originals with their results in `originals`.

    Parts are not hashable, and equal parts can be different parts. An id is removed together with its part, before
    another object can get it. Each access is one dict operation, so threads need no lock; at worst, two threads reduce
    the same part.
    """

    def __init__(self, rules: Rules, references: bool = False, dry_run: bool = False) -> None:
        self.done: dict[int, ref[ToolReturnPart]] = {}
        self.originals: dict[int, tuple[ref[ToolReturnPart], Any, ToolReturnPart]] = {}
        self._rules, self._references, self._dry_run = rules, references, dry_run

    def reduce(self, messages: Sequence[ModelMessage]) -> tuple[list[ModelMessage], list[Attempt]]:
        """Return the new messages, and the first attempts that changed a part or had a fault.

        Unchanged messages stay the same objects; in a dry run, all of them.
        """
        ruleset = self._rules.ruleset if isinstance(self._rules, Reducer) else None  # `reload` can replace it
        mentions = later_mentions(messages)
        result, attempts = list(messages), list[Attempt]()

        def reduce_content(index: int, tool: str, content: Any) -> Outcome:
            if ruleset is None:
                return Outcome(None, self._rules.reduce_content(tool, content))
            return attempt(ruleset, tool, content, mentions(index, content) if self._references else None)

        def reduce_part(index: int, part: Any) -> Any:
            if type(part) is not ToolReturnPart or id(part) in self.done:
                return part
            _, content, kept = self.originals.get(id(part), (None, None, None))
            if kept is None or content is not part.content:
                new, outcome = _attempt(part, partial(reduce_content, index))
                if new is not part or outcome.fault:
                    attempts.append(Attempt(part, new, outcome))
                kept = part if self._dry_run else new
                self.done[id(kept)] = ref(kept, partial(self._remove, id(kept)))
                if kept is not part:
                    self.originals[id(part)] = ref(part, partial(self._remove, id(part))), part.content, kept
            return kept

        new = set(map(id, self._new(messages)))
        for index, message in enumerate(messages if new else ()):
            if not new.isdisjoint(map(id, message.parts)):
                result[index] = with_parts(message, partial(reduce_part, index))
        return result, attempts

    def is_large(self, messages: Sequence[ModelMessage]) -> bool:
        """Return whether the contents that `reduce` reads for the first time have more than `LARGE` characters."""
        sizes = (_size(part.content) for part in self._new(messages) if id(part) not in self.originals)
        return any(total > LARGE for total in accumulate(sizes))

    def _new(self, messages: Sequence[ModelMessage]) -> list[ToolReturnPart]:
        parts: Iterator[Any] = chain.from_iterable(message.parts for message in messages)
        return [part for part in parts if type(part) is ToolReturnPart and id(part) not in self.done]

    def _remove(self, key: int, _: object) -> None:
        self.done.pop(key, None)
        self.originals.pop(key, None)


def _attempt(part: ToolReturnPart, reduce_content: Callable[[str, Any], Outcome]) -> tuple[ToolReturnPart, Outcome]:
    outcome = Outcome(None, part.content)

    def reduce(tool: str, content: Any) -> Any:
        nonlocal outcome
        outcome = reduce_content(tool, content)
        return outcome.content

    try:
        return reduced_part(part, reduce), outcome
    except Exception as error:
        return part, replace(outcome, fault=location(error))


def _size(content: Any) -> int:
    try:
        return chars(content, LARGE) if type(content) in PLAIN else LARGE + 1  # counting would convert a live object
    except Exception:  # the attempt to reduce this content reports the error
        return 0


def load_rules(rules: RulesLike) -> Rules:
    """Return rules that are already loaded, or load sources. Raises `RuleError`, and `TypeError` for other values."""
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


def _check_synchronous(name: str, function: Callable[..., object] | None) -> None:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        raise TypeError(f"{name} is asynchronous; define it with `def`, not with `async def`")
