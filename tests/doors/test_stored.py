from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.errors import HistoryError
from reducer.stored import reduce_json, returns, splice
from tests.doors.fakes import shorter, unchanged

HERE = Path(__file__).parent / "data"


# Histories as text, in every spelling that JSON allows: an object is a list of pairs, so that keys can come twice.
class Pairs(list[tuple[str, Any]]):
    """An object as it is written."""


TEXTS = st.sampled_from(
    [
        "",
        "short",
        "a text of some length",
        '","part_kind":"tool-return"}]',
        '{"tool_name":"t","content":[1,2,3],"part_kind":"tool-return"}',
        'ends in a backslash \\": "x',
        "naïve — 日本 🦀",
        "line\nbreak\ttab",
        '" : "',
    ]
)
KEYS = st.sampled_from(["a", "content", "part_kind", "parts", "kind", "tool_name", "tool_call_id", 'q"', "b\\", "é", "metadata"])
LEAVES = st.one_of(TEXTS, st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.sampled_from([1e-7, 1e22, 0.1, -0.0, 123456.75, 2.5e-5]))


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    once = st.lists(st.tuples(KEYS, values), max_size=4, unique_by=lambda pair: pair[0])
    return st.one_of(once, once, once, st.lists(st.tuples(KEYS, values), max_size=4)).map(Pairs)


VALUES = st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=5), objects(inner)), max_leaves=8)
RETURN = {
    "tool_name": st.sampled_from(["explore", "explore", "explore", "final_result", "final_result_2", None]),
    "tool_call_id": st.sampled_from(["tool_0_explore", "tool_1_explore"]),
    "tool_kind": st.sampled_from([None, None, None, "tool-search"]),
    "metadata": st.one_of(st.none(), st.none(), VALUES, st.just(Pairs([("pydantic_ai_synthesized_tool_return", True)])), st.just("x" * 1500)),
    "timestamp": st.just("2026-01-01T00:00:04.123456Z"),
    "outcome": st.sampled_from(["success", "success", "success", None, "failed", "denied", "interrupted", "retried"]),
}


@st.composite
def parts(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["tool-return"] * 4 + ["builtin-tool-return", "retry-prompt", "user-prompt", "text", "tool-call"]))
    fields = [(name, draw(values)) for name, values in RETURN.items() if draw(st.integers(0, 9))]
    content = ("content", draw(VALUES))
    order = draw(st.sampled_from(["usual", "usual", "sorted", "any"]))
    fields.insert(1, content)
    fields.append(("part_kind", kind))
    if draw(st.integers(0, 19)) == 0:
        fields.append(("content", draw(VALUES)))
    if draw(st.integers(0, 19)) == 0:
        fields.remove(content)
    if order == "sorted":
        fields.sort(key=lambda pair: (len(pair[0]), pair[0]))
    elif order == "any":
        fields = draw(st.permutations(fields))
    return Pairs(fields)


@st.composite
def messages(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["request", "request", "request", "response", "later-kind"]))
    fields = [("parts", draw(st.lists(parts(), max_size=3))), ("timestamp", "2026-01-01T00:00:04Z"), ("kind", kind)]
    if draw(st.integers(0, 19)) == 0:
        fields.append(("parts", draw(st.lists(parts(), max_size=1))))
    if draw(st.booleans()):
        fields.insert(0, fields.pop())
    return Pairs(fields)


@st.composite
def spellings(draw: st.DrawFn) -> Any:
    """How a text is written: what stands between its tokens, and how its strings are escaped."""
    style = draw(st.sampled_from(["compact", "compact", "spaced", "indented", "odd"]))
    ascii_only = draw(st.booleans())
    escapes = draw(st.integers(0, 5)) == 0

    def text(value: str) -> str:
        written = json.dumps(value, ensure_ascii=ascii_only)
        if escapes and value and value.isascii() and value.isalpha():
            return f'"\\u{ord(value[0]):04x}{written[2:]}'
        return written

    def write(value: Any, depth: int) -> str:
        line = {"indented": "\n" + "  " * depth, "odd": "\r\n\t "}.get(style, "")
        comma = ", " if style == "spaced" else ","
        colon = {"compact": ":", "odd": " :\n"}.get(style, ": ")
        if isinstance(value, Pairs):
            return "{" + comma.join(f"{line}{text(key)}{colon}{write(item, depth + 1)}" for key, item in value) + line + "}"
        if isinstance(value, list):
            return "[" + comma.join(line + write(item, depth + 1) for item in value) + line + "]"
        return text(value) if isinstance(value, str) else json.dumps(value)

    return lambda value: write(value, 1)


@st.composite
def histories(draw: st.DrawFn) -> str:
    write = draw(spellings())
    if draw(st.integers(0, 9)) == 0:
        return write(draw(messages()))
    mark = draw(st.sampled_from(["", "", "\ufeff", " \n"]))
    return mark + write(draw(st.lists(messages(), max_size=4))) + draw(st.sampled_from(["", "\n"]))


