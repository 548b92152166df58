"""Reports about reduced returns to `on_reduce`, OpenTelemetry and the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer
from reducer.agent import Reduction, history_processor
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
    reduce(reduce(history("deep_research", "explore", "other", "explore")))
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
    }


def test_nothing_is_measured_if_nothing_records(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(value: Any) -> int:
        raise AssertionError

    monkeypatch.setattr("reducer.agent.telemetry.chars", refuse)
    assert contents(history_processor(Rules(shorter))(history("deep_research"))) == [["one", "two"]]
