"""Reports about reduced returns to `on_reduce`, OpenTelemetry and the log."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from reducer import Reducer
from reducer.agent import Reduction, history_processor
from reducer.agent.telemetry import workflow
from reducer.engine import Outcome, attempt
from reducer.rules import Ruleset
from tests.agent.agents import Rules, contents, returns
from tests.histories.messages import shorter

ITEMS = ["one", "two", "three", "another item, which is longer", "CVE-2024-3400"]


@pytest.fixture
def reducer(rules: Path) -> Reducer:
    text = "version: 1\ntool: ['deep_*', explore]\nsteps:\n  - limit: 2\npreserve: [cve]\n"
    (rules / "deep_research.yaml").write_text(text)
    return Reducer.load(rules)


def history(*tools: str) -> Any:
    return [message for tool in tools for message in returns(list(ITEMS), tool=tool)]


def test_on_reduce_gets_each_return_once_without_its_content(reducer: Reducer) -> None:
    reported: list[Reduction] = []
    history_processor(Rules(shorter), on_reduce=reported.append)(returns("A long text."))
    assert reported.pop() == Reduction("look", "call_0", "", 12, 5, 0), "characters are counted as the model sees them"
    reduce = history_processor(reducer, on_reduce=reported.append)
    once = reduce(history("deep_research", "other", "explore"))
    reduce(once)
    reduce(history("other"))
    assert reported == [Reduction(tool, "call_0", "deep_*", 69, 55, 1) for tool in ("deep_research", "explore")]


def test_an_error_in_on_reduce_is_logged_once_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(reduction: Reduction) -> None:
        raise KeyError("something secret")

    reduce = history_processor(Rules(shorter), on_reduce=broken)
    for _ in range(3):
        assert contents(reduce(history("deep_research"))) == [["one", "two"]]
    (record,) = caplog.records
    assert record.getMessage().startswith("a reduction could not be reported: KeyError at test_telemetry.py:")


def test_a_content_without_a_size_does_not_prevent_other_reports(caplog: pytest.LogCaptureFixture) -> None:
    reported: list[Reduction] = []
    reduce = history_processor(Rules(shorter), on_reduce=reported.append)
    assert contents(reduce(returns([10**5000, 1, 2], [1, 2, 3]))) == [[10**5000, 1], [1, 2]]
    assert [one.tool_call_id for one in reported] == ["call_1"]
    (record,) = caplog.records
    assert record.getMessage().startswith("a reduction could not be reported: Unreducible at values.py:")


def unreadable(tool: str) -> Any:
    return returns((n for n in "abc"), tool=tool)


def test_on_reduce_gets_each_fault_once(reducer: Reducer) -> None:
    reported: list[Reduction] = []
    reduce = history_processor(reducer, on_reduce=reported.append)
    messages = unreadable("deep_research") + unreadable("explore")
    assert reduce(reduce(messages)) == messages
    fault = "a generator can be read once only"
    assert reported == [Reduction(tool, "call_0", "deep_*", 0, 0, 0, fault) for tool in ("deep_research", "explore")]


def test_a_fault_of_other_rules_is_where_the_error_is() -> None:
    reported: list[Reduction] = []

    def broken(tool: str, content: Any) -> Any:
        raise KeyError("something secret")

    history_processor(Rules(broken), on_reduce=reported.append)(returns("A text."))
    (one,) = reported
    assert (one.tool, one.tool_call_id, one.rule, one.before, one.after) == ("look", "call_0", "", 7, 7)
    assert one.fault.startswith("KeyError at test_telemetry.py:")


@pytest.fixture
def in_part(reducer: Reducer, monkeypatch: pytest.MonkeyPatch) -> Reducer:
    """Return a reducer of which each result has a fault."""

    def partly(ruleset: Ruleset, tool: str, content: Any, protected: Any) -> Outcome:
        outcome = attempt(ruleset, tool, content, protected)
        return replace(outcome, fault=outcome.fault or "only in part")

    monkeypatch.setattr("reducer.agent.processor.attempt", partly)
    return reducer


def test_a_return_that_is_reduced_in_part_is_reported_with_its_fault(
    in_part: Reducer, caplog: pytest.LogCaptureFixture
) -> None:
    reported: list[Reduction] = []
    history_processor(in_part, on_reduce=reported.append)(history("deep_research"))
    assert reported == [Reduction("deep_research", "call_0", "deep_*", 69, 55, 1, "only in part")]
    assert caplog.messages == ["a return of deep_* is not reduced completely: only in part"]


def test_each_fault_adds_an_event(in_part: Reducer) -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    with trace.TracerProvider().get_tracer("test").start_as_current_span("request") as span:
        history_processor(in_part)([*history("deep_research"), *unreadable("explore")])
    assert [event.name for event in span.events] == ["reducer.fault", "reducer.fault", "reducer.reduced"]
    assert [{**event.attributes} for event in span.events[:2]] == [
        {
            "reducer.tool": tool,
            "reducer.tool_call_id": "call_0",
            "reducer.rule": "deep_*",
            "reducer.fault": fault,
        }
        for tool, fault in (("deep_research", "only in part"), ("explore", "a generator can be read once only"))
    ]
    assert span.events[2].attributes["reducer.tools"] == ("deep_research",)


def test_a_dry_run_is_marked(reducer: Reducer) -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    with trace.TracerProvider().get_tracer("test").start_as_current_span("request") as span:
        history_processor(reducer, dry_run=True)([*history("deep_research"), *unreadable("explore")])
    assert [(event.name, event.attributes["reducer.dry_run"]) for event in span.events] == [
        ("reducer.fault", True),
        ("reducer.reduced", True),
    ]


def test_each_request_that_reduces_something_adds_an_event(reducer: Reducer) -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    reduce, silent = history_processor(reducer), history_processor(reducer, telemetry=False)
    with trace.TracerProvider().get_tracer("test").start_as_current_span("request") as span:
        messages = reduce(history("deep_research", "explore", "other"))
        reduce(messages)
        silent(history("deep_research"))
        reduce([*messages, *history("deep_research")])
    first, second = span.events
    assert first.name == second.name == "reducer.reduced"
    assert {**first.attributes} == {
        "reducer.tools": ("deep_research", "explore"),
        "reducer.rules": ("deep_*", "deep_*"),
        "reducer.entities.preserved": (1, 1),
        "reducer.characters.before": (69, 69),
        "reducer.characters.after": (55, 55),
    }
    assert second.attributes["reducer.tools"] == ("deep_research",)


def test_counters_add_up(reducer: Reducer, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics, export = map(pytest.importorskip, ("opentelemetry.sdk.metrics", "opentelemetry.sdk.metrics.export"))
    reader = export.InMemoryMetricReader()
    monkeypatch.setattr("opentelemetry.metrics._internal._METER_PROVIDER", metrics.MeterProvider([reader]))
    reduce = history_processor(reducer)
    reduce(reduce([*history("deep_research", "explore", "other", "explore"), *unreadable("explore")]))
    totals = {
        (metric.name, point.attributes["reducer.tool"], point.attributes["reducer.rule"]): point.value
        for metric in reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
        for point in metric.data.data_points
    }
    once = {"returns": 1, "characters.before": 69, "characters.after": 55, "entities.preserved": 1}
    assert totals == {
        (f"reducer.{name}", tool, "deep_*"): value * times
        for name, value in once.items()
        for tool, times in (("deep_research", 1), ("explore", 2))
    } | {("reducer.faults", "explore", "deep_*"): 1}


def test_nothing_is_measured_if_nothing_records(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(value: Any) -> int:
        raise AssertionError

    monkeypatch.setattr("reducer.agent.telemetry.chars", refuse)
    assert contents(history_processor(Rules(shorter))(history("deep_research"))) == [["one", "two"]]


def test_workflows_of_prefect_are_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert workflow() == ""
    module, flows = ModuleType("prefect.context"), ["a flow", None]
    module.FlowRunContext = SimpleNamespace(get=flows.pop)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "prefect.context", module)
    assert [workflow(), workflow()] == ["", "Prefect"]
