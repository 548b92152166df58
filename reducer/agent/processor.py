"""The history processor: it reduces each tool return when it is first sent to the model."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage
from pydantic_ai.tools import RunContext

from reducer import Reducer
from reducer.agent.durable import workflow
from reducer.agent.options import RulesLike, check_callback, check_flags, load_rules, open_archive
from reducer.agent.originals import entries, owner
from reducer.agent.parts import PartReducer
from reducer.agent.telemetry import Reduction, reporter
from reducer.archive import Archive


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
    originals; the processor then takes the `RunContext` before the messages. `references`: keep what
    later responses of an old history reference; the reduced history must be what is stored.

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
            opened.add(entries(messages, reduced, owner(ctx)))
        report(reduced)
        return result

    return reduce_and_archive
