"""An outline reads what reading piece by piece gives, whatever the text and however it is cut into stretches."""

from __future__ import annotations

from json.decoder import JSONDecodeError
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.stored import outline
from reducer.stored.outline import Outline, careful
from reducer.stored.text import JsonText
from tests.doors.spelled import LEAVES, objects, spellings

KEYS = st.sampled_from(["content", "raw_result", "parts", "a", "b", '"content', "content\\", "-Infinity"])
LEAF = st.one_of(LEAVES, st.sampled_from(["content", '"content":1', "-Infinity", float("-inf"), float("nan"), '\\"content":']))
VALUES = st.recursive(LEAF, lambda inner: st.one_of(st.lists(inner, max_size=4), objects(inner, KEYS)), max_leaves=8)


@st.composite
def lists(draw: st.DrawFn) -> str:
    write = draw(spellings())
    return str(write(draw(st.lists(st.one_of(VALUES, objects(VALUES, KEYS)), max_size=4))))


def piece_by_piece(text: str) -> tuple[Any, int]:
    return careful(JsonText(text), 0)


def kept(value: Any) -> int:
    if isinstance(value, tuple):
        return 1
    return sum(map(kept, value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()))


def plain(value: Any) -> Any:
    """Give what is said of a value: where kept values stand and what they are."""
    if isinstance(value, tuple):
        return ["kept", value[0], value[1], repr(value[2]), value[3]]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else repr(value)


@pytest.mark.parametrize(("many", "characters"), [(32, 8192), (1, 1)])
@given(text=lists())
@example(text='[{"content":-Infinity,"a":-Infinity},{"content":[1],"a":-Infinity}]')
@example(text='[{"\\"content":[1],"content":2}, {"content" : 3}]')
@example(text='["content",{"a":"content"},"content"]')
@example(text='[{"content":1,"content":2},{"c\\u006fntent":1}]')
@example(text='[{"\\u0063ontent":{"raw_result":null}}]')
@example(text='[{"raw\\u005Fresult":1,"raw_result":2}, 1, {"conten\\u0074":"x"}]')
@example(text='[{"\\u0070arts":[{"content":1}],"parts":[{"content":2}]}]')
def test_an_outline_reads_what_reading_piece_by_piece_gives(many: int, characters: int, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outline, "_MANY", many)
        patch.setattr(outline, "_CHARACTERS", characters)
        expected, end = piece_by_piece(text)
        source = JsonText(text)
        read = Outline(source)
        items = []
        for number, item in enumerate(read.items(0)):
            if 0 <= read.made != kept(item):
                event("a key stands twice")
                item = read.again()
            assert plain(item) == plain(expected[number])
            items.append(item)
        assert len(items) == len(expected)
        assert source.at == end
        read = Outline(source)
        whole = read.whole(0)
        assert source.at == end
        if 0 <= read.made != kept(whole):
            whole = read.again()
        assert plain(whole) == plain(expected)


@given(text=lists(), at=st.integers(0, 10**6), what=st.sampled_from(["", "}", "]", ",", '"', "x", "\\"]))
def test_a_fault_is_found_where_reading_piece_by_piece_finds_it(text: str, at: int, what: str) -> None:
    at = 1 + at % len(text)  # what it begins with says that it is a list
    text = text[:at] + what + text[at + 1 :]

    def fault(read: Any) -> tuple[str, int] | None:
        try:
            read()
        except JSONDecodeError as error:
            return error.msg, error.pos
        return None

    def by_outline() -> None:
        for _ in Outline(JsonText(text)).items(0):
            pass

    expected = fault(lambda: piece_by_piece(text))
    found = fault(by_outline)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found[1] == expected[1]


def test_one_long_item_is_read_in_linear_time() -> None:
    """Stretches grow while one item goes on: each doubling reads it anew, so all of them together twice."""
    parts = ",".join('{"content":"x","a":1}' for _ in range(20_000))
    source = JsonText(f'[{{"parts":[{parts}]}}]')
    read = Outline(source)
    (item,) = read.items(0)
    assert len(item["parts"]) == read.made == 20_000
