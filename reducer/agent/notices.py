"""What is told of a request whose returns were reduced, to a callback and to the log; nothing of any content."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic_ai.messages import ToolReturnPart

from reducer.agent import telemetry
from reducer.engine import Outcome
from reducer.values import chars

_logger = logging.getLogger("reducer")

Log = Callable[[str, str, str], None]
"""Logs a text about a rule, of a kind: only the first of a rule and kind."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """One tool return that was reduced: `before` and `after` are characters as the model is shown them, `rule` the first tool name of the rule.

    `preserved` counts the entities that `preserve` put back or that marks mention.
    """

    tool: str
    tool_call_id: str
    rule: str
    before: int
    after: int
    preserved: int


class Found(NamedTuple):
    """A part, the one that stands for it now, and what the rule did."""

    old: ToolReturnPart
    new: ToolReturnPart
    outcome: Outcome


def teller(on_reduce: Callable[[Reduction], None] | None, traced: bool, log: Log) -> Callable[[Iterable[Found]], None]:
    """Make what tells of the returns that one request reduced. It never raises: a fault of `on_reduce` is logged once."""
    emit = telemetry.emitter() if traced else None

    def tell(found: Iterable[Found]) -> None:
        heard = emit is not None and telemetry.listening()
        if on_reduce is None and not heard:
            return
        reductions = [_reduction(*one) for one in found]
        if heard and emit is not None:
            emit(reductions)
        if on_reduce is not None:
            for reduction in reductions:
                on_reduce(reduction)

    def safely(found: Iterable[Found]) -> None:
        try:
            tell(found)
        except Exception as error:
            log("", place(error), f"telling of reduced returns failed: {place(error)}")

    return safely


def _reduction(old: ToolReturnPart, new: ToolReturnPart, outcome: Outcome) -> Reduction:
    rule = "" if outcome.rule is None else outcome.rule.name
    return Reduction(old.tool_name, old.tool_call_id, rule, chars(old.content), chars(new.content), outcome.preserved)


def once() -> Log:
    """Make a log of errors that says one thing once: `log(rule, kind, text)`."""
    logged: set[tuple[str, str]] = set()

    def log(rule: str, kind: str, text: str) -> None:
        if (rule, kind) not in logged:
            logged.add((rule, kind))
            _logger.error("%s", text)

    return log


def place(error: Exception) -> str:
    """Say the kind of an error and where it arose; its own text may hold what a tool returned."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "an unknown place" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return f"{type(error).__name__} at {where}"
