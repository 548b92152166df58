"""The history processor: its arguments, checked at construction, and what it does with each request."""

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

    `rules`: one path or several paths of rule files and folders, or a `Reducer`. `on_reduce` is called with a
    `Reduction` for each reduced return. `telemetry`: record OpenTelemetry events and counters. `archive`: store the
    originals; the processor then takes the `RunContext` before the messages. `references`: keep what later responses
    of an old history reference; the reduced history must be what is stored.

    The processor changes nothing in place, returns a new list, reduces each return once and can run in several threads.
    An error leaves the return unchanged and is logged once per rule and kind.

    Raises `RuleError` for rules that cannot be loaded, `ArchiveError` for an archive that cannot be used, `TypeError`
    for wrong arguments and `UserError` for `references` without a `Reducer`. In a DBOS or Temporal workflow a request
    with an archive raises `UserError`.
    """
    check_flags(telemetry=telemetry, references=references)
    check_callback(on_reduce)
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
    """Return an object that reduces contents; paths are loaded as by `Reducer.load`.

    Raises `RuleError` for rules that cannot be loaded, `TypeError` for anything else.
    """
    paths = rules if isinstance(rules, (list, tuple)) else [rules]
    if paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        return Reducer.load(*map(Path, paths))
    if isinstance(rules, type) or not callable(getattr(rules, "reduce_content", None)):
        expected = "a path ('rules'), several paths (['rules', 'more.yaml']), or a Reducer"
        raise TypeError(f"rules={reprlib.repr(rules)} cannot be used; give {expected}")
    _check_synchronous("rules.reduce_content", rules.reduce_content)  # type: ignore[union-attr]
    return rules  # type: ignore[return-value]


def check_flags(**flags: object) -> None:
    """Check that options are True or False. Raises `TypeError`."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}={reprlib.repr(value)} is not a boolean; give True or False")


def check_callback(on_reduce: Callable[..., object] | None) -> None:
    """Check that `on_reduce` is a function that is not asynchronous. Raises `TypeError`."""
    if on_reduce is not None:
        if not callable(on_reduce):
            raise TypeError(f"on_reduce={reprlib.repr(on_reduce)} is not a function that takes a Reduction")
        _check_synchronous("on_reduce", on_reduce)


def _check_synchronous(name: str, function: Callable[..., object]) -> None:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        raise TypeError(f"{name} is asynchronous; define it with `def`, not with `async def`")
