"""What is told of reduced returns: to `on_reduce`, to OpenTelemetry, to the log; and of rules that are read again."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from reducer import Reducer
from reducer.agent import Reduction, history_processor
from tests.doors.agents import Rules
from tests.doors.fakes import shorter

RULE = "version: 1\ntool: ['deep_*', explore]\nsteps:\n  - limit: {}\npreserve: [cve]\n"
ITEMS = ["one", "two", "three", "another item, which is longer", "CVE-2024-3400"]


def rules(folder: Path, limit: int = 2) -> Reducer:
    (folder / "rule.yaml").write_text(RULE.format(limit))
    return Reducer.load(folder)


def history(*tools: str, content: Any = None) -> list[ModelMessage]:
    return [ModelRequest([ToolReturnPart(tool, list(ITEMS) if content is None else content, f"call_{number}")]) for number, tool in enumerate(tools)]


def test_on_reduce_hears_of_each_return_once_and_nothing_of_its_content(tmp_path: Path) -> None:
    heard: list[Reduction] = []
    reduce = history_processor(rules(tmp_path), on_reduce=heard.append)
    once = reduce(history("deep_research", "other", "explore"))
    assert [(one.tool, one.tool_call_id, one.rule, one.preserved) for one in heard] == [
        ("deep_research", "call_0", "deep_*", 1),
        ("explore", "call_2", "deep_*", 1),
    ]
    assert all(one.after < one.before for one in heard)
    assert not any(word in repr(heard) for word in ITEMS)
    reduce(once)
    reduce(history("other"))
    assert len(heard) == 2


def test_characters_are_those_that_the_model_is_shown() -> None:
    heard: list[Reduction] = []
    history_processor(Rules(shorter), on_reduce=heard.append)(history("deep_research", content="A long text."))
    assert heard == [Reduction("deep_research", "call_0", "", 12, 5, 0)]


def test_a_fault_of_on_reduce_is_logged_once_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(reduction: Reduction) -> None:
        raise KeyError("something secret")

    reduce = history_processor(Rules(shorter), on_reduce=broken)
    for _ in range(3):
        (message,) = reduce(history("deep_research"))
        assert message.parts[0].content == ["one", "two"]
    (record,) = caplog.records
    assert record.getMessage().startswith("telling of reduced returns failed: KeyError at test_notices.py:")


def test_a_fault_is_logged_once_for_each_rule_and_kind(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
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
        "a return of deep_0 stays as it was: a generator can be read once only",
        "a return of deep_0 stays as it was: a Refusing has no JSON form",
    ]


def test_an_event_for_each_request_that_reduced_something(tmp_path: Path) -> None:
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
    assert all(after < before for before, after in zip(sizes["reducer.characters.before"], sizes["reducer.characters.after"], strict=True))
    assert second.attributes["reducer.tools"] == ("deep_research",)


def test_counters_of_the_totals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    monkeypatch.setattr("opentelemetry.metrics._internal._METER_PROVIDER", MeterProvider([reader]))
    heard: list[Reduction] = []
    reduce = history_processor(rules(tmp_path), on_reduce=heard.append)
    reduce(reduce(history("deep_research", "explore", "other", "explore")))
    found = reader.get_metrics_data()
    assert found is not None
    totals = {
        (metric.name, point.attributes["reducer.tool"], point.attributes["reducer.rule"]): point.value
        for metric in found.resource_metrics[0].scope_metrics[0].metrics
        for point in metric.data.data_points
    }
    one = heard[0]
    assert totals == {
        **{("reducer.returns", tool, "deep_*"): count for tool, count in {"deep_research": 1, "explore": 2}.items()},
        **{("reducer.characters.before", tool, "deep_*"): count * one.before for tool, count in {"deep_research": 1, "explore": 2}.items()},
        **{("reducer.characters.after", tool, "deep_*"): count * one.after for tool, count in {"deep_research": 1, "explore": 2}.items()},
        **{("reducer.entities.preserved", tool, "deep_*"): count for tool, count in {"deep_research": 1, "explore": 2}.items()},
    }


def test_where_nothing_records_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(value: Any) -> int:
        raise AssertionError

    monkeypatch.setattr("reducer.agent.notices.chars", refuse)
    (message,) = history_processor(Rules(shorter))(history("deep_research"))
    assert message.parts[0].content == ["one", "two"]


def test_rules_that_are_read_again_hold_for_returns_not_seen_yet(tmp_path: Path) -> None:
    reducer = rules(tmp_path)
    reduce = history_processor(reducer)
    before = reduce(history("deep_research", "explore"))
    rules(tmp_path, 3)
    assert reduce(history("explore"))[0].parts[0].content[:3] == ["one", "two", "…[3 more items; mentions CVE-2024-3400]"]
    assert reducer.reload() == ()
    after = reduce([*before, *history("explore")])
    assert all(new is old for new, old in zip(after[:2], before, strict=True))
    assert after[-1].parts[0].content == ["one", "two", "three", "…[2 more items; mentions CVE-2024-3400]"]
    assert len(reducer.reduce(history("explore"))[0].parts[0].content) == 4
    assert len(reducer.reduce_content("explore", ITEMS)) == 4


def test_bad_rules_keep_the_old_ones_and_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    reducer = rules(tmp_path)
    old = reducer.ruleset
    (tmp_path / "rule.yaml").write_text("version: 1\ntool: explore\nsteps:\n  - limt: 3\n")
    (problem,) = reducer.reload()
    assert problem.message == "unknown key `limt`"
    assert reducer.ruleset is old
    (tmp_path / "rule.yaml").unlink()
    assert [problem.message for problem in reducer.reload()] == ["no rule files here"]
    tmp_path.rmdir()
    (problem,) = reducer.reload()
    assert problem.location.file == str(tmp_path)
    assert [record.getMessage().splitlines()[0] for record in caplog.records] == ["the rules stay as they were:"] * 3
    assert "unknown key `limt`" in caplog.records[0].getMessage()
    assert len(reducer.reduce_content("explore", ITEMS)) == 3
    with pytest.raises(ValueError, match="came from no files"):
        Reducer(old).reload()


def test_a_history_is_reduced_by_one_ruleset_while_another_thread_reloads(tmp_path: Path) -> None:
    reducer = rules(tmp_path)
    stop = threading.Event()

    def swap() -> None:
        limit = 2
        while not stop.is_set():
            limit = 5 - limit
            rules(tmp_path, limit)
            assert reducer.reload() == ()

    logging.getLogger("reducer").disabled = True
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(20):
            assert len({len(message.parts[0].content) for message in reducer.reduce(history(*["explore"] * 50))}) == 1
    finally:
        stop.set()
        thread.join()
        logging.getLogger("reducer").disabled = False
