"""Report reductions to a callback and to OpenTelemetry. Nothing of any content is reported.

OpenTelemetry gets one event on the current span per request that reduced something, and counters. Without a recording
span and a meter provider nothing is measured. In a Temporal workflow nothing is recorded: a replay would count twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opentelemetry.metrics import get_meter, get_meter_provider
from opentelemetry.trace import get_current_span

from reducer.agent.durable import workflow
from reducer.agent.log import Log, location
from reducer.agent.parts import Reduced
from reducer.values import chars


@dataclass(frozen=True, slots=True)
class Reduction:
    """One reduced tool return: `before` and `after` are characters as the model sees them.

    `rule` is the first tool name of the rule. `preserved` counts the entities that were restored or that markers
    mention.
    """

    tool: str
    tool_call_id: str
    rule: str
    before: int
    after: int
    preserved: int


def reporter(
    on_reduce: Callable[[Reduction], None] | None, telemetry: bool, log: Log
) -> Callable[[Sequence[Reduced]], None]:
    """Return a function that reports what one request reduced. It never raises: an error is logged once."""
    record = _recorder() if telemetry else None

    def report(reduced: Sequence[Reduced]) -> None:
        try:
            recording = record is not None and _is_recording()
            if on_reduce is None and not recording:
                return
            reductions = [_reduction(one) for one in reduced]
            if record is not None and recording:
                record(reductions)
            if on_reduce is not None:
                for reduction in reductions:
                    on_reduce(reduction)
        except Exception as error:
            log("", location(error), f"a reduction could not be reported: {location(error)}")

    return report


def _reduction(reduced: Reduced) -> Reduction:
    old, new, outcome = reduced
    rule = "" if outcome.rule is None else outcome.rule.name
    return Reduction(
        old.tool_name, old.tool_call_id, rule, chars(old.content), chars(new.content), outcome.restored.preserved
    )


def _is_recording() -> bool:
    if workflow() == "Temporal":
        return False
    provider = type(get_meter_provider()).__module__
    return get_current_span().is_recording() or not provider.startswith("opentelemetry.metrics")


def _recorder() -> Callable[[Sequence[Reduction]], None]:
    meter = get_meter("reducer")
    returns = meter.create_counter("reducer.returns", "{return}", "Reduced tool returns")
    before = meter.create_counter("reducer.characters.before", "{character}", "Characters before reduction")
    after = meter.create_counter("reducer.characters.after", "{character}", "Characters after reduction")
    preserved = meter.create_counter("reducer.entities.preserved", "{entity}", "Preserved entities")

    def record(reductions: Sequence[Reduction]) -> None:
        get_current_span().add_event(
            "reducer.reduced",
            {
                "reducer.tools": [one.tool for one in reductions],
                "reducer.rules": [one.rule for one in reductions],
                "reducer.characters.before": [one.before for one in reductions],
                "reducer.characters.after": [one.after for one in reductions],
                "reducer.entities.preserved": [one.preserved for one in reductions],
            },
        )
        for one in reductions:
            labels = {"reducer.tool": one.tool, "reducer.rule": one.rule}
            returns.add(1, labels)
            before.add(one.before, labels)
            after.add(one.after, labels)
            preserved.add(one.preserved, labels)

    return record
