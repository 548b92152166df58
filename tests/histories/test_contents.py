"""Contents that rules never change, and how contents are written."""

from __future__ import annotations

from typing import Any

import pytest

from reducer.histories.stored import reduce_json, returns
from tests.histories.fakes import shorter
from tests.histories.spelled import history

TWICE = "an object in it has the same key twice"


@pytest.mark.parametrize(
    ("content", "more", "why"),
    [
        ("[1,2,3]", ',"outcome":"retried"', "its outcome is retried"),
        ("[1,2,3]", ',"outcome":"failed"', "its outcome is failed"),
        ("[1,2,3]", ',"tool_kind":"tool-search"', "its tool kind is tool-search"),
        (
            "[1,2,3]",
            ',"metadata":{"pydantic_ai_synthesized_tool_return":true}',
            "PydanticAI wrote it for a call without an answer",
        ),
        ("[1,2,3]", ',"tool_name":"final_result"', "it answers an output tool"),
        ("[1,2,3]", ',"tool_name":"recall_tool_return"', "it is what the model asked to see again"),
        ("[1,2,3]", ',"tool_name":null', "it names no tool"),
        ("null", "", "its content is no text, list or object"),
        ("123456789", "", "its content is no text, list or object"),
        ('{"a":[1,2,3],"a":1}', "", TWICE),
        ('[{"id":1},{"b":[1,2,3],"c":{"c":1,"\\u0063":1}}]', "", TWICE),
        (f"[1,2,3,{'9' * 5000}]", "", "a number in it has more digits than can be read"),
        ('"bm8gdGV4dA=="', ',"content_file_digests":[]', "its content is bytes, a date or the like, stored as a text"),
        ("[" * 257 + "]" * 257, "", "it is nested too deep to be read"),
        ("[" * 100_000 + "]" * 100_000, "", "it is nested too deep to be read"),
    ],
    ids=lambda value: value[:30],
)
def test_what_is_never_touched(content: str, more: str, why: str) -> None:
    data = history(content, more)
    assert [one.untouched for one in returns(data)] == [why]
    assert reduce_json(data, shorter) is data


def test_a_return_without_content_is_never_touched() -> None:
    data = history("0").replace(b'"content":0,', b"")
    assert [(one.content, one.untouched) for one in returns(data)] == [(None, "its content is no text, list or object")]
    assert reduce_json(data, shorter) is data


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"[{'9' * 300},2,3]", f"[{'9' * 300},2]"),
        ("[NaN,-Infinity,3]", "[NaN,-Infinity]"),
        ("[1e-7,1E22,3]", "[1e-7,1e+22]"),
        ('["\\ud800x","\\u00e9",3]', '["\\ud800x","é"]'),
        ('"\\ud83d\\ude00 and more"', '"😀 and"'),
        ('"\\ud83d and more"', '"\\ud83d and"'),
        ("[1e400,2,3]", "[1e400,2,3]"),
        ('[ 1 , { "b" : 2 , "a" : 1.0 } , 3 ]', '[1,{"b":2,"a":1.0}]'),
    ],
)
def test_how_contents_are_written(content: str, expected: str) -> None:
    def two(tool: str, content: Any) -> Any:
        return content[:5] if isinstance(content, str) else content[:2]

    assert reduce_json(history(content), two) == history(expected)


@pytest.mark.parametrize("odd", ["9" * 5000, "NaN", "[" * 9000 + "]" * 9000])
def test_metadata_of_any_kind_does_no_harm(odd: str) -> None:
    data = history("[1,2,3]", f',"metadata":{{"n":{odd}}}')
    assert reduce_json(data, shorter) == data.replace(b"[1,2,3]", b"[1,2]")


def test_a_byte_order_mark_stays() -> None:
    data = b"\xef\xbb\xbf" + history("[1,2,3]")
    assert reduce_json(data, shorter) == data.replace(b"[1,2,3]", b"[1,2]")
