"""Histories as objects: contents of every type are reduced as in stored histories, and everything else stays."""

from __future__ import annotations

import copy
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import event, given
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
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from reducer import Reducer
from reducer.histories.live import reduce_messages
from reducer.histories.stored import reduce_json
from reducer.values import Unreducible, chars, is_media, plain
from tests.histories.messages import shorter

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
FIXED = [Risk.HIGH, Word.HIGH, ImageUrl(url="https://x.example/y.png"), PICTURE]
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
    if any(isinstance(content, bytes) for content in contents) and not writes_digests():
        return  # before 2.6x, a stored history does not distinguish bytes from a text
    messages: list[ModelMessage] = [request(*map(part, contents))]
    try:
        stored = dumped(messages)
    except Exception:
        return  # such a history cannot be stored
    live = reduce_messages(messages, shorter)
    event("changed" if live[0] is not messages[0] else "unchanged")
    assert dumped(live) == reduce_json(stored, shorter)


def writes_digests() -> bool:
    return b"content_file_digests" in dumped([request(part([]))])


@given(CONTENTS)
def test_plain_and_chars_match_the_stored_content(content: Any) -> None:
    def stored(content: Any) -> str:
        text = dumped([request(part([content]))]).decode().split('"content":[', 1)[1]
        return text.split(',"content_file_digests"')[0].split('],"tool_call_id"')[0]

    shown = plain(content)
    assert stored(content) == stored(shown)
    assert chars(content) == len(shown if isinstance(shown, str) else stored(shown))


REDUCIBLE = [
    [1, 2, 3], (1, 2, 3), {"hosts": [1, 2, 3]}, Sighting(hosts=["a", "b", "c"]), Aliased(hosts=["a", "b", "c"]),
    Hosts(["a", "b", "c"]), Node(1, [1, 2, 3]), [Risk.HIGH, date(2026, 1, 2), 3], "a long text", Word.HIGH,
    {1: [1, 2, 3], date(2026, 1, 2): Decimal("1.10")}, {UUID(int=1): (Pair(1, 2), 2, 3)},
    [ImageUrl(url="https://x.example/y.png"), "b", "c"],
]  # fmt: skip


@pytest.mark.parametrize("content", REDUCIBLE)
def test_contents_of_every_type_are_reduced(content: Any) -> None:
    messages: list[ModelMessage] = [request(UserPromptPart("hi", timestamp=AT), part(content))]
    before = dumped(messages)
    live = reduce_messages(messages, shorter)
    assert live[0] is not messages[0]
    assert live[0].parts[0] is messages[0].parts[0]
    assert dumped(live) == reduce_json(before, shorter) != before
    assert dumped(messages) == before
    old, new = messages[0].parts[1], live[0].parts[1]
    assert type(new) is ToolReturnPart
    for field in fields(old):
        if field.name != "content":
            assert getattr(new, field.name) is getattr(old, field.name)


def test_a_generator_is_not_read() -> None:
    generator = (number for number in (1, 2, 3))
    with pytest.raises(Unreducible):
        reduce_messages([request(part(generator))], shorter)
    with pytest.raises(Unreducible):
        plain({"a": [generator]})
    assert list(generator) == [1, 2, 3]


Special = type("Special", (ToolReturnPart,), {})
CONTENT = ["one", "two", "three"]
SCALARS = [None, True, 123456789, 1.5, b"some bytes", Risk.HIGH, date(2026, 1, 2), AT, UUID(int=1), Note("a long text")]
UNTOUCHED = [
    *map(part, SCALARS),
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
