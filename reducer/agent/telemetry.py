"""Report reductions to a callback and to OpenTelemetry. Reports never include content.

OpenTelemetry receives counters, and one event on the current span for each request that reduces something. Nothing is
measured without a recording span or a meter provider, or in a Temporal workflow, where a replay would count twice.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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


class Reduced(NamedTuple):
    """A part before and after its reduction, with the outcome."""

    old: ToolReturnPart
    new: ToolReturnPart
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Reduction:
    """One reduced tool return.

    `rule`: the first tool name of the rule, or empty for other objects than a `Reducer`.
    `before` and `after`: the number of characters that the model sees.
    `preserved`: the number of entities that were restored or that markers mention.
    """

    tool: str
    tool_call_id: str
    rule: str
    before: int
    after: int
    preserved: int


def reporter(
    on_reduce: Callable[[Reduction], None] | None, telemetry: bool, log: Callable[[str], None]
) -> Callable[[Sequence[Reduced]], None]:
    """Return a function that reports what one request reduced. It never raises; errors are logged once."""
    record = _recorder()

    @contextmanager
    def logging_errors() -> Iterator[None]:
        try:
            yield
        except Exception as error:
            log(f"a reduction could not be reported: {location(error)}")

    def report(reduced: Sequence[Reduced]) -> None:
        with logging_errors():
            recording = reduced and telemetry and _is_recording()
            reductions: list[Reduction] = []
            for one in reduced if recording or on_reduce is not None else ():
                with logging_errors():  # an error in one report does not prevent the others
                    reductions.append(_reduction(one))
                    if on_reduce is not None:
                        on_reduce(reductions[-1])
            if recording:
                record(reductions)

    return report


def _reduction(one: Reduced) -> Reduction:
    rule = one.outcome.rule.name if one.outcome.rule else ""
    before, after = chars(one.old.content), chars(one.new.content)
    preserved = one.outcome.restored.preserved
    return Reduction(one.old.tool_name, one.old.tool_call_id, rule, before=before, after=after, preserved=preserved)


def _is_recording() -> bool:
    if workflow() == "Temporal":
        return False
    provider = type(get_meter_provider()).__module__
    return get_current_span().is_recording() or not provider.startswith("opentelemetry.metrics")


def _recorder() -> Callable[[Sequence[Reduction]], None]:
    create = get_meter("reducer").create_counter
    returns = create("reducer.returns", "{return}", "Reduced tool returns")
    counters = {field: create(name, unit, description) for field, (name, unit, description) in _MEASURES.items()}

    def record(reductions: Sequence[Reduction]) -> None:
        names = {"reducer.tools": [one.tool for one in reductions], "reducer.rules": [one.rule for one in reductions]}
        measured = {name: [getattr(one, field) for one in reductions] for field, (name, _, _) in _MEASURES.items()}
        get_current_span().add_event("reducer.reduced", {**names, **measured})
        for one in reductions:
            labels = {"reducer.tool": one.tool, "reducer.rule": one.rule}
            returns.add(1, labels)
            for field, counter in counters.items():
                counter.add(getattr(one, field), labels)

    return record


def workflow() -> str:
    """Return `Temporal` or `DBOS` inside a workflow of that engine, otherwise an empty text."""
    # If a package is not imported, none of its workflows runs.
    temporal = sys.modules.get("temporalio.workflow")
    if temporal is not None and temporal.in_workflow():
        return "Temporal"
    dbos = sys.modules.get("dbos")
    if dbos is not None and dbos.DBOS.workflow_id is not None:
        return "DBOS"
    return ""


def location(error: Exception) -> str:
    """Return the type and the line of an error without its message, which may contain what a tool returned."""
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    return f"{type(error).__name__} at {Path(frame.f_code.co_filename).name}:{line}"
