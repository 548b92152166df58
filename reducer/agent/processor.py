"""The history processor. Its arguments are checked when it is created."""

from __future__ import annotations

import inspect
import logging
import os
import reprlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage
from pydantic_ai.tools import RunContext

from reducer import Reducer
from reducer.agent.originals import open_archive, store
from reducer.agent.parts import PartReducer, Rules
from reducer.agent.telemetry import Reduction, reporter, workflow
from reducer.archive import Archive

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
