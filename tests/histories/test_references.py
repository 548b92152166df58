"""What later messages refer to stays: live and stored agree on it, it is a fixed point, and nothing that the agent used
is lost.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
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
from tests.histories.test_agreement import CONTENTS as OBJECTS
from tests.histories.test_live import AT, dumped, part, request
from tests.laws.strategies import KINDS

HARSH = (
    "version: 1\ntool: '*'\nsteps:\n  - path: '*'\n    limit: 1\n  - truncate: 80\n",
    "version: 1\ntool: '*'\nsteps:\n  - limit: 2\n  - path: '[*].*'\n    limit: 1\n  - truncate: 40\npreserve: [ioc]\nmax_chars: 500\n",
    "version: 1\ntool: '*'\nsteps:\n  - extract: [ioc]\n",
)
CONTENTS = (
    st.sampled_from(sorted(KINDS))
    .flatmap(lambda kind: KINDS[kind])
    .map(lambda content: json.loads(json.dumps(content).replace("\\ud800", "?")))
)
ROWS = [{"id": f"case-{number}", "score": 1000 + number, "note": "seen " * 9} for number in range(6)]
LONG = f"The first words. {'word ' * 100}The ticket is INC-4711. {'more ' * 100}"


@pytest.fixture(scope="module")
def harsh(tmp_path_factory: pytest.TempPathFactory) -> list[Reducer]:
    folder = tmp_path_factory.mktemp("rules")
    for number, text in enumerate(HARSH):
        (folder / f"{number}.yaml").write_text(text)
    return [Reducer.load(folder / f"{number}.yaml") for number in range(len(HARSH))]


def response(*parts: Any) -> ModelResponse:
    return ModelResponse(parts=list(parts), timestamp=AT)


def wrote(text: str) -> ModelResponse:
    return response(TextPart(text))


def asked(arguments: Any) -> ModelResponse:
    return response(ToolCallPart("explore", arguments, "c"))


@st.composite
def histories(draw: st.DrawFn, content: Any) -> list[ModelMessage]:
    """Some returns, and after each a response that mentions some of what stood in those before it."""
    messages: list[ModelMessage] = []
    seen: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        messages.append(request(*(part(draw(content)) for _ in range(draw(st.integers(1, 2))))))
        seen += searched(
            [one.content for one in ModelMessagesTypeAdapter.validate_json(dumped([messages[-1]]))[0].parts]
        ).split()
        words = draw(st.lists(st.sampled_from(sorted(set(seen))), max_size=3)) if seen else []
        messages.append(
            draw(
                st.sampled_from(
                    [
                        wrote(f"I saw `{' '.join(words)}` and {' and '.join(words)}."),
                        asked({"name": words}),
                        asked(json.dumps(words)),
                    ]
                )
            )
        )
    return messages


@given(messages=histories(OBJECTS | CONTENTS), number=st.integers(0, 2))
def test_live_and_stored_agree_on_what_is_referred_to(
    harsh: list[Reducer], messages: list[ModelMessage], number: int
) -> None:
    reducer = harsh[number]
    stored = dumped(messages)
    live = reducer.reduce(messages)
    assert dumped(live) == reducer.reduce_json(stored)
    event("protected" if reducer.reduce_json(stored) != reducer.reduce_json(stored, references=False) else "not")
    assert dumped(reducer.reduce(live)) == dumped(live)


@given(messages=histories(CONTENTS), number=st.integers(0, 2))
def test_reducing_again_changes_nothing(harsh: list[Reducer], messages: list[ModelMessage], number: int) -> None:
    stored = dumped(messages)
    once = harsh[number].reduce_json(stored)
    assert harsh[number].reduce_json(once) == once


def test_on_real_histories_nothing_that_the_agent_used_is_lost(
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
    assert kept > 0.5 * wanted  # most of what they save is saved all the same


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
def test_what_a_later_response_mentions_stays(tmp_path: Path, later: list[Any], result: Any) -> None:
    (tmp_path / "r.yaml").write_text("version: 1\ntool: explore\nsteps:\n  - limit: 1\n")
    reducer = Reducer.load(tmp_path)
    messages = [wrote("case-5 was mentioned before, not after"), request(part(ROWS)), *later]
    assert reducer.reduce(messages)[1].parts[0].content == result
    assert next(returns(reducer.reduce_json(dumped(messages)))).content == result
    assert reducer.reduce(messages, references=False)[1].parts[0].content == [ROWS[0]]
    assert next(returns(reducer.reduce_json(dumped(messages), references=False))).content == [ROWS[0]]
    assert history_processor(reducer)(messages)[1].parts[0].content == [ROWS[0]]
    assert history_processor(reducer, references=True)(messages)[1].parts[0].content == result


def test_a_processor_leaves_what_it_has_reduced(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("version: 1\ntool: explore\nsteps:\n  - limit: 1\n")
    reduce = history_processor(tmp_path, references=True)
    first = reduce([request(part(ROWS))])
    assert first[0].parts[0].content == [ROWS[0]]
    assert reduce([*first, wrote("What about case-4?")])[0] is first[0]


def test_a_processor_cannot_tell_others_what_to_protect() -> None:
    class Rules:
        def reduce_content(self, tool: str, content: Any, /) -> Any:
            return content

    with pytest.raises(UserError, match="references=True needs rule files or a Reducer"):
        history_processor(Rules(), references=True)


def session(content: Any, raw: Any, text: str) -> bytes:
    result = {"name": "explore", "content": content, "call_id": "c", "is_error": False}
    details = {"function_name": "explore", "raw_result": raw, "status": "success"}
    activity = {"type": "activity", "activity_type": "tool_result", "results": [result], "technical_details": details}
    older = {"type": "tool_result", "results": [result]}
    parts = [activity, {"type": "text", "text": text}]
    return json.dumps([{"role": "assistant", "text_content": text, "parts": parts, "activity_parts": [older]}]).encode()


def test_all_copies_in_a_session_history_keep_it(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("version: 1\ntool: explore\nsteps:\n  - limit: 1\n")
    reducer = Reducer.load(tmp_path)
    for raw in (ROWS, json.dumps(ROWS)):
        reduced = reducer.reduce_json(session(json.dumps(ROWS), raw, "It is case-4."))
        (found,) = returns(reduced)
        values = [place.content for place in found.places]
        assert len(values) == 3
        assert all(
            (json.loads(value) if isinstance(value, str) else value) == [ROWS[0], {"id": "case-4"}] for value in values
        )
        assert reducer.reduce_json(reduced) == reduced
    assert b"case-4" not in reducer.reduce_json(session(json.dumps(ROWS), ROWS, "Nothing."))


def test_a_return_is_known_by_its_place_and_not_by_its_call_id(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("version: 1\ntool: explore\nsteps:\n  - limit: 1\n")
    reducer = Reducer.load(tmp_path)
    messages = [request(part(ROWS)), wrote("It is case-4."), request(part(ROWS), part(ROWS))]
    reduced = reducer.reduce_json(dumped(messages))
    assert [len(found.content) for found in returns(reduced)] == [2, 1, 1]
    assert dumped(reducer.reduce(messages)) == reduced


def test_arguments_that_are_nested_too_deep_are_all_that_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("version: 1\ntool: explore\nsteps:\n  - limit: 1\n")
    messages = json.loads(dumped([request(part(ROWS)), wrote("It is case-4."), asked({"id": "case-5"})]))
    messages[2]["parts"][0]["args"] = "HERE"
    deep = json.dumps(messages).replace('"HERE"', "[" * 9_000 + '"case-5"' + "]" * 9_000).encode()
    assert next(returns(Reducer.load(tmp_path).reduce_json(deep))).content == [ROWS[0], {"id": "case-4"}]


def test_of_many_values_those_written_last_count(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("version: 1\ntool: explore\nsteps:\n  - limit: 1\n")
    many = " ".join(f"value-{number}-{'x' * 90}" for number in range(6_000))
    messages = [request(part([ROWS[0], many, "the last-value-1"])), wrote(many), wrote("the last-value-1")]
    content = Reducer.load(tmp_path).reduce(messages)[0].parts[0].content
    found = searcher(["last-value-1"])(searched(content))
    assert found == {"last-value-1"}
