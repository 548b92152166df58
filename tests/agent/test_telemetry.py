"""Reports about reduced returns to `on_reduce`, OpenTelemetry and the log."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolReturnPart,
)

from reducer import Reducer
from reducer.agent import Archive, Reduction, history_processor
from reducer.agent.telemetry import FIRST, MAX_TOOLS, workflow
from reducer.engine import Outcome, attempt
from reducer.rules import Ruleset
from tests.agent.agents import SHORTER, contents, context, returns
from tests.agent.conftest import Points

ITEMS = ["one", "two", "three", "another item, which is longer", "CVE-2024-3400"]


@pytest.fixture
def reducer(rules: Path) -> Reducer:
    text = "version: 1\ntool: ['deep_*', explore]\nsteps:\n  - limit: 2\npreserve: [cve]\n"
    (rules / "deep_research.yaml").write_text(text)
    return Reducer.load(rules)


def history(*tools: str) -> Any:
    return [message for tool in tools for message in returns(list(ITEMS), tool=tool)]


def test_on_reduce_gets_each_return_and_each_fault_once_without_its_content(reducer: Reducer) -> None:
    reported: list[Reduction] = []
    reduce = history_processor(reducer, on_reduce=reported.append)
    messages = history("deep_research", "other", "explore") + unreadable("explore")
    reduce(reduce(messages))
    reduce(history("other"))
    file = reducer.ruleset.rules[0].file
    fault = Reduction("explore", "call_0", "deep_*", 0, 0, 0, "a generator can be read only once", file)
    reductions = [Reduction(tool, "call_0", "deep_*", 69, 55, 1, file=file) for tool in ("deep_research", "explore")]
    assert reported == [*reductions, fault]


def test_characters_are_counted_as_the_model_sees_them(caplog: pytest.LogCaptureFixture) -> None:
    reported: list[Reduction] = []
    reduce = history_processor(SHORTER, on_reduce=reported.append)
    result = contents(reduce(returns([10**5000, 1, 2], [1, 2, 3], "a text " * 9)))
    assert result[:2] == [[10**5000, 1], [1, 2]]
    assert [(one.tool_call_id, one.before, one.after) for one in reported] == [
        ("call_0", 5007, 5005),
        ("call_1", 7, 5),
        ("call_2", 63, len(result[2])),
    ]
    assert caplog.messages == []


def test_an_error_in_on_reduce_is_logged_once_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(reduction: Reduction) -> None:
        raise KeyError("something secret")

    reduce = history_processor(SHORTER, on_reduce=broken)
    for _ in range(3):
        assert contents(reduce(history("deep_research"))) == [["one", "two"]]
    (record,) = caplog.records
    assert record.getMessage().startswith("a reduction could not be reported: KeyError at test_telemetry.py:")


def unreadable(tool: str) -> Any:
    return returns((n for n in "abc"), tool=tool)


@pytest.fixture
def in_part(reducer: Reducer, monkeypatch: pytest.MonkeyPatch) -> Reducer:
    """Return a reducer of which each result has a fault."""

    def partly(ruleset: Ruleset, tool: str, content: Any, protected: Any) -> Outcome:
        outcome = attempt(ruleset, tool, content, protected)
        return replace(outcome, fault=outcome.fault or "only in part")

    monkeypatch.setattr("reducer.agent.processor.attempt", partly)
    return reducer


@pytest.fixture
def span() -> Iterator[Any]:
    """Start the span of a request, which records events."""
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    with trace.TracerProvider().get_tracer("test").start_as_current_span("request") as span:
        yield span


def test_each_fault_is_logged_and_adds_an_event(in_part: Reducer, span: Any, caplog: pytest.LogCaptureFixture) -> None:
    history_processor(in_part, dry_run=True)([*history("deep_research"), *unreadable("explore")])
    assert [event.name for event in span.events] == ["reducer.fault", "reducer.fault", "reducer.reduced"]
    assert all(event.attributes["reducer.dry_run"] for event in span.events)
    faults = {"deep_research": "only in part", "explore": "a generator can be read only once"}
    for event, (tool, fault) in zip(span.events, faults.items(), strict=False):
        who = {"reducer.tool": tool, "reducer.tool_call_id": "call_0", "reducer.rule": "deep_*"}
        file = {"reducer.rule_file": in_part.ruleset.rules[0].file}
        assert {**event.attributes} == {**who, **file, "reducer.fault": fault, "reducer.dry_run": True}
    assert span.events[2].attributes["reducer.tools"] == ("deep_research",)
    assert caplog.messages == [
        "a return of deep_* is not reduced completely: only in part",
        "a return of deep_* stays unchanged: a generator can be read only once",
    ]


def test_each_request_that_reduces_something_adds_an_event(reducer: Reducer, span: Any) -> None:
    reduce, silent = history_processor(reducer), history_processor(reducer, telemetry=False)
    messages = reduce(history("deep_research", "explore", "other"))
    reduce(messages)
    silent(history("deep_research"))
    reduce([*messages, *history("deep_research")])
    first, second = span.events
    assert first.name == second.name == "reducer.reduced"
    assert {**first.attributes} == {
        "reducer.tools": ("deep_research", "explore"),
        "reducer.rules": ("deep_*", "deep_*"),
        "reducer.rule_files": (reducer.ruleset.rules[0].file,) * 2,
        "reducer.entities.preserved": (1, 1),
        "reducer.characters.before": (69, 69),
        "reducer.characters.after": (55, 55),
        "reducer.characters.repeats": (0, 0),
    }
    assert second.attributes["reducer.tools"] == ("deep_research",)


def test_counters_contain_each_reducible_return_once(reducer: Reducer, rules: Path, points: Points) -> None:
    (rules / "gated.yaml").write_text("version: 1\ntool: gated\nwhen: {min_chars: 9000}\nsteps: [{limit: 1}]\n")
    assert reducer.reload() == ()
    reduce = history_processor(reducer)
    messages = history("deep_research", "explore", "other", "explore", "gated")
    short = returns(["one"], tool="explore")
    synthesized = ToolReturnPart("explore", "none", "c", metadata={"pydantic_ai_synthesized_tool_return": True})
    never = [ModelRequest([ToolReturnPart("explore", 5, "c"), synthesized, ToolReturnPart("final_result", "x", "c")])]
    once = reduce([*messages, *short, *unreadable("explore"), *never])
    for _ in range(3):
        once = reduce([*once])
    size = sum(map(len, ITEMS)) + 3 * len(ITEMS) + 1
    assert points("returns", "tool", "rule", "outcome") == {
        ("deep_research", "deep_*", "reduced"): 1,
        ("explore", "deep_*", "reduced"): 2,
        ("explore", "deep_*", "unchanged"): 1,
        ("explore", "deep_*", "fault"): 1,
        ("gated", "gated", "gated"): 1,
        ("other", "", "no_rule"): 1,
    }
    unreduced = {("gated", "gated"): size, ("other", "no_rule"): size, ("explore", "unchanged"): 7}
    reduced = {("deep_research", "reduced"): 69, ("explore", "reduced"): 138, ("explore", "fault"): 0}
    assert points("characters.before", "tool", "outcome") == {**unreduced, **reduced}
    reduced = {("deep_research", "reduced"): 55, ("explore", "reduced"): 110, ("explore", "fault"): 0}
    assert points("characters.after", "tool", "outcome") == {**unreduced, **reduced}
    assert sum(points("entities.preserved", "tool", "outcome").values()) == 3
    assert points("duration", "rule") == {("deep_*",): 5, ("gated",): 1, ("",): 1}


def test_tool_names_are_a_bounded_number_of_labels(reducer: Reducer, points: Points) -> None:
    hostile = ["\ud800", "a\x00b", "x" * 100_000]
    names = [f"tool{number}" for number in range(MAX_TOOLS + 20)]
    for tools in (hostile, names, ["deep_research"]):  # each agent of a process counts the same labels
        history_processor(reducer)(history(*tools))
    counts = points("returns", "tool", "rule")
    labels = {tool for tool, _ in counts}
    assert labels == {*names[:MAX_TOOLS], "other"}
    assert (counts["other", ""], counts["other", "deep_*"]) == (len(hostile) + 20, 1)


def test_counting_an_unreduced_return_ignores_media(reducer: Reducer, points: Points) -> None:
    text = "é" * 3_000_000
    picture = BinaryContent(b"x" * 5000, media_type="image/png")
    for name, content in (("text", text), ("picture", picture), ("both", ["seen", picture])):
        reduce = history_processor(reducer)
        reduce(reduce(returns(content, tool=name)))
    counts = points("characters.before", "tool")
    assert (counts["text",], counts["picture",], counts["both",]) == (3_000_000, 0, 8)


def test_an_archive_counts_its_failures(rules: Path, points: Points, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(rules.with_name("failing.db"))
    monkeypatch.setattr("reducer.archive.database.store", lambda *_: 1 / 0)
    history_processor(rules, archive=archive)(context(), history("deep_research"))
    archive.close()
    assert archive.failures == 1
    assert points("archive.failures") == {(): 1}


# --- rules that find nothing

RENAMED = {"results": [{"id": number} for number in range(9)]}


def logged(caplog: pytest.LogCaptureFixture, rules: Path, text: str, contents: Sequence[Any]) -> int:
    """Return how often a rule is logged because it finds nothing."""
    file = rules / "deep_research.yaml"
    file.write_text(f"version: 1\ntool: look\n{text}\n")
    caplog.clear()
    reduce = history_processor(rules)
    messages: list[ModelMessage] = []
    for content in contents:
        messages = reduce([*messages, *returns(content)])
    expected = f"{file}: the rule found nothing in its first 20 returns; does the tool return other keys than before?"
    assert set(caplog.messages) <= {expected}
    return len(caplog.messages)


@pytest.mark.parametrize(
    ("text", "content", "times"),
    [
        ("steps: [{path: items, limit: 2}]", RENAMED, 1),
        ("steps: [{path: items, limit: 2}]", '{"results": [1, 2, 3]}', 1),
        ("steps: [{path: items, limit: 2}]\nmax_chars: 20", RENAMED, 1),
        ("steps: [{compact: true}, {path: items, limit: 2}]", RENAMED, 1),
        ("when: {where: items}\nsteps: [{limit: 2}]", RENAMED, 1),
        ("steps: [{limit: 2}]", "text", 1),
        ("steps: [{path: results, limit: 2}]", RENAMED, 0),
        ("steps: [{path: items, limit: 2}, {path: results, limit: 20}]", RENAMED, 0),
        ("steps: [{compact: true}]", RENAMED, 0),
        ("max_chars: 9000", RENAMED, 0),
        ("when: {min_chars: 9000}\nsteps: [{path: items, limit: 2}]", RENAMED, 0),
        ("steps: [{path: items, limit: 2, when: {min_chars: 9000}}]", RENAMED, 0),
    ],
)
def test_a_rule_that_finds_nothing_is_logged_once(
    text: str, content: Any, times: int, rules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert logged(caplog, rules, text, [content] * (FIRST - 1)) == 0
    assert logged(caplog, rules, text, [content] * FIRST * 3) == times


@pytest.mark.parametrize(("more", "times"), [("", 1), ("prefixed: true\n", 0)])
def test_a_rule_that_another_one_replaces_for_all_returns_is_logged(
    more: str, times: int, rules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (rules / "general.yaml").write_text("version: 1\ntool: '*'\nmax_chars: 9000\n")
    text = f"{more}when: {{where: items}}\nsteps: [{{path: items, limit: 2}}]"
    assert logged(caplog, rules, text, [RENAMED] * FIRST) == times


def test_a_rule_that_found_something_is_not_logged(rules: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = {"items": [1, 2, 3]}
    assert logged(caplog, rules, "steps: [{path: items, limit: 2}]", [RENAMED, found, *[RENAMED] * 50]) == 0


def test_the_same_loaded_return_counts_once_for_a_rule(rules: Path, caplog: pytest.LogCaptureFixture) -> None:
    (rules / "deep_research.yaml").write_text("version: 1\ntool: look\nsteps: [{path: items, limit: 2}]\n")
    reduce = history_processor(rules)
    messages = [*returns(RENAMED), ModelResponse([TextPart("Done.")])]
    for _ in range(FIRST * 2):
        reduce(ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages)))
    assert caplog.messages == []


# --- workflows and silence


def test_nothing_is_measured_if_nothing_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reducer.agent.telemetry.chars", lambda value: pytest.fail("it was measured"))
    assert contents(history_processor(SHORTER)(history("deep_research"))) == [["one", "two"]]


def test_workflows_of_prefect_are_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert workflow() == ""
    module, flows = ModuleType("prefect.context"), ["a flow", None]
    module.FlowRunContext = SimpleNamespace(get=flows.pop)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "prefect.context", module)
    assert [workflow(), workflow()] == ["", "Prefect"]


def test_counters_tell_rules_for_the_same_tool_apart(rules: Path, points: Points) -> None:
    (rules / "texts.yaml").write_text("version: 1\ntool: look\nwhen: {where: a}\nsteps: [{path: a, truncate: 5}]\n")
    (rules / "rows.yaml").write_text("version: 1\ntool: look\nwhen: {where: b}\nsteps: [{path: b, limit: 1}]\n")
    history_processor(rules)(returns({"a": "word " * 20}, {"b": [1, 2]}, {"b": [1, 2, 3]}, tool="look"))
    files = {Path(file).name: count for (file,), count in points("returns", "rule_file").items()}
    assert files == {"texts.yaml": 1, "rows.yaml": 2}
