"""The history processor: each return is reduced once, nothing changes in place, and errors harm no run."""

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
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import RunContext

from reducer.agent import Archive, history_processor
from reducer.agent.parts import PartCache
from reducer.values import MOST_CHARS
from tests.agent.agents import Rules, Script, call, processed
from tests.agent.test_scenarios import ARTICLES, add_tools
from tests.histories.fakes import shorter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

RULE = "version: 1\ntool: deep_research\nsteps:\n  - limit: 2\npreserve: []\n"


def turns(count: int, size: int = 4) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for turn in range(count):
        content = [f"turn {turn} item {item}" for item in range(size)]
        messages.append(ModelResponse([ToolCallPart("deep_research", {}, "tool_0_deep_research")]))
        messages.append(
            ModelRequest([ToolReturnPart("deep_research", content, "tool_0_deep_research"), UserPromptPart("go on")])
        )
    return messages


class Counting:
    """Rules that keep two items and record the tools they are called for."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def reduce_content(self, tool: str, content: Any) -> Any:
        self.calls.append(tool)
        return shorter(tool, content)


def test_each_return_is_reduced_once() -> None:
    rules = Counting()
    reduce = history_processor(rules)
    history = turns(3)
    once = reduce(history)
    assert len(rules.calls) == 3
    twice = reduce(once)
    assert all(new is old for new, old in zip(twice, once, strict=True))
    again = reduce(history)
    assert [message.parts[0] for message in again] == [message.parts[0] for message in once]
    assert all(new.parts[0] is old.parts[0] for new, old in zip(again, once, strict=True))
    reduce([*once, *turns(1)])
    assert len(rules.calls) == 4


def test_a_part_in_another_message_is_not_reduced_again() -> None:
    rules = Counting()
    reduce = history_processor(rules)
    once = reduce(turns(2))
    merged = [ModelRequest([*once[1].parts, *once[3].parts])]
    assert reduce(merged)[0] is merged[0]
    assert len(rules.calls) == 2


def test_a_copy_is_reduced_again_and_stays_the_same_object() -> None:
    rules = Counting()
    reduce = history_processor(rules)
    once = reduce(turns(2))
    for copied in (
        copy.deepcopy(once),
        [replace(message, parts=[replace(part) for part in message.parts]) for message in once],
    ):
        asked = len(rules.calls)
        again = reduce(copied)
        assert len(rules.calls) == asked + 2
        assert all(new is old for new, old in zip(again, copied, strict=True))


def test_a_reduced_return_that_is_edited_is_sent_as_it_is() -> None:
    rules = Counting()
    reduce = history_processor(rules)
    (_, message) = reduce(turns(1))
    message.parts[0].content = ["anew", "and", "longer"]
    assert reduce([message])[0] is message
    assert len(rules.calls) == 1


def test_a_return_with_a_new_content_is_reduced_again() -> None:
    reduce = history_processor(Rules(shorter))
    history = turns(1)
    reduce(history)
    history[1].parts[0].content = ["the original", "without", "its secret"]
    assert reduce(history)[1].parts[0].content == ["the original", "without"]


def test_the_id_of_a_deleted_part_does_not_identify_another() -> None:
    reduce = history_processor(Rules(shorter))
    for size in range(300):
        (message,) = reduce([ModelRequest([ToolReturnPart("explore", list(range(size % 7)), "c")])])
        assert message.parts[0].content == list(range(min(size % 7, 2)))


def test_memory_does_not_grow_with_deleted_histories() -> None:
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


def test_the_cache_is_empty_after_histories_in_cycles_are_collected() -> None:
    cache = PartCache()
    for _ in range(50):
        old, new = ToolReturnPart("explore", [], "c"), ToolReturnPart("explore", [], "c")
        old.metadata, new.metadata = {"history": [old]}, {"history": [new]}
        cache.add(old, new)
        cache.add(new, new)
    del old, new
    gc.collect()
    gc.collect()  # a reduced part is free after its original
    assert (cache.done, cache._reduced, cache._alive) == (set(), {}, {})


def test_the_result_is_a_new_list_and_nothing_changes_in_place() -> None:
    history = turns(2)
    parts = [list(message.parts) for message in history]
    result = history_processor(Rules(shorter))(history)
    assert type(result) is list
    assert result is not history
    assert all(message.parts == before for message, before in zip(history, parts, strict=True))
    assert len(history[1].parts[0].content) == 4
    assert result[1].parts[1] is history[1].parts[1]
    assert result[0] is history[0]


def test_pydantic_ai_can_read_the_annotations() -> None:
    reduce = history_processor(Rules(shorter))
    assert list(inspect.signature(reduce).parameters) == ["messages"]
    assert get_type_hints(reduce, include_extras=True) == {"messages": list[ModelMessage], "return": list[ModelMessage]}
    assert not inspect.iscoroutinefunction(reduce)


def test_with_an_archive_it_takes_the_run_context_first(tmp_path: Path) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        hints = get_type_hints(history_processor(Rules(shorter), archive=archive), include_extras=True)
    assert hints == {"ctx": RunContext[Any], "messages": list[ModelMessage], "return": list[ModelMessage]}


def test_threads_get_equal_results() -> None:
    reduce = history_processor(Rules(shorter))
    history = turns(300)
    results: list[Any] = []

    def run() -> None:
        for _ in range(5):
            results.append(reduce(history))
            reduce(turns(100))  # collected while other histories are added

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    contents = [[getattr(part, "content", None) for message in result for part in message.parts] for result in results]
    assert len(contents) == 30
    assert all(content == contents[0] for content in contents)
    assert contents[0][1] == ["turn 0 item 0", "turn 0 item 1"]


def test_an_error_leaves_the_return_unchanged_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
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
        "a return of explore stays unchanged: KeyError at test_processor.py",
        "a return of deep stays unchanged: RecursionError at test_processor.py",
    ]


def test_contents_that_cannot_be_serialized_stay_unchanged(caplog: pytest.LogCaptureFixture) -> None:
    cyclic: list[Any] = [1, 2, 3]
    cyclic.append(cyclic)
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    messages = [
        ModelRequest([ToolReturnPart("t", content, "c")])
        for content in (cyclic, deep, (x for x in "abc"), object(), [object()] * 3, 10**5000)
    ]
    result = history_processor(Rules(shorter))(messages)
    assert all(new is old for new, old in zip(result, messages, strict=True))
    assert list(messages[2].parts[0].content) == ["a", "b", "c"]


async def asynchronous(messages: list[ModelMessage]) -> list[ModelMessage]:
    return list(messages)


def in_context(ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
    return [message for message in messages if message.parts]


async def asynchronous_in_context(ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
    return [replace(message) for message in messages]


@pytest.mark.parametrize("place", range(4))
def test_other_processors_can_come_before_and_after(place: int) -> None:
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
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert found.stdout.strip() == "False"


class Refusing(BaseModel):
    """A model that cannot be serialized."""

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
def test_a_content_that_the_engine_cannot_reduce_is_logged_once(
    fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "t.yaml").write_text("version: 1\ntool: t\nsteps:\n  - truncate: 20\n")
    processor = history_processor(tmp_path)
    for _ in range(2):
        messages: list[ModelMessage] = [ModelRequest([ToolReturnPart("t", hostile()[fault], "c")])]
        assert all(new is old for new, old in zip(processor(messages), messages, strict=True))
    assert [record.message for record in caplog.records] == [f"a return of t stays unchanged: {fault.strip()}"]
