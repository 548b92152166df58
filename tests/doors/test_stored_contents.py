from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reducer.stored import reduce_json, returns
from tests.doors.fakes import shorter
from tests.doors.spelled import history

HERE = Path(__file__).parent / "data"


@pytest.mark.parametrize(
    ("more", "kind", "why"),
    [
        (',"outcome":"retried"', "request", "its outcome is retried"),
        (',"outcome":"failed"', "request", "its outcome is failed"),
        (',"tool_kind":"tool-search"', "request", "its tool kind is tool-search"),
        (
            ',"metadata":{"pydantic_ai_synthesized_tool_return":true}',
            "request",
            "PydanticAI wrote it for a call without an answer",
        ),
        (',"tool_name":"final_result"', "request", "it answers an output tool"),
        (',"tool_name":null', "request", "it names no tool"),
    ],
)
def test_returns_that_are_never_touched(more: str, kind: str, why: str) -> None:
    data = history("[1,2,3]", more, kind)
    assert [item.untouched for item in returns(data)] == [why]
    assert reduce_json(data, shorter) is data


@pytest.mark.parametrize(
    ("content", "more", "why"),
    [
        ("null", "", "its content is no text, list or object"),
        ("123456789", "", "its content is no text, list or object"),
        ('{"a":[1,2,3],"a":1}', "", "an object in it has the same key twice"),
        ('{"a":[1,2,3],"b":{"c":1,"\\u0063":1}}', "", "an object in it has the same key twice"),
        (f"[1,2,3,{'9' * 5000}]", "", "a number in it has more digits than can be read"),
        ("[1,2,3]", ',"content":[1,2,3]', "it has two contents"),
        ('"bm8gdGV4dA=="', ',"content_file_digests":[]', "its content is bytes, a date or the like, stored as a text"),
    ],
)
def test_contents_that_are_never_touched(content: str, more: str, why: str) -> None:
    data = history(content, more)
    assert [item.untouched for item in returns(data)] == [why]
    assert reduce_json(data, shorter) is data


def test_repeated_keys_are_seen_where_keys_stand_close() -> None:
    objects = ",".join(f'{{"id":{i},"name":"n","note":"\\":","end\\\\":1}}' for i in range(30))
    assert [item.untouched for item in returns(history(f"[{objects}]"))] == [""]
    assert [item.untouched for item in returns(history(f'[{objects},{{"a":1,"b":2,"a":1}}]'))] == ["an object in it has the same key twice"]
    blank = f'[{objects},{{"a" :1,"b":"\\":","a":1}}]'
    assert [item.untouched for item in returns(history(blank))] == ["an object in it has the same key twice"]


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
def test_values_that_json_writers_lose(content: str, expected: str) -> None:
    def two(tool: str, content: Any) -> Any:
        return content[:5] if isinstance(content, str) else content[:2]

    assert reduce_json(history(content), two).decode() == history(expected).decode()


def test_a_number_too_long_elsewhere_does_no_harm() -> None:
    data = history("[1,2,3]", f',"metadata":{{"n":{"9" * 5000}}}')
    assert reduce_json(data, shorter) == data.replace(b"[1,2,3]", b"[1,2]")


def test_deep_nesting_does_no_harm_to_other_returns() -> None:
    deep = "[" * 9000 + "]" * 9000
    fields = '"tool_call_id":"c","part_kind":"tool-return"'
    turns = [f'{{"parts":[{{"tool_name":"t","content":{content},{fields}}}],"kind":"request"}}' for content in (deep, "[1,2,3]")]
    turns.append(f'{{"parts":[{{"tool_name":"t","content":[1,2,3],"metadata":{deep},{fields}}}],"kind":"request"}}')
    data = f"[{','.join(turns)}]".encode()
    assert reduce_json(data, lambda tool, content: content[:2] if len(content) == 3 else content) == data.replace(b"[1,2,3]", b"[1,2]")


def test_a_byte_order_mark_stays() -> None:
    data = b"\xef\xbb\xbf" + history("[1,2,3]")
    assert reduce_json(data, shorter) == data.replace(b"[1,2,3]", b"[1,2]")
