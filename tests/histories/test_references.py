"""Values that later messages mention stay: live and stored agree, results are fixed points, nothing used is lost."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart

from reducer import Reducer
from reducer.agent import history_processor
from reducer.histories.stored import returns
from reducer.references import searched, searcher
from tests.helpers import decoded
from tests.histories.messages import results, session
from tests.histories.test_live import AT, NODES, dumped, part, request
from tests.laws.strategies import KINDS

HARSH = (
    "steps:\n  - path: '*'\n    limit: 1\n  - truncate: 80\n",
    "steps:\n  - limit: 2\n  - path: '[*].*'\n    limit: 1\n  - truncate: 40\npreserve: [ioc]\nmax_chars: 500\n",
    "steps:\n  - extract: [ioc]\n",
)
CONTENTS = st.one_of(*(KINDS[kind] for kind in sorted(KINDS))).map(
    lambda content: json.loads(json.dumps(content).replace("\\ud800", "?"))
)
ROWS = [{"id": f"case-{number}", "score": 1000 + number, "note": "seen " * 9} for number in range(6)]


def loaded(folder: Path, rule: str) -> Reducer:
    (folder / "rule.yaml").write_text(f"version: 1\n{rule}")
    return Reducer.load(folder)


@pytest.fixture(scope="module")
def harsh(tmp_path_factory: pytest.TempPathFactory) -> list[Reducer]:
    return [loaded(tmp_path_factory.mktemp("rules"), f"tool: '*'\n{text}") for text in HARSH]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Reducer:
    """Keep one row."""
    return loaded(tmp_path_factory.mktemp("rules"), "tool: explore\nsteps:\n  - limit: 1\n")


def wrote(text: str) -> ModelResponse:
    return ModelResponse([TextPart(text)], timestamp=AT)


def asked(arguments: Any) -> ModelResponse:
    return ModelResponse([ToolCallPart("explore", arguments, "c")], timestamp=AT)


@st.composite
def histories(draw: st.DrawFn, content: Any) -> list[ModelMessage]:
    """Some returns, and after each a response that mentions some of the values in those before it."""
    messages: list[ModelMessage] = []
    seen: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        messages.append(request(*(part(draw(content)) for _ in range(draw(st.integers(1, 2))))))
        stored = ModelMessagesTypeAdapter.validate_json(dumped([messages[-1]]))[0]
        seen += searched([one.content for one in stored.parts]).split()
        words = draw(st.lists(st.sampled_from(sorted(set(seen))), max_size=3)) if seen else []
        text = wrote(f"I saw `{' '.join(words)}` and {' and '.join(words)}.")
        messages.append(draw(st.sampled_from([text, asked({"name": words}), asked(json.dumps(words))])))
    return messages


@given(messages=histories(NODES | CONTENTS), number=st.integers(0, 2))
def test_live_and_stored_agree(harsh: list[Reducer], messages: list[ModelMessage], number: int) -> None:
    reducer = harsh[number]
    stored = dumped(messages)
    live = reducer.reduce(messages)
    assert dumped(live) == reducer.reduce_json(stored)
    event("protected" if reducer.reduce_json(stored) != reducer.reduce_json(stored, references=False) else "not")
    assert dumped(reducer.reduce(live)) == dumped(live)


def test_nothing_that_the_agent_used_is_lost_in_real_histories(
    harsh: list[Reducer], data: Path, definition: ModuleType
) -> None:
    wanted = lost = kept = 0
    for file in sorted((data / "histories").glob("*/*.json"))[2::20]:
        whole = file.read_bytes()
        original = json.loads(whole)
        for reducer in harsh:
            once = reducer.reduce_json(whole)
            assert reducer.reduce_json(once) == once
            assert not definition.evaluate(original, json.loads(once))["lost"]
            without = reducer.reduce_json(whole, references=False)
            lost += len(definition.evaluate(original, json.loads(without))["lost"])
            wanted += len(whole) - len(without)
            kept += len(whole) - len(once)
    assert lost > 50  # the rules are harsh
    assert kept > 0.5 * wanted  # protection costs less than half of the reduction


@pytest.mark.parametrize(
    ("later", "result"),
    [
        ([wrote("The one to look at is case-4.")], [ROWS[0], {"id": "case-4"}]),
        ([asked({"id": "case-4"})], [ROWS[0], {"id": "case-4"}]),
        ([asked('{"score": 1003}')], [ROWS[0], {"score": 1003}]),
        ([wrote("Nothing."), request(part("x")), wrote("See case-2")], [ROWS[0], {"id": "case-2"}]),
        ([], [ROWS[0]]),
        ([wrote("The one to look at is case-0.")], [ROWS[0]]),
        ([request(part("case-4 is what a tool said"))], [ROWS[0]]),
    ],
)
def test_values_that_a_later_response_mentions_stay(one: Reducer, later: list[Any], result: Any) -> None:
    messages = [wrote("case-5 was mentioned before, not after"), request(part(ROWS)), *later]
    for references, expected in ((True, result), (False, [ROWS[0]])):
        assert one.reduce(messages, references)[1].parts[0].content == expected
        assert next(returns(one.reduce_json(dumped(messages), references))).content == expected
        processor = history_processor(one, references=True) if references else history_processor(one)
        assert processor(messages)[1].parts[0].content == expected


def test_a_processor_does_not_reduce_a_return_twice(one: Reducer) -> None:
    reduce = history_processor(one, references=True)
    first = reduce([request(part(ROWS))])
    assert first[0].parts[0].content == [ROWS[0]]
    assert reduce([*first, wrote("What about case-4?")])[0] is first[0]


def test_references_need_rule_files_or_a_reducer() -> None:
    rules: Any = SimpleNamespace(reduce_content=lambda tool, content: content)
    with pytest.raises(UserError, match="references=True needs rule files or a Reducer"):
        history_processor(rules, references=True)


@pytest.mark.parametrize("raw", [ROWS, json.dumps(ROWS)], ids=["list", "text"])
def test_all_copies_in_a_session_history_keep_a_mentioned_value(one: Reducer, raw: Any) -> None:
    activity = results("c", json.dumps(ROWS), "explore")
    details = {"function_name": "explore", "raw_result": raw, "status": "success"}
    text = {"type": "text", "text": "It is case-4."}
    stored = json.dumps([session({**activity, "technical_details": details}, text, older=[activity])]).encode()
    reduced = one.reduce_json(stored)
    (found,) = returns(reduced)
    assert [decoded(copy.content) for copy in found.copies] == [[ROWS[0], {"id": "case-4"}]] * 3
    assert one.reduce_json(reduced) == reduced
    assert b"case-4" not in one.reduce_json(stored.replace(b"It is case-4", b"Nothing"))


def test_a_return_is_identified_by_its_place_not_its_call_id(one: Reducer) -> None:
    messages = [request(part(ROWS)), wrote("It is case-4."), request(part(ROWS), part(ROWS))]
    reduced = one.reduce_json(dumped(messages))
    assert [len(found.content) for found in returns(reduced)] == [2, 1, 1]
    assert dumped(one.reduce(messages)) == reduced


def test_arguments_that_are_nested_too_deeply_are_ignored(one: Reducer) -> None:
    messages = json.loads(dumped([request(part(ROWS)), wrote("It is case-4."), asked({"id": "case-5"})]))
    messages[2]["parts"][0]["args"] = "HERE"
    deep = json.dumps(messages).replace('"HERE"', "[" * 9_000 + '"case-5"' + "]" * 9_000).encode()
    assert next(returns(one.reduce_json(deep))).content == [ROWS[0], {"id": "case-4"}]


def test_the_latest_of_many_values_are_protected(one: Reducer) -> None:
    many = " ".join(f"value-{number}-{'x' * 900}" for number in range(600))
    messages = [request(part([ROWS[0], many, "the last-value-1"])), wrote(many), wrote("the last-value-1")]
    content = one.reduce(messages)[0].parts[0].content
    assert searcher(["last-value-1"])(searched(content)) == {"last-value-1"}
