"""OpenTelemetry: one event on the current span for each request that reduced something, and counters of the totals.

An event on the span that stands around the request, an agent's own when it is instrumented, is the one form that all versions of the
API have and all backends show; its logs API is not stable yet. Where no span records and no meter provider is set, nothing is measured.
In a Temporal workflow nothing is recorded: clocks and locks have no place there, and a replay would count everything again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from opentelemetry.metrics import get_meter, get_meter_provider
from opentelemetry.trace import get_current_span

from reducer.agent.durable import workflow


class Numbers(Protocol):
    """The names and counts that are told of one return."""

    @property
    def tool(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def before(self) -> int: ...
    @property
    def after(self) -> int: ...
    @property
    def preserved(self) -> int: ...


def listening() -> bool:
    """Tell whether anything records: the current span, or a meter provider other than the stand-ins of the API package itself."""
    if workflow() == "Temporal":
        return False
    return get_current_span().is_recording() or not type(get_meter_provider()).__module__.startswith("opentelemetry.metrics")


def emitter() -> Callable[[Sequence[Numbers]], None]:
    """Make what records the returns that one request reduced.

    The event is `reducer.reduced`, with lists of one entry a return: `reducer.tools`, `reducer.rules`, `reducer.characters.before`,
    `reducer.characters.after`, `reducer.entities.preserved`. The counters `reducer.returns`, `reducer.characters.before`,
    `reducer.characters.after` and `reducer.entities.preserved` have the attributes `reducer.tool` and `reducer.rule`.
    """
    meter = get_meter("reducer")
    returns = meter.create_counter("reducer.returns", "{return}", "Tool returns that were reduced")
    before = meter.create_counter("reducer.characters.before", "{character}", "Characters of reduced tool returns as the tools gave them")
    after = meter.create_counter("reducer.characters.after", "{character}", "Characters of reduced tool returns as the model is shown them")
    preserved = meter.create_counter("reducer.entities.preserved", "{entity}", "Entities that were put back or are mentioned in marks")

    def emit(reductions: Sequence[Numbers]) -> None:
        span = get_current_span()
        if span.is_recording():
            attributes: dict[str, list[str] | list[int]] = {
                "reducer.tools": [one.tool for one in reductions],
                "reducer.rules": [one.rule for one in reductions],
                "reducer.characters.before": [one.before for one in reductions],
                "reducer.characters.after": [one.after for one in reductions],
                "reducer.entities.preserved": [one.preserved for one in reductions],
            }
            span.add_event("reducer.reduced", attributes)
        for one in reductions:
            labels = {"reducer.tool": one.tool, "reducer.rule": one.rule}
            returns.add(1, labels)
            before.add(one.before, labels)
            after.add(one.after, labels)
            preserved.add(one.preserved, labels)

    return emit