class Seen(dict[str, Any]):
    """An object as it was read, and the keys that it has twice."""

    twice: frozenset[str] = frozenset()


def seen(pairs: list[tuple[str, Any]]) -> Seen:
    value = Seen(pairs)
    keys = [key for key, _ in pairs]
    value.twice = frozenset(key for key in keys if keys.count(key) > 1)
    return value


def repeats(value: Any) -> bool:
    if isinstance(value, Seen):
        return bool(value.twice) or any(map(repeats, value.values()))
    return isinstance(value, list) and any(map(repeats, value))


def reference(text: str, reduce: Any) -> tuple[Any, int]:
    """Do what `reduce_json` does, slowly and plainly, on the parsed history: the history reduced, and how many contents changed."""
    history = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=seen)
    changes = 0
    for message in history if isinstance(history, list) else [history]:
        for part in message["parts"] if message["kind"] == "request" and "parts" not in message.twice else []:
            tool = part.get("tool_name")
            if (
                part.get("part_kind") == "tool-return"
                and isinstance(tool, str)
                and not tool.startswith("final_result")
                and part.get("outcome") in (None, "success")
                and part.get("tool_kind") is None
                and not (isinstance(part.get("metadata"), dict) and "pydantic_ai_synthesized_tool_return" in part["metadata"])
                and isinstance(part.get("content"), (str, list, dict))
                and "content" not in part.twice
                and not repeats(part["content"])
            ):
                new = reduce(tool, json.loads(json.dumps(part["content"])))
                changes += new != part["content"]
                part["content"] = new
    return history, changes


@given(histories())
@example('[{"parts":[{"tool_name":"t","content":{"a":1,"a":[1,2,3]},"part_kind":"tool-return"}],"kind":"request"}]')
@example('[{"parts":[{"tool_name":"t","content":"a long text","con\\u0074ent":[1,2,3],"part_kind":"tool-return"}],"kind":"request"}]')
@example('[{"parts":[{"tool_name":"t","content":[[],[],[1]],"part_kind":"tool-return"},{"part_kind":"x"}],"kind":"request"}]')
@example('[{"kind":"request","parts":[{"con\\u0074ent":"other","content":[1,2,3],"part_kind":"tool-return","tool_name":"t"}],"a":1}]')
@example('[{"kind":"request","p\\u0061rts":[],"parts":[{"content":[1,2,3],"part_kind":"tool-return","tool_name":"t"}],"a":1}]')
@example('[{"kind":"request","parts":[{"retry":null,"content":[1,2,3],"part_kind":"tool-return","tool_name":"t"}],"kind":"response"}]')
@example('[{"kind":"request","parts":[{"content":[1,2,3],"part_kind":"tool-return","tool_name":"t"}],"id":""}]')
def test_it_changes_the_contents_that_the_plain_way_changes(text: str) -> None:
    data = text.encode()
    expected, changes = reference(text, shorter)
    result = reduce_json(data, shorter)
    event("changed" if changes else "unchanged")
    assert json.loads(result.decode().removeprefix("\ufeff")) == expected
    if not changes:
        assert result is data


@given(histories())
def test_all_bytes_outside_the_changed_contents_stay(text: str) -> None:
    data = text.encode()
    result = reduce_json(data, shorter)
    changed, after = [], []
    for old, new in zip(returns(data), returns(result), strict=True):
        assert old._replace(content=0, start=0, end=0) == new._replace(content=0, start=0, end=0)
        if not old.untouched and shorter(old.tool, old.content) is not old.content:
            changed.append(old)
            after.append(new)

    def outside(text: str, found: list[Any]) -> list[str]:
        bounds = [0, *(bound for item in found for bound in (item.start, item.end)), len(text)]
        return [text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]

    assert outside(text, changed) == outside(result.decode(), after)


@given(histories())
def test_nothing_changes_when_the_reducer_changes_nothing(text: str) -> None:
    data = text.encode()
    assert reduce_json(data, unchanged) is data


@given(histories())
def test_a_second_pass_gives_the_same_bytes(text: str) -> None:
    once = reduce_json(text.encode(), shorter)
    assert reduce_json(once, shorter) is once


@given(histories())
def test_splice_writes_what_reduce_json_writes(text: str) -> None:
    data = text.encode()
    changes = []
    for found in returns(data):
        if not found.untouched:
            new = shorter(found.tool, found.content)
            if new is not found.content:
                changes.append((found, new))
    assert splice(data, changes) == reduce_json(data, shorter)


