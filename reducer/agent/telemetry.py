"""Report reductions and faults to a callback, to OpenTelemetry and to the log. Reports never include content.

OpenTelemetry receives counters and events on the current span: `reducer.reduced` for each request that reduces
something, and `reducer.fault` for each return that could not be reduced, or only in part. Nothing is measured without a
recording span or a meter provider, or in a Temporal workflow, where a replay would count twice.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from opentelemetry.metrics import get_meter, get_meter_provider
from opentelemetry.trace import get_current_span
from pydantic_ai.messages import ToolReturnPart

from reducer.engine import Outcome
from reducer.values import chars

_MEASURES = {
    "before": ("reducer.characters.before", "{character}", "Characters before reduction"),
    "after": ("reducer.characters.after", "{character}", "Characters after reduction"),
    "preserved": ("reducer.entities.preserved", "{entity}", "Preserved entities"),
}
"""The name, unit and description of the counter for each field of `Reduction`."""


class Attempt(NamedTuple):
    """A part before and after the attempt to reduce it, with the outcome."""

    old: ToolReturnPart
    new: ToolReturnPart
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Reduction:
    """One tool return that was reduced or has a fault.

    `rule`: the first tool name of the rule, or empty for other objects than a `Reducer`.
    `before` and `after`: the number of characters that the model sees; both are 0 if a fault makes them unknown.
    `preserved`: the number of entities that were restored or that markers mention.
    `fault`: the reason why the rule could not be applied, or not completely; empty if it was.
    """

    tool: str
    tool_call_id: str
    rule: str
    before: int
    after: int
    preserved: int
    fault: str = ""


def reporter(
    on_reduce: Callable[[Reduction], None] | None, telemetry: bool, dry_run: bool
) -> Callable[[Sequence[Attempt]], None]:
    """Return a function that reports the attempts of one request. It never raises; problems are logged once."""
    log = cache(logging.getLogger("reducer").error)
    record = _recorder({"reducer.dry_run": True} if dry_run else {})

    @contextmanager
    def logging_errors() -> Iterator[None]:
        try:
            yield
        except Exception as error:
            log(f"a reduction could not be reported: {location(error)}")

    def report(attempts: Sequence[Attempt]) -> None:
        with logging_errors():
            recording = attempts and telemetry and _is_recording()
            reductions: list[Reduction] = []
            for one in attempts:
                if fault := one.outcome.fault:
                    state = "stays unchanged" if one.new is one.old else "is not reduced completely"
                    log(f"a return of {_rule(one) or one.old.tool_name} {state}: {fault}")
                if recording or on_reduce is not None:
                    with logging_errors():  # an error in one report does not prevent the others
                        reductions.append(_reduction(one))
                        if on_reduce is not None:
                            on_reduce(reductions[-1])
            if recording:
                record(reductions)

    return report


def _reduction(one: Attempt) -> Reduction:
    try:
        sizes = {"before": chars(one.old.content), "after": chars(one.new.content)}
    except Exception:
        if not one.outcome.fault:
            raise
        sizes = {"before": 0, "after": 0}
    sizes["preserved"] = one.outcome.restored.preserved
    return Reduction(one.old.tool_name, one.old.tool_call_id, _rule(one), **sizes, fault=one.outcome.fault)


def _rule(one: Attempt) -> str:
    return one.outcome.rule.name if one.outcome.rule else ""


def _is_recording() -> bool:
    if workflow() == "Temporal":
        return False
    provider = type(get_meter_provider()).__module__
    return get_current_span().is_recording() or not provider.startswith("opentelemetry.metrics")


def _recorder(mode: dict[str, bool]) -> Callable[[Sequence[Reduction]], None]:
    create = get_meter("reducer").create_counter
    returns = create("reducer.returns", "{return}", "Reduced tool returns")
    faults = create("reducer.faults", "{return}", "Tool returns that could not be reduced, or only in part")
    counters = {field: create(name, unit, description) for field, (name, unit, description) in _MEASURES.items()}

    def labels(one: Reduction) -> dict[str, str | bool]:
        return {"reducer.tool": one.tool, "reducer.rule": one.rule, **mode}

    def record(reductions: Sequence[Reduction]) -> None:
        span = get_current_span()
        for one in (one for one in reductions if one.fault):
            details = {"reducer.tool_call_id": one.tool_call_id, "reducer.fault": one.fault}
            span.add_event("reducer.fault", {**labels(one), **details})
            faults.add(1, labels(one))
        reduced = [one for one in reductions if not one.fault or one.after < one.before]
        if reduced:
            names = {"reducer.tools": [one.tool for one in reduced], "reducer.rules": [one.rule for one in reduced]}
            measured = {name: [getattr(one, field) for one in reduced] for field, (name, _, _) in _MEASURES.items()}
            span.add_event("reducer.reduced", {**names, **measured, **mode})
        for one in reduced:
            returns.add(1, labels(one))
            for field, counter in counters.items():
                counter.add(getattr(one, field), labels(one))

    return record


def workflow() -> str:
    """Return `Temporal`, `DBOS` or `Prefect` inside a workflow of that engine, otherwise an empty text."""
    # If a package is not imported, none of its workflows runs. PydanticAI asks the engines in the same way.
    temporal, dbos, prefect = map(sys.modules.get, ("temporalio.workflow", "dbos", "prefect.context"))
    if temporal is not None and temporal.in_workflow():
        return "Temporal"
    if dbos is not None and dbos.DBOS.workflow_id is not None:
        return "DBOS"
    if prefect is not None and prefect.FlowRunContext.get() is not None:
        return "Prefect"
    return ""


def location(error: Exception) -> str:
    """Return the type and the line of an error without its message, which may contain what a tool returned."""
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    return f"{type(error).__name__} at {Path(frame.f_code.co_filename).name}:{line}"
