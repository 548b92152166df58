from __future__ import annotations

import copy
import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Iterator
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
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from reducer.histories.live import reduce_messages
from reducer.histories.stored import reduce_json
from reducer.values import Unreducible, chars, is_media, plain
from tests.histories.fakes import shorter, unchanged

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


class Sighting(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    first_seen: date = Field(date(2026, 1, 2), alias="firstSeen")
    hosts: Any = None


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)
    hosts: list[Any] = Field(default_factory=list, alias="theHosts")


class Hosts(RootModel[list[str]]):
    pass


class Note(RootModel[str]):
    pass


@dataclass
class Node:
    id: int
    edges: Any = None


class Risk(Enum):
    HIGH = "high as can be"


class Word(StrEnum):
    HIGH = "high as can be"


Pair = namedtuple("Pair", "source target")


def part(content: Any, **more: Any) -> ToolReturnPart:
    return ToolReturnPart(
        tool_name=more.pop("tool_name", "explore"), content=content, tool_call_id="c", timestamp=AT, **more
    )


def request(*parts: Any) -> ModelRequest:
    return ModelRequest(parts=list(parts), timestamp=AT)


def dumped(messages: list[ModelMessage]) -> bytes:
    return ModelMessagesTypeAdapter.dump_json(messages)


LEAVES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text("ab+/?~", max_size=6).map(str.encode),  # a model's own bytes must be UTF-8
    st.dates(),
    st.datetimes(timezones=st.sampled_from([None, UTC])),
    st.timedeltas(max_value=timedelta(days=9), min_value=timedelta()),
    st.decimals(allow_nan=False, places=2),
    st.uuids(),
    st.sampled_from(
        [
            Risk.HIGH,
            Word.HIGH,
            ImageUrl(url="https://x.example/y.png"),
            BinaryContent(b"\x89PNG\xff", media_type="image/png"),
        ]
    ),
)
# In models: no media, which PydanticAI takes for files there once they are stored, and for data while they are not.
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


CONTENTS = st.one_of(st.recursive(LEAVES, containers, max_leaves=8), containers(LEAVES))


@given(st.lists(CONTENTS, min_size=1, max_size=4))
def test_live_and_stored_agree(contents: list[Any]) -> None:
    if any(isinstance(content, bytes) for content in contents) and not writes_digests():
        return  # before 2.6x nothing in a stored history tells bytes from a text
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
def test_plain_gives_what_is_stored(content: Any) -> None:
    stored = dumped([request(part([content]))])
    again = dumped([request(part([plain(content)]))])
    without = stored.split(b',"content_file_digests"')[0], again.split(b',"content_file_digests"')[0]
    assert without[0] == without[1]


@given(CONTENTS)
def test_chars_counts_what_the_model_is_shown(content: Any) -> None:
    shown = plain(content)
    text = shown if isinstance(shown, str) else dumped([request(part([shown]))]).decode().split('"content":[', 1)[1]
    if not isinstance(shown, str):
        text = text.split('],"tool_call_id"')[0]
    assert chars(content) == len(text)


@pytest.mark.parametrize(
    "content",
    [
        [1, 2, 3],
        (1, 2, 3),
        {"hosts": [1, 2, 3]},
        Sighting(hosts=["a", "b", "c"]),
        Aliased(hosts=["a", "b", "c"]),
        Hosts(["a", "b", "c"]),
        Node(1, [1, 2, 3]),
        [Risk.HIGH, date(2026, 1, 2), 3],
        {1: [1, 2, 3], date(2026, 1, 2): Decimal("1.10")},
        "a long text",
        Word.HIGH,
        {UUID(int=1): (Pair(1, 2), 2, 3)},
        [ImageUrl(url="https://x.example/y.png"), "b", "c"],
    ],
)
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


def numbers() -> Iterator[int]:
    yield from (1, 2, 3)