@given(histories(), st.integers(0, 10**6))
def test_a_history_cut_short_is_refused(text: str, at: int) -> None:
    text = text.strip()
    cut = text[: at % len(text)]
    with pytest.raises(HistoryError) as caught:
        reduce_json(cut.encode(), shorter)
    assert "\n" not in str(caught.value)


def test_a_return_is_named_by_its_call_and_place() -> None:
    found = list(returns((HERE / "mid_2025.json").read_bytes()))
    assert [(item.tool, item.call_id, item.nth, item.message, item.part, item.untouched) for item in found] == [
        ("deep_research", "tool_0_deep_research", 1, 4, 0, "")
    ]
    assert found[0].content[2] == "A third one."


def test_a_history_of_2025_changes_in_one_place_only() -> None:
    data = (HERE / "mid_2025.json").read_bytes()
    result = reduce_json(data, shorter)
    start = data.index(b',"A third one."')
    end = data.index(b'],"tool_call_id":"tool_0_deep_research","timestamp":"2025-06-11T09:12:49')
    assert result == data[:start] + data[end:]


def test_call_ids_that_come_back_are_counted() -> None:
    turn = '{"parts":[{"tool_name":"t","content":"x","tool_call_id":"tool_0_t","part_kind":"tool-return"}],"kind":"request"}'
    assert [(item.nth, item.message) for item in returns(f"[{turn},{turn},{turn}]".encode())] == [(1, 0), (2, 1), (3, 2)]


def history(content: str, more: str = "", kind: str = "request") -> bytes:
    fields = f'"tool_name":"t","content":{content},"tool_call_id":"c"{more},"part_kind":"tool-return"'
    return f'[{{"parts":[{{{fields}}}],"kind":"{kind}"}}]'.encode()


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


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty: expected a list of messages"),
        (b" \n", "empty: expected a list of messages"),
        (b"hello", "not JSON: Expecting value at line 1, column 1"),
        (
            b'[{"parts":[],\n "kind":"request",}]',
            "not JSON: Expecting property name enclosed in double quotes at line 2, column 19",
        ),
        (b'[{"parts":[],"kind":"request"}\n{}]', "not JSON: Expecting ',' delimiter at line 2, column 1"),
        (b'[{"parts":[],"kind":"request"}] x', "not JSON: Extra data at line 1, column 33"),
        (b'[{"parts":[],"kind":"reque', "cut off: the text ends at line 1, column 27, in the middle of a history"),
        (b'[{"parts":[tru', "cut off: the text ends at line 1, column 15, in the middle of a history"),
        (b"\xff\xfe[\x00]\x00", "not UTF-8 text: byte 0xff at line 1, byte 1"),
        (b'["a",\n"\xed\xa0\x80"]', "not UTF-8 text: byte 0xed at line 2, byte 2"),
        (b"12", "not a history: found a number, expected a list of messages, each an object with `kind` and `parts`"),
        (b'"a"', "not a history: found a text, expected a list of messages, each an object with `kind` and `parts`"),
        (b"null", "not a history: found null, expected a list of messages, each an object with `kind` and `parts`"),
        (b"{}", "not a history: found an empty object, expected a list of messages, each an object with `kind` and `parts`"),
        (
            b'{"messages":[],"id":1}',
            "not a history: found an object with the keys messages, id, expected a list of messages, each an object with `kind` and `parts`",
        ),
        (
            b'[{"parts":[],"kind":"request"},{"role":"user","content":"hi"}]',
            "not a history: message 2 is none: found an object with the keys role, content, expected a list of messages, "
            "each an object with `kind` and `parts`",
        ),
        (
            b"[[1]]",
            "not a history: message 1 is none: found a list, expected a list of messages, each an object with `kind` and `parts`",
        ),
        (b'[{"kind":"request","parts":{}}]', "not a history: found an empty object as `parts`, expected a list"),
        (b"[" * 100_000, "nested deeper than 10,000 levels at line 1, column 10002"),
        (
            history("[" * 100_000 + "]" * 100_000),
            "nested deeper than 10,000 levels at line 1, column 10039",
        ),
    ],
)
def test_what_is_no_history_is_refused(data: bytes, message: str) -> None:
    for read in (lambda: reduce_json(data, shorter), lambda: list(returns(data))):
        with pytest.raises(HistoryError) as caught:
            read()
        assert str(caught.value) == message


def test_an_empty_list_is_a_history() -> None:
    assert reduce_json(b"[]", shorter) == b"[]"
    assert list(returns(b"[ ]")) == []


def test_real_histories(data: Path) -> None:
    count = changed = 0
    for file in sorted((data / "histories").glob("*/*.json")):
        stored = file.read_bytes()
        expected, changes = reference(stored.decode(), shorter)
        result = reduce_json(stored, shorter)
        assert json.loads(result) == expected
        assert reduce_json(result, shorter) is result
        count += sum(1 for _ in returns(stored))
        changed += changes
    assert count > 1000
    assert changed > 800
