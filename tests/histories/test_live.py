"""Histories as objects are reduced as stored histories are, also with values that later messages mention."""

from __future__ import annotations

import copy
import json
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from reducer import Reducer
from reducer.agent import history_processor
from reducer.histories.live import reduce_messages
from reducer.histories.stored import reduce_json, returns
from reducer.references import searched, searcher
from reducer.values import Unreducible, chars, is_media, plain
from tests.helpers import decoded, nested
from tests.histories.messages import results, session, shorter
from tests.laws.strategies import KINDS

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


class Sighting(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    first_seen: date = Field(date(2026, 1, 2), alias="firstSeen")
    hosts: Any = None


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)
    hosts: list[Any] = Field(default_factory=list, alias="theHosts")


@dataclass
class Node:
    id: int
    edges: Any = None


Hosts, Note = RootModel[list[str]], RootModel[str]
Risk, Word = Enum("Risk", {"HIGH": "high as can be"}), StrEnum("Word", {"HIGH": "high as can be"})
Pair = namedtuple("Pair", "source target")


def part(content: Any, tool: str = "explore", **more: Any) -> ToolReturnPart:
    return ToolReturnPart(tool, content, tool_call_id="c", timestamp=AT, **more)


def request(*parts: Any) -> ModelRequest:
    return ModelRequest(parts=list(parts), timestamp=AT)


def dumped(messages: list[ModelMessage]) -> bytes:
    return ModelMessagesTypeAdapter.dump_json(messages)


PICTURE = BinaryContent(b"\x89PNG\xff", media_type="image/png")
FIXED = [Risk.HIGH, Word.HIGH, Path("/var/log/auth.log"), ImageUrl(url="https://x.example/y.png"), PICTURE]
LEAVES = st.one_of(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.decimals(allow_nan=False, places=2),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.text("ab+/?~", max_size=6).map(str.encode),  # a model's own bytes must be UTF-8
    st.dates() | st.datetimes(timezones=st.sampled_from([None, UTC])),
    st.timedeltas(max_value=timedelta(days=9), min_value=timedelta()),
    st.uuids() | st.sampled_from(FIXED),
)
# For models, without media: PydanticAI treats those as files once they are stored, and as data before.
PLAIN = st.recursive(
    LEAVES.filter(lambda value: not is_media(value)), lambda inner: st.lists(inner, max_size=4) | st.tuples(inner)
)
KEYS = st.one_of(st.text("abcé", max_size=3), st.integers(0, 3), st.dates(), st.booleans())


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=5),
        st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(KEYS, inner, max_size=5),
        st.dictionaries(KEYS, inner, max_size=3).map(OrderedDict),
        PLAIN.map(lambda value: Sighting(hosts=value)),
        st.lists(PLAIN, max_size=4).map(lambda value: Aliased(hosts=value)),
        st.lists(st.text("ab", max_size=2), max_size=4).map(Hosts),
        PLAIN.map(lambda value: Node(1, value)),
        st.tuples(inner, inner).map(lambda pair: Pair(*pair)),
        st.frozensets(st.integers(), max_size=4),
    )


NODES = st.lists(st.builds(Node, st.integers(0, 999), PLAIN) | st.builds(Sighting, hosts=PLAIN), max_size=5).map(
    lambda nodes: {"nodes": nodes, "note": "a note about node 512 and others"}
)
CONTENTS = st.one_of(st.recursive(LEAVES, containers, max_leaves=8), containers(LEAVES))


@given(st.lists(CONTENTS, min_size=1, max_size=4))
def test_live_and_stored_agree(contents: list[Any]) -> None:
    messages: list[ModelMessage] = [request(*map(part, contents))]
    try:
        stored = dumped(messages)
    except Exception:
        return  # such a history cannot be stored
    live = reduce_messages(messages, shorter)
    event("changed" if live[0] is not messages[0] else "unchanged")
    assert dumped(live) == reduce_json(stored, shorter)
    assert dumped(messages) == stored
    for old, new in zip(messages[0].parts, live[0].parts, strict=True):
        assert type(new) is ToolReturnPart
        changed = [field.name for field in fields(old) if getattr(new, field.name) is not getattr(old, field.name)]
        assert changed == ([] if new is old else ["content"])


def writes_digests() -> bool:
    return b"content_file_digests" in dumped([request(part([]))])


@given(CONTENTS)
@example(["a \n \x01"])
def test_plain_and_chars_match_the_stored_content(content: Any) -> None:
    def stored(content: Any) -> str:
        text = dumped([request(part([content]))]).decode().split('"content":[', 1)[1]
        return text.split(',"content_file_digests"')[0].split('],"tool_call_id"')[0]

    shown = plain(content)
    assert stored(content) == stored(shown)
    assert chars(content) == len(shown if isinstance(shown, str) else stored(shown))


TEXT = b"some bytes"
STORED_AS_TEXT = [TEXT, bytearray(TEXT), Path("/var/log"), Risk.HIGH, date(2026, 1, 2), AT, UUID(int=1), Note("a text")]
"""Contents that newer versions of PydanticAI store with a record that the text was none."""
RECORDED = STORED_AS_TEXT if writes_digests() else []
REDUCIBLE = [
    [1, 2, 3], (1, 2, 3), {"hosts": [1, 2, 3]}, Sighting(hosts=["a", "b", "c"]), Aliased(hosts=["a", "b", "c"]),
    Hosts(["a", "b", "c"]), Node(1, [1, 2, 3]), [Risk.HIGH, date(2026, 1, 2), 3], "a long text", Word.HIGH,
    {1: [1, 2, 3], date(2026, 1, 2): Decimal("1.10")}, {UUID(int=1): (Pair(1, 2), 2, 3)},
    [ImageUrl(url="https://x.example/y.png"), "b", "c"],
]  # fmt: skip