@pytest.mark.parametrize(
    "content",
    [
        None,
        True,
        123456789,
        1.5,
        b"some bytes",
        bytearray(b"some bytes"),
        Risk.HIGH,
        date(2026, 1, 2),
        AT,
        UUID(int=1),
        Note("a long text"),
    ],
)
def test_scalars_stay(content: Any) -> None:
    messages = [request(part(content))]
    assert reduce_messages(messages, shorter)[0] is messages[0]


def test_a_generator_is_not_read() -> None:
    generator = numbers()
    with pytest.raises(Unreducible):
        reduce_messages([request(part(generator))], shorter)
    with pytest.raises(Unreducible):
        plain({"a": [generator]})
    assert list(generator) == [1, 2, 3]


class Special(ToolReturnPart):
    pass


def never_touched() -> list[Any]:
    content = ["one", "two", "three"]
    found: list[Any] = [
        part(content, outcome="failed"),
        part(content, outcome="denied"),
        part(content, tool_name="final_result"),
        part(content, tool_name="final_result_report"),
        part(content, metadata={"pydantic_ai_synthesized_tool_return": True}),
        Special("explore", content, "c"),
        UserPromptPart(content, timestamp=AT),
    ]
    if hasattr(ToolReturnPart, "tool_kind"):
        found.append(part(content, tool_kind="inventory.lookup"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pydantic_ai.messages import RetryPromptPart

        found.append(RetryPromptPart("try again", tool_name="explore", tool_call_id="c"))
    return found


@pytest.mark.parametrize("untouched", never_touched(), ids=lambda item: type(item).__name__)
def test_parts_that_are_never_touched(untouched: Any) -> None:
    messages = [request(untouched)]
    assert reduce_messages(messages, shorter)[0] is messages[0]
    with_return = [request(untouched, part([1, 2, 3]))]
    assert reduce_messages(with_return, shorter)[0].parts[0] is untouched


def test_metadata_of_other_kinds_is_no_hindrance() -> None:
    for metadata in ({"a": 1}, "pydantic_ai_synthesized_tool_return", ["x"], object()):
        (message,) = reduce_messages([request(part([1, 2, 3], metadata=metadata))], shorter)
        assert message.parts[0].content == [1, 2]
        assert message.parts[0].metadata is metadata


def test_messages_in_which_nothing_changes_are_the_same_objects() -> None:
    messages: list[ModelMessage] = [
        request(UserPromptPart("hi", timestamp=AT)),
        ModelResponse([ToolCallPart("explore", {}, "c")], timestamp=AT),
        request(part([1, 2])),
        ModelResponse([TextPart("a long text")], timestamp=AT),
        request(part([1, 2, 3])),
    ]
    result = reduce_messages(messages, shorter)
    assert type(result) is list
    assert result is not messages
    assert [new is old for new, old in zip(result, messages, strict=True)] == [True, True, True, True, False]
    assert all(new is old for new, old in zip(reduce_messages(messages, unchanged), messages, strict=True))
    assert all(new is old for new, old in zip(reduce_messages(result, shorter), result, strict=True))


def test_nothing_is_changed_in_place() -> None:
    content = [{"hosts": [1, 2, 3]}, 2, 3]
    messages = [request(part(content))]
    kept = copy.deepcopy(messages)
    reduce_messages(messages, shorter)
    assert messages == kept
    assert messages[0].parts[0].content is content


def test_prefixes_stay() -> None:
    messages = [request(part(list(range(size)))) for size in range(6)]
    whole = reduce_messages(messages, shorter)
    for length in range(len(messages) + 1):
        assert reduce_messages(messages[:length], shorter) == whole[:length]


def test_real_histories_agree(data: Path) -> None:
    count = 0
    for file in sorted((data / "histories").glob("*/*.json"))[::6]:
        messages = ModelMessagesTypeAdapter.validate_json(file.read_bytes())
        stored = dumped(messages)
        live = reduce_messages(messages, shorter)
        assert dumped(live) == reduce_json(stored, shorter)
        count += sum(new is not old for new, old in zip(live, messages, strict=True))
    assert count > 100
