"""What is reported about reduced returns: to `on_reduce`, to OpenTelemetry and to the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from reducer import Reducer
from reducer.agent import Reduction, history_processor
from tests.agent.agents import Rules
from tests.histories.fakes import shorter

RULE = "version: 1\ntool: ['deep_*', explore]\nsteps:\n  - limit: {}\npreserve: [cve]\n"
ITEMS = ["one", "two", "three", "another item, which is longer", "CVE-2024-3400"]


def rules(folder: Path, limit: int = 2) -> Reducer:
    (folder / "rule.yaml").write_text(RULE.format(limit))
    return Reducer.load(folder)


def history(*tools: str, content: Any = None) -> list[ModelMessage]:
    return [
        ModelRequest([ToolReturnPart(tool, list(ITEMS) if content is None else content, f"call_{number}")])
        for number, tool in enumerate(tools)
    ]


def test_on_reduce_gets_each_return_once_without_its_content(tmp_path: Path) -> None:
    reported: list[Reduction] = []
    reduce = history_processor(rules(tmp_path), on_reduce=reported.append)
    once = reduce(history("deep_research", "other", "explore"))
    assert [(one.tool, one.tool_call_id, one.rule, one.preserved) for one in reported] == [
        ("deep_research", "call_0", "deep_*", 1),
        ("explore", "call_2", "deep_*", 1),
    ]
    assert all(one.after < one.before for one in reported)
    assert not any(word in repr(reported) for word in ITEMS)
    reduce(once)
    reduce(history("other"))
    assert len(reported) == 2


def test_characters_are_counted_as_the_model_sees_them() -> None:
    reported: list[Reduction] = []
    history_processor(Rules(shorter), on_reduce=reported.append)(history("deep_research", content="A long text."))
    assert reported == [Reduction("deep_research", "call_0", "", 12, 5, 0)]


def test_an_error_in_on_reduce_is_logged_once_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(reduction: Reduction) -> None:
        raise KeyError("something secret")

    reduce = history_processor(Rules(shorter), on_reduce=broken)
    for _ in range(3):
        (message,) = reduce(history("deep_research"))
        assert message.parts[0].content == ["one", "two"]
    (record,) = caplog.records
    assert record.getMessage().startswith("a reduction could not be reported: KeyError at test_telemetry.py:")


def test_an_error_is_logged_once_per_rule_and_kind(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Refusing:
        def __iter__(self) -> Any:
            raise OSError("something secret")

    (tmp_path / "rule.yaml").write_text("version: 1\ntool: deep_*\nsteps:\n  - truncate: 20\n")
    reduce = history_processor(tmp_path)
    contents = [(n for n in "abc"), [Refusing()], (n for n in "abc"), [Refusing()]]
    for content in contents:
        messages = [ModelRequest([ToolReturnPart(f"deep_{number}", content, "c")]) for number in range(3)]
        assert all(new is old for new, old in zip(reduce(messages), messages, strict=True))
    assert [record.getMessage() for record in caplog.records] == [
        "a return of deep_0 stays unchanged: a generator can be read once only",
        "a return of deep_0 stays unchanged: a Refusing has no JSON form",
    ]


def test_each_request_that_reduces_something_adds_an_event(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider

    tracer = TracerProvider().get_tracer("test")
    reduce = history_processor(rules(tmp_path))
    silent = history_processor(rules(tmp_path), telemetry=False)
    with tracer.start_as_current_span("request") as span:
        messages = reduce(history("deep_research", "explore", "other"))
        reduce(messages)
        silent(history("deep_research"))
        reduce([*messages, *history("deep_research")])
    first, second = span.events  # type: ignore[attr-defined]
    assert first.name == second.name == "reducer.reduced"
    sizes = {name: first.attributes[name] for name in first.attributes if "characters" in name}
    assert {**first.attributes} == {
        "reducer.tools": ("deep_research", "explore"),
        "reducer.rules": ("deep_*", "deep_*"),
        "reducer.entities.preserved": (1, 1),
        **sizes,
    }
    assert set(sizes) == {"reducer.characters.before", "reducer.characters.after"}
    assert all(
        after < before
        for before, after in zip(sizes["reducer.characters.before"], sizes["reducer.characters.after"], strict=True)
    )
    assert second.attributes["reducer.tools"] == ("deep_research",)


def test_counters_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    monkeypatch.setattr("opentelemetry.metrics._internal._METER_PROVIDER", MeterProvider([reader]))
    reported: list[Reduction] = []
    reduce = history_processor(rules(tmp_path), on_reduce=reported.append)
    reduce(reduce(history("deep_research", "explore", "other", "explore")))
    found = reader.get_metrics_data()
    assert found is not None
    totals = {
        (metric.name, point.attributes["reducer.tool"], point.attributes["reducer.rule"]): point.value
        for metric in found.resource_metrics[0].scope_metrics[0].metrics
        for point in metric.data.data_points
    }
    one = reported[0]
    assert totals == {
        **{("reducer.returns", tool, "deep_*"): count for tool, count in {"deep_research": 1, "explore": 2}.items()},
        **{
            ("reducer.characters.before", tool, "deep_*"): count * one.before
            for tool, count in {"deep_research": 1, "explore": 2}.items()
        },
        **{
            ("reducer.characters.after", tool, "deep_*"): count * one.after
            for tool, count in {"deep_research": 1, "explore": 2}.items()
        },
        **{
            ("reducer.entities.preserved", tool, "deep_*"): count
            for tool, count in {"deep_research": 1, "explore": 2}.items()
        },
    }


def test_nothing_is_measured_if_nothing_records(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(value: Any) -> int:
        raise AssertionError

    monkeypatch.setattr("reducer.agent.telemetry.chars", refuse)
    (message,) = history_processor(Rules(shorter))(history("deep_research"))
    assert message.parts[0].content == ["one", "two"]