@pytest.mark.parametrize("content", REDUCIBLE if writes_digests() else [*REDUCIBLE, *STORED_AS_TEXT])
def test_contents_of_every_type_are_reduced(content: Any) -> None:
    messages: list[ModelMessage] = [request(UserPromptPart("hi", timestamp=AT), part(content))]
    (live,) = reduce_messages(messages, shorter)
    assert live.parts[0] is messages[0].parts[0]
    assert dumped([live]) == reduce_json(dumped(messages), shorter) != dumped(messages)


def test_a_generator_is_not_read() -> None:
    generator = (number for number in (1, 2, 3))
    with pytest.raises(Unreducible):
        reduce_messages([request(part(generator))], shorter)
    with pytest.raises(Unreducible):
        plain({"a": [generator]})
    assert list(generator) == [1, 2, 3]


Special = type("Special", (ToolReturnPart,), {})
CONTENT = ["one", "two", "three"]
UNTOUCHED = [
    *map(part, [None, True, 123456789, 1.5, *RECORDED]),
    part(CONTENT, outcome="failed"),
    part(CONTENT, "final_result_report"),
    part(CONTENT, metadata={"pydantic_ai_synthesized_tool_return": True}),
    Special("explore", CONTENT, "c"),
    UserPromptPart(CONTENT, timestamp=AT),
    RetryPromptPart("try again", tool_name="explore", tool_call_id="c"),
    *([part(CONTENT, tool_kind="inventory.lookup")] if hasattr(ToolReturnPart, "tool_kind") else []),
]


@pytest.mark.parametrize("untouched", UNTOUCHED, ids=range(len(UNTOUCHED)))
def test_parts_that_are_never_touched(untouched: Any) -> None:
    messages = [request(untouched), request(untouched, part([1, 2, 3]))]
    reduced = reduce_messages(messages, shorter)
    assert reduced[0] is messages[0]
    assert reduced[1].parts[0] is untouched


@pytest.mark.parametrize("metadata", [{"a": 1}, "pydantic_ai_synthesized_tool_return", ["x"], object()])
def test_other_metadata_does_not_prevent_a_reduction(metadata: Any) -> None:
    (message,) = reduce_messages([request(part([1, 2, 3], metadata=metadata))], shorter)
    assert (message.parts[0].content, message.parts[0].metadata) == ([1, 2], metadata)


def test_unchanged_messages_are_the_same_objects() -> None:
    messages: list[ModelMessage] = [
        request(UserPromptPart("hi", timestamp=AT)),
        ModelResponse([ToolCallPart("explore", {}, "c")], timestamp=AT),
        request(part([1, 2])),
        request(part([{"hosts": [1, 2, 3]}, 2, 3])),
    ]
    kept = copy.deepcopy(messages)
    result = reduce_messages(messages, shorter)
    assert result is not messages
    assert [new is old for new, old in zip(result, messages, strict=True)] == [True, True, True, False]
    assert messages == kept
    assert all(new is old for new, old in zip(reduce_messages(result, shorter), result, strict=True))
    assert [reduce_messages(messages[:end], shorter) == result[:end] for end in range(5)] == [True] * 5  # law 6


@pytest.mark.parametrize("levels", [120, 130, 200, 240])
def test_deep_items_agree(levels: int, one: Reducer) -> None:
    messages = [request(part([nested(levels), "a first text", "a second text"]))]
    stored = dumped(messages)
    assert len(one.reduce_json(stored)) < len(stored)
    assert dumped(one.reduce(messages)) == one.reduce_json(stored)


def test_real_histories_agree(data: Path, tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text("version: 1\ntool: '*'\nsteps:\n  - truncate: 300\nmax_chars: 2000\n")
    reducer = Reducer.load(tmp_path)
    changed = 0
    for file in sorted((data / "histories").glob("*/*.json"))[::8]:
        messages = ModelMessagesTypeAdapter.validate_json(file.read_bytes())
        stored = dumped(messages)
        assert dumped(reduce_messages(messages, shorter)) == reduce_json(stored, shorter)
        for references in (False, True):
            live = reducer.reduce(messages, references)
            assert dumped(live) == reducer.reduce_json(stored, references)
            changed += sum(new is not old for new, old in zip(live, messages, strict=True))
    assert changed > 60


# --- values that later messages mention stay

HARSH = (
    "steps:\n  - path: '*'\n    limit: 1\n  - truncate: 80\n",
    "steps:\n  - limit: 2\n  - path: '[*].*'\n    limit: 1\n  - truncate: 40\npreserve: [ioc]\nmax_chars: 500\n",
    "steps:\n  - extract: [ioc]\n",
)
STORED = st.one_of(*(KINDS[kind] for kind in sorted(KINDS))).map(
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
    return loaded(tmp_path_factory.mktemp("rules"), "tool: explore\nmark: false\nsteps:\n  - limit: 1\n")


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


@given(messages=histories(NODES | STORED), number=st.integers(0, 2))
def test_references_stay_in_live_and_stored_histories_alike(
    harsh: list[Reducer], messages: list[ModelMessage], number: int
) -> None:
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
