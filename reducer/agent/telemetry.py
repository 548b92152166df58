"""Report what happens to tool returns to a callback, to OpenTelemetry and to the log. Reports never include content.

OpenTelemetry receives events on the current span: `reducer.reduced` for each request that reduces something, and
`reducer.fault` for each return that could not be reduced, or only in part. Counters and a histogram contain each return
once, whatever happens to it. Nothing is measured without a recording span or a meter provider, or in a Temporal
workflow, where a replay would count twice.
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
from typing import Any, NamedTuple

from opentelemetry.metrics import get_meter, get_meter_provider
from opentelemetry.trace import get_current_span
from pydantic_ai.messages import ToolReturnPart

from reducer.engine import Outcome
from reducer.rules import Rule
from reducer.values import PLAIN, chars, is_media

MAX_TOOLS = 100
"""The largest number of tool names that are labels in a process. Each label costs memory in every metrics system."""
_MAX_NAME = 200
_LABELS: set[str] = set()
"""The tool names that are labels in this process."""
FIRST = 20
"""The number of returns in which a rule must find something."""

_SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
_EVENT = {
    "reducer.tools": "tool",
    "reducer.rules": "rule",
    "reducer.rule_files": "file",
    "reducer.characters.before": "before",
    "reducer.characters.after": "after",
    "reducer.characters.repeats": "repeats",
    "reducer.entities.preserved": "preserved",
}
"""The field of `Reduction` for each attribute of the event `reducer.reduced`."""


class Attempt(NamedTuple):
    """A part before and after the attempt to reduce it, with the outcome.

    `is_new`: no response follows the part, so it is the first time that a model sees it.
    `seconds`: how long the attempt took, or 0 in a workflow that must not read a clock.
    `repeats`: the characters that an earlier return shows and the new part therefore lacks.
    """

    old: ToolReturnPart
    new: ToolReturnPart
    outcome: Outcome
    is_new: bool
    seconds: float
    repeats: int = 0

    @property
    def is_changed(self) -> bool:
        """Whether the part is reduced, perhaps not completely."""
        return self.new is not self.old

    @property
    def is_reported(self) -> bool:
        """Whether the part is reported on its own, and not only counted."""
        return self.is_changed or self.outcome.fault != ""

    @property
    def rule(self) -> str:
        """The first tool name of the rule, or an empty text."""
        return self.outcome.rule.name if self.outcome.rule else ""

    @property
    def kind(self) -> str:
        """The outcome in one word, as a label."""
        if self.outcome.fault:
            return "fault"
        if self.is_changed:
            return "emptied" if self.outcome.is_emptied else "reduced"
        if self.outcome.gated:
            return "gated"
        return "unchanged" if self.outcome.rule else "no_rule"


@dataclass(frozen=True, slots=True)
class Reduction:
    """One tool return that was reduced or has a fault.

    `rule`: the first tool name of the rule, or empty for a fault that has nothing to do with it.
    `file`: the file of the rule, which tells rules for the same tool name apart.
    `before` and `after`: the number of characters that the model sees, without media; both are 0 if it is unknown.
    `preserved`: the number of entities that were restored or that markers mention.
    `fault`: the reason why the rule could not be applied, or not completely; empty if it was.
    `emptied`: none of the values of the return is left.
    `repeats`: the number of characters that were left out because an earlier return shows them.
    """

    tool: str
    tool_call_id: str
    rule: str
    before: int
    after: int
    preserved: int
    fault: str = ""
    file: str = ""
    emptied: bool = False
    repeats: int = 0


def reporter(
    on_reduce: Callable[[Reduction], None] | None, telemetry: bool, dry_run: bool
) -> Callable[[Sequence[Attempt], int], None]:
    """Return a function that reports the attempts of one request, and the number of markers that name no return.

    It never raises; problems are logged once.
    """
    log = cache(logging.getLogger("reducer").error)
    mode = {"reducer.dry_run": True} if dry_run else {}
    count, watch = _counter(mode), _watcher()

    @contextmanager
    def logging_errors() -> Iterator[None]:
        try:
            yield
        except Exception as error:
            log(f"a reduction could not be reported: {location(error)}")

    def report(attempts: Sequence[Attempt], dangling: int) -> None:
        recording = telemetry and _is_recording()
        if dangling:
            log("markers name tool returns that the history no longer contains; remove messages before reducer runs")
        reductions: list[Reduction] = []
        for one in attempts:
            with logging_errors():  # an error in one report does not prevent the others
                if one.outcome.fault:
                    state = "is not reduced completely" if one.is_changed else "stays unchanged"
                    log(f"a return of {one.rule or one.old.tool_name} {state}: {one.outcome.fault}")
                if one.is_new:
                    watch(one.outcome)
                if not recording and on_reduce is None:
                    continue
                reduction = _reduction(one)
                if recording and one.is_new:
                    count(one, reduction)
                if one.is_reported:
                    reductions.append(reduction)
                    if on_reduce is not None:
                        on_reduce(reduction)
        if recording:
            with logging_errors():
                _add_events(reductions, dangling, mode)

    return report


def _reduction(one: Attempt) -> Reduction:
    try:
        before = chars(_without_media(one.old.content))
        after = chars(_without_media(one.new.content)) if one.is_changed else before
    except Exception:  # an object in the content cannot be counted
        before = after = 0
    preserved = one.outcome.restored.preserved
    file = one.outcome.rule.file if one.outcome.rule else ""
    return Reduction(
        one.old.tool_name,
        one.old.tool_call_id,
        one.rule,
        before,
        after,
        preserved,
        one.outcome.fault,
        file,
        one.is_changed and one.outcome.is_emptied,
        one.repeats,
    )


def _without_media(content: Any) -> Any:
    """Return what a model reads as text: the bytes of an image are no characters."""
    if isinstance(content, (list, tuple)):
        return [item for item in content if type(item) in PLAIN or not is_media(item)]
    return "" if is_media(content) else content


# --- OpenTelemetry


def _is_recording() -> bool:
    if workflow() == "Temporal":
        return False
    provider = type(get_meter_provider()).__module__
    return get_current_span().is_recording() or not provider.startswith("opentelemetry.metrics")


def _counter(mode: dict[str, bool]) -> Callable[[Attempt, Reduction], None]:
    """Return a function that adds one return to the counters and the histogram."""
    meter = get_meter("reducer")
    returns = meter.create_counter("reducer.returns", "{return}", "Tool returns, whether reduced or not")
    before = meter.create_counter("reducer.characters.before", "{character}", "Characters before reduction")
    after = meter.create_counter("reducer.characters.after", "{character}", "Characters that the model sees")
    repeats = meter.create_counter("reducer.characters.repeats", "{character}", "Characters that earlier returns show")
    preserved = meter.create_counter("reducer.entities.preserved", "{entity}", "Preserved entities")
    duration = meter.create_histogram(
        "reducer.duration", "s", "Duration of one reduction", explicit_bucket_boundaries_advisory=_SECONDS
    )

    def count(one: Attempt, reduction: Reduction) -> None:
        of_rule: dict[str, str | bool] = {**_named(reduction), "reducer.outcome": one.kind, **mode}
        labels = {"reducer.tool": _tool_label(one.old.tool_name), **of_rule}
        returns.add(1, labels)
        before.add(reduction.before, labels)
        after.add(reduction.after, labels)
        repeats.add(reduction.repeats, labels)
        preserved.add(reduction.preserved, labels)
        if one.seconds:
            duration.record(one.seconds, of_rule)

    return count


def _named(reduction: Reduction) -> dict[str, str]:
    """Return the attributes that name the rule of a reduction."""
    return {"reducer.rule": reduction.rule, "reducer.rule_file": reduction.file}


def _tool_label(tool: str) -> str:
    """Return a tool name as a label, or `other`: names come from histories, so anyone can invent them."""
    if tool not in _LABELS:
        if len(_LABELS) >= MAX_TOOLS or len(tool) > _MAX_NAME or not tool.isprintable():
            return "other"
        _LABELS.add(tool)
    return tool


def _add_events(reductions: Sequence[Reduction], dangling: int, mode: dict[str, bool]) -> None:
    span = get_current_span()
    reduced: dict[str, list[Any]] = {}
    for one in reductions:
        if one.fault:
            who = {"reducer.tool": one.tool, "reducer.tool_call_id": one.tool_call_id, **_named(one)}
            span.add_event("reducer.fault", {**who, "reducer.fault": one.fault, **mode})
        if not one.fault or one.after < one.before:
            for name, field in _EVENT.items():
                reduced.setdefault(name, []).append(getattr(one, field))
    if reduced:
        span.add_event("reducer.reduced", {**reduced, **mode})
    if dangling:
        span.add_event("reducer.dangling", {"reducer.markers": dangling, **mode})


# --- rules that find nothing


def _watcher() -> Callable[[Outcome], None]:
    """Return a function that takes the outcome of each new return, and logs each rule that finds nothing, once."""
    misses: dict[str, int] = {}  # the returns in which a rule found nothing, or `FIRST` if it is no longer watched

    def watch(outcome: Outcome) -> None:
        for rule in outcome.tried:
            if not rule.prefixed:  # it can be for another server
                add(rule, _where_failed(rule))
        if outcome.rule is not None:
            add(outcome.rule, _found_something(outcome))

    def add(rule: Rule, found: bool | None) -> None:
        if found is None or misses.get(rule.version) == FIRST:
            return
        misses[rule.version] = FIRST if found else misses.get(rule.version, 0) + 1
        if misses[rule.version] == FIRST and not found:
            words = "%s: the rule found nothing in its first %d returns; does the tool return other keys than before?"
            logging.getLogger("reducer").warning(words, rule.file, FIRST)

    return watch


def _found_something(outcome: Outcome) -> bool | None:
    """Return whether a rule found a place in a return, or None if the return says nothing about this.

    The path of the whole return always finds something, so it counts only if no step names another path.
    """
    rule = outcome.rule
    if outcome.gated and rule is not None:
        return _where_failed(rule)
    places: dict[bool, int] = {}  # whether the path names a place below the whole return
    for run in outcome.steps:
        if run.ran and run.step is not None:
            is_below = run.step.path.text != "@"
            places[is_below] = places.get(is_below, 0) + run.places
    return places[max(places)] > 0 if places else None


def _where_failed(rule: Rule) -> bool | None:
    """Return what it says about a rule that its gate does not hold: a small return is no sign of a change."""
    return None if rule.when is not None and rule.when.min_chars else False


# --- the surroundings


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
