from __future__ import annotations

import copy
import gc
import inspect
import json
import logging
import subprocess
import sys
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel, field_serializer
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.tools import RunContext

from reducer import Reducer, RuleError
from reducer.agent import ReduceToolReturns, history_processor
from reducer.agent.memory import Memory
from reducer.values import MOST_CHARS
from tests.doors.agents import Rules, Script, call, processed
from tests.doors.fakes import shorter
from tests.doors.test_scenarios import ARTICLES, add_tools

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

RULE = "version: 1\ntool: deep_research\nsteps:\n  - limit: 2\npreserve: []\n"


def turns(count: int, size: int = 4) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for turn in range(count):
        content = [f"turn {turn} item {item}" for item in range(size)]
        messages.append(ModelResponse([ToolCallPart("deep_research", {}, "tool_0_deep_research")]))
        messages.append(ModelRequest([ToolReturnPart("deep_research", content, "tool_0_deep_research"), UserPromptPart("go on")]))
    return messages


class Counting:
    """Rules that keep two items, and count what they are asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def reduce_content(self, tool: str, content: Any) -> Any:
        self.asked.append(tool)
        return shorter(tool, content)


def test_each_return_is_looked_at_once_in_its_life() -> None:
    rules = Counting()
    reduce = history_processor(rules)
    history = turns(3)
    once = reduce(history)
    assert len(rules.asked) == 3
    twice = reduce(once)
    assert all(new is old for new, old in zip(twice, once, strict=True))
    again = reduce(history)
    assert [message.parts[0] for message in again] == [message.parts[0] for message in once]
    assert all(new.parts[0] is old.parts[0] for new, old in zip(again, once, strict=True))
    reduce([*once, *turns(1)])
    assert len(rules.asked) == 4


def test_a_part_in_another_message_is_known() -> None:
    rules = Counting()
    reduce = history_processor(rules)
    once = reduce(turns(2))
    merged = [ModelRequest([*once[1].parts, *once[3].parts])]
    assert reduce(merged)[0] is merged[0]
    assert len(rules.asked) == 2


def test_a_copy_is_looked_at_again_and_stays_as_it_is() -> None:
    rules = Counting()
    reduce = history_processor(rules)
    once = reduce(turns(2))
    for copied in (copy.deepcopy(once), [replace(message, parts=[replace(part) for part in message.parts]) for message in once]):
        asked = len(rules.asked)
        again = reduce(copied)
        assert len(rules.asked) == asked + 2
        assert all(new is old for new, old in zip(again, copied, strict=True))


def test_what_is_written_into_a_return_that_was_seen_is_sent_as_it_stands() -> None:
    rules = Counting()
    reduce = history_processor(rules)
    (_, message) = reduce(turns(1))
    message.parts[0].content = ["anew", "and", "longer"]
    assert reduce([message])[0] is message
    assert len(rules.asked) == 1


def test_a_content_that_was_replaced_is_not_sent_as_it_was_before() -> None:
    reduce = history_processor(Rules(shorter))
    history = turns(1)
    reduce(history)
    history[1].parts[0].content = ["the original", "without", "its secret"]
    assert reduce(history)[1].parts[0].content == ["the original", "without"]


def test_ids_of_objects_that_are_gone_are_not_taken_for_others() -> None:
    reduce = history_processor(Rules(shorter))
    for size in range(300):
        (message,) = reduce([ModelRequest([ToolReturnPart("explore", list(range(size % 7)), "c")])])
        assert message.parts[0].content == list(range(min(size % 7, 2)))


def test_nothing_grows_when_histories_die() -> None:
    reduce = history_processor(Rules(shorter))
    reduce(turns(100))
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(10):
        reduce(turns(100))
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 50_000  # 1,000 returns, if they were kept, are more than 500 kB


def test_the_memory_is_empty_when_histories_die_in_cycles() -> None:
    memory: Memory[Any] = Memory()
    for _ in range(50):
        old, new = ToolReturnPart("explore", [], "c"), ToolReturnPart("explore", [], "c")
        old.metadata, new.metadata = {"history": [old]}, {"history": [new]}
        memory.note(old, new)
        memory.note(new, new)
    del old, new
    gc.collect()
    gc.collect()  # what stood for a part is free once that is gone
    assert (memory.seen, memory._instead, memory._alive) == (set(), {}, {})


def test_it_gives_a_new_list_and_changes_nothing_in_place() -> None:
    history = turns(2)
    parts = [list(message.parts) for message in history]
    result = history_processor(Rules(shorter))(history)
    assert type(result) is list
    assert result is not history
    assert all(message.parts == before for message, before in zip(history, parts, strict=True))
    assert len(history[1].parts[0].content) == 4
    assert result[1].parts[1] is history[1].parts[1]
    assert result[0] is history[0]


def test_its_one_parameter_has_a_type_that_can_be_read() -> None:
    reduce = history_processor(Rules(shorter))
    assert list(inspect.signature(reduce).parameters) == ["messages"]
    assert get_type_hints(reduce, include_extras=True) == {"messages": list[ModelMessage], "return": list[ModelMessage]}
    assert not inspect.iscoroutinefunction(reduce)


def test_threads_get_the_same() -> None:
    reduce = history_processor(Rules(shorter))
    history = turns(300)
    results: list[Any] = []

    def run() -> None:
        for _ in range(5):
            results.append(reduce(history))
            reduce(turns(100))  # one that dies at once, while others are noted

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    contents = [[getattr(part, "content", None) for message in result for part in message.parts] for result in results]
    assert len(contents) == 30
    assert all(content == contents[0] for content in contents)
    assert contents[0][1] == ["turn 0 item 0", "turn 0 item 1"]


def test_a_fault_leaves_the_return_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    def broken(tool: str, content: Any) -> Any:
        if tool == "explore":
            raise KeyError("something secret")
        if tool == "fine":
            return shorter(tool, content)
        raise RecursionError

    def history() -> list[ModelMessage]:
        return [ModelRequest([ToolReturnPart(tool, [1, 2, 3], "c")]) for tool in ("explore", "explore", "deep", "fine")]

    reduce = history_processor(Rules(broken))
    with caplog.at_level(logging.DEBUG, "reducer"):
        for _ in range(3):
            messages = history()
            result = reduce(messages)
            assert [new is old for new, old in zip(result, messages, strict=True)] == [True, True, True, False]
    texts = [record.getMessage() for record in caplog.records]
    assert [text.rpartition(":")[0] for text in texts] == [
        "a return of explore stays as it was: KeyError at test_agent.py",
        "a return of deep stays as it was: RecursionError at test_agent.py",
    ]


def test_contents_that_cannot_be_read_are_left(caplog: pytest.LogCaptureFixture) -> None:
    cyclic: list[Any] = [1, 2, 3]
    cyclic.append(cyclic)
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    messages = [ModelRequest([ToolReturnPart("t", content, "c")]) for content in (cyclic, deep, (x for x in "abc"), object(), [object()] * 3, 10**5000)]
    result = history_processor(Rules(shorter))(messages)
    assert all(new is old for new, old in zip(result, messages, strict=True))
    assert list(messages[2].parts[0].content) == ["a", "b", "c"]


def test_rules_that_cannot_be_used_are_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "rule.yaml"
    file.write_text("version: 1\ntool: x\nsteps:\n  - limitt: 2\n")
    for rules in (file, str(file), tmp_path):
        with pytest.raises(RuleError):
            history_processor(rules)
        with pytest.raises(RuleError):
            ReduceToolReturns(rules)


def test_rules_come_from_a_path_or_a_reducer(tmp_path: Path) -> None:
    (tmp_path / "deep_research.yaml").write_text(RULE)
    for rules in (tmp_path, str(tmp_path), Reducer.load(tmp_path)):
        result = history_processor(rules)(turns(1))
        assert result[1].parts[0].content == ["turn 0 item 0", "turn 0 item 1"]


async def asynchronous(messages: list[ModelMessage]) -> list[ModelMessage]:
    return list(messages)


def in_context(ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
    return [message for message in messages if message.parts]


async def asynchronous_in_context(ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
    return [replace(message) for message in messages]


@pytest.mark.parametrize("place", range(4))
def test_other_processors_before_and_after_it(place: int) -> None:
    script = Script([[call("deep_research")], [call("explore")], [TextPart("Done.")]])
    processors: list[Any] = [asynchronous, in_context, asynchronous_in_context]
    processors.insert(place, history_processor(Rules(shorter)))
    made = processed(script, processors)
    add_tools(made)
    made.run_sync("Look into it, please.")
    assert json.loads(script.received[1])[2]["parts"][0]["content"] == ARTICLES[:2]
    assert json.loads(script.received[2])[2]["parts"][0]["content"] == ARTICLES[:2]


def test_reducer_alone_does_not_import_pydantic_ai() -> None:
    code = "import reducer, sys; print(any(name.split('.')[0] == 'pydantic_ai' for name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert found.stdout.strip() == "False"


class Refusing(BaseModel):
    """An object that cannot be written."""

    hosts: list[str] = ["a", "b", "c"]

    @field_serializer("hosts")
    def write(self, hosts: list[str]) -> Any:
        raise RuntimeError("something secret")


def hostile() -> dict[str, Any]:
    deep: Any = "a long text that would be cut somewhere"
    for _ in range(300):
        deep = [deep]
    cyclic: list[Any] = ["a long text that would be cut somewhere"]
    cyclic.append(cyclic)
    return {
        "deeper than 128 levels": deep,
        "deeper than 128 levels ": cyclic,
        "a generator can be read once only": (n for n in "abc"),
        "a Refusing has no JSON form": Refusing(),
        "a text of more than 67,108,864 characters": "x" * (MOST_CHARS + 1),
    }


@pytest.mark.parametrize("fault", hostile())
def test_what_the_engine_leaves_alone_is_logged_once(fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "t.yaml").write_text("version: 1\ntool: t\nsteps:\n  - truncate: 20\n")
    processor = history_processor(tmp_path)
    for _ in range(2):
        messages: list[ModelMessage] = [ModelRequest([ToolReturnPart("t", hostile()[fault], "c")])]
        assert all(new is old for new, old in zip(processor(messages), messages, strict=True))
    assert [record.message for record in caplog.records] == [f"a return of t stays as it was: {fault.strip()}"]
