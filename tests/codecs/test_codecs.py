"""Texts that hold structure: recognised, read, written back in their notation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.codecs import decode, read
from tests.laws.strategies import values

LINES = '{"a": 1, "b": "x"}\n{"a": 2,  "b": "y"}\n[3]\n'


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        (' {"a": [1]} ', "JSON", {"a": [1]}),
        (LINES, "JSON lines", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, [3]]),
        (LINES.replace("\n", "\r\n"), "JSON lines", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, [3]]),
        ("[('a', 1), ('b', None)]\n", "Python literal", [["a", 1], ["b", None]]),
        ("('a',)", "Python literal", ["a"]),
        ("meta=None content=[Text(text='x')]", "Python literal", {"meta": None, "content": [{"text": "x"}]}),
        (json.dumps('{"a": 1}'), "JSON in quotes", {"a": 1}),
        (json.dumps(json.dumps("[(1, 2)]")), "Python literal in quotes", [[1, 2]]),
        ("Retrieved 42 entries.\n[('a', 1)]", "Python literal under a line", [["a", 1]]),
        ("Found 2 records:\n" + LINES, "JSON lines under a line", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, [3]]),
    ],
)
def test_a_text_that_holds_structure_is_read_and_written_back(text: str, name: str, value: Any) -> None:
    found = read(text, {})
    assert found is not None
    assert found[0] == value
    assert found[1].name == name
    again = found[1].write(found[0])
    assert again == text if "JSON" not in name or "lines" in name else decode(again) == value


@pytest.mark.parametrize("text", ["", "text", '"text"', "12", '{"a": 1}\ntext', '{"a": 1}\n\n{"a": 2}', "x" * 300 + "\n[1]", "line\nline\n[1]", '"[1', "\n"])
def test_others_are_plain(text: str) -> None:
    assert decode(text) is text


@pytest.mark.parametrize("text", ['{"a": 1}', '{"a": 1}\n', ' \r\n{"a": 1}\t'])
def test_one_line_is_json(text: str) -> None:
    assert decode(text) == {"a": 1}


@given(st.lists(st.one_of(st.dictionaries(st.text(), values), st.lists(values)), min_size=2, max_size=5), st.sampled_from(("\n", "\r\n")))
def test_lines_that_stay_are_the_same_characters(items: list[Any], between: str) -> None:
    lines = [json.dumps(item, separators=(", ", " : ")) for item in items]
    found = read(between.join(lines), {})
    if found is None or found[1].name != "JSON lines":  # NaN and the like
        return
    kept, codec = found
    assert codec.write(kept[1:]) == between.join(lines[1:])
    assert codec.write([kept[0], {"new": 1}]) == lines[0] + between + '{"new":1}'


@pytest.mark.parametrize(
    "text", ['"' * 100_000, '"[' * 100_000, "[" * 100_000 + "\n{", '{"a": 1}\n' * 50_000 + "x", "x\n" * 100_000, "(" * 100_000, "x\n" + "[" * 100_000]
)
def test_hostile_texts_are_plain(text: str) -> None:
    assert decode(text) is text
