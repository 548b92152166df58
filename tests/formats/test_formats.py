"""Structured text: recognised, parsed, written back in its format."""

from __future__ import annotations

import ast
import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.formats import Atom, Bracketed, parse, parse_lines, parse_nested, plain
from reducer.values import MAX_DEPTH, dump

LINES = '{"a": 1, "b": "x"}\n{"a": 2,  "b": "y"}\n[3]\n'
ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, [3]]


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        (' {"a": [1]} ', "JSON", {"a": [1]}),
        ('{"a": 1}\n', "JSON", {"a": 1}),
        (' \r\n[1e3, "\\u00e9"]\t', "JSON", [1000.0, "é"]),
        (LINES, "JSON lines", ROWS),
        (LINES.replace("\n", "\r\n"), "JSON lines", ROWS),
        ("[('a', 1), ('b', None)]\n", "Python literal", [["a", 1], ["b", None]]),
        ("('a',)", "Python literal", ["a"]),
        ("{'a', 1}", "Python literal", ["a", 1]),
        ("meta=None content=[Text(text='x')]", "Python literal", {"meta": None, "content": [{"text": "x"}]}),
        (json.dumps('{"a": 1}'), "JSON in quotes", {"a": 1}),
        (json.dumps(json.dumps("[(1, 2)]")), "Python literal in quotes", [[1, 2]]),
        (json.dumps(LINES), "JSON lines in quotes", ROWS),
        ("Retrieved 42 entries.\n[('a', 1)]", "Python literal under a line", [["a", 1]]),
        ('Retrieved 42 entries.\n{"a": 1}', "JSON under a line", {"a": 1}),
        ("Found 2 records:\n" + LINES, "JSON lines under a line", ROWS),
    ],
)
def test_structured_text_is_parsed_and_written_back(text: str, name: str, value: Any) -> None:
    parsed, form = parse(text)
    assert (plain(parsed), form.name, form.is_json) == (value, name, name == "JSON")
    written = form.write(parsed)
    if name.startswith("JSON") and "lines" not in name:  # the blanks of JSON are not kept
        assert len(written) <= len(text)
        assert plain(parse(written)[0]) == value
    else:
        assert written == text


PLAIN = [
    *("", "text", '"text"', "12", '{"a": 1}\ntext', '{"a": 1}\n\n{"a": 2}', "x" * 300 + "\n[1]", "line\nline\n[1]"),
    *('[1\n{"a": 2}', '"[1', "\n", '{"a": 1, "a": 2}', "[NaN]", "[Infinity]", "[1e999]", "[" + "1" * 5000 + "]"),
    "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
    json.dumps(json.dumps(json.dumps(json.dumps(json.dumps("[1]"))))),
]
HOSTILE = [
    *('"' * 100_000, '"[' * 100_000, "[" * 100_000, "[" * 100_000 + "\n{", '{"a": 1}\n' * 50_000 + "x"),
    *("x\n" * 100_000, "(" * 100_000, "x\n" + "[" * 100_000, "[" + '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000),
    *('"' + "\\" * 1_000_000 + '"', '"' + '\\"' * 500_000, "[" * 100_000 + "]", "[(" * 50_000 + ")"),
    *("['" + "\\'" * 500_000 + "]", "['" + "\\" * 1_000_001 + "']", "[\"'" * 200_000 + "]", "{'a':" * 100_000 + "}"),
    *("a(" * 100_000 + ")", "a=" * 100_000, "[" + "a" * 1_000_000 + "]", "[" + "1a" * 500_000 + "]"),
    *("[" + "'" * 1_000_001 + "]", "[" + "b'" * 500_000 + "]", "[<a" + " " * 100_000 + "]", "[" + "<a" * 200_000 + "]"),
    *("[" + "1" * 100_000 + "]", "((" * 70 + "1" + ",),)" * 70, "[" + "a(" * 127 + "1" * 1_000_000 + ")" * 126 + "]"),
]


@pytest.mark.parametrize("text", PLAIN + HOSTILE, ids=range(len(PLAIN + HOSTILE)))
def test_other_texts_are_plain(text: str) -> None:
    assert parse(text) is None


def test_fields_and_heads_are_plain_within_a_value() -> None:
    for text in ("a=1 b=2", json.dumps("a=1 b=2"), "Found:\n[1]"):
        assert parse(text) is not None
        assert parse_nested(text) is None
    deepest = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    for text in ("Host(a=1)", "[(1, 2)]", LINES, json.dumps("[1]"), deepest, "[" + '{"a": [1]}, ' * 200 + "1]"):
        assert parse_nested(text) is not None


_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=9), inner, max_size=3)),
    max_leaves=9,
)
_roots = st.one_of(st.lists(_json, max_size=3), st.dictionaries(st.text(max_size=9), _json, max_size=3))


@given(_roots, st.integers(min_value=0, max_value=4))
def test_json_is_parsed_at_every_level_of_quotes(value: Any, quotes: int) -> None:
    text = reduce(lambda text, _: dump(text), range(quotes), dump(value))
    parsed, form = parse(text)
    assert (parsed, form.write(parsed)) == (value, text)


@given(st.lists(_roots, min_size=2, max_size=5), st.sampled_from(("\n", "\r\n")), st.sampled_from(("", "\n", "\r\n\n")))
def test_unchanged_json_lines_are_written_as_they_came(items: list[Any], between: str, after: str) -> None:
    lines = [json.dumps(item, separators=(", ", " : ")) for item in items]
    rows, form = parse(between.join(lines) + after)
    if form.name == "JSON lines":  # "\r\n" after lines that end with "\n" is none of their line ends
        assert form.least == 2
        assert plain(rows) == items
        assert form.write(rows[1:]) == between.join(lines[1:]) + after
        changed = rows[1].with_value({"new": 1})
        assert form.write([rows[0], changed, *rows[2:]]) == between.join([lines[0], '{"new":1}', *lines[2:]]) + after


def test_equal_json_lines_keep_their_own_blanks() -> None:
    rows, form = parse('{"a":1}\n{"a": 1}\n{"a":  1}')
    assert form.write(rows[1:]) == '{"a": 1}\n{"a":  1}'
    assert form.write([*rows[:1], "…[2 more items]"]) == '{"a":1}\n"…[2 more items]"'


_formats = st.sampled_from((dump, repr, lambda value: repr((value, 1)), lambda value: dump(dump(value))))


@given(_roots, st.lists(_formats, min_size=3, max_size=3))
@example([{"a": "it's"}], [repr, repr, repr])
@example([{"a": "\\ \" '"}], [dump, repr, dump])
def test_formats_three_deep_are_parsed_and_written_back(value: Any, formats: list[Any]) -> None:
    text = dump(value)
    texts = [text]
    for write in formats:
        text = write([text, {"log": text}])
        texts.append(text)
    for outer, inner in zip(texts[:0:-1], texts[-2::-1], strict=True):
        parsed, form = parse_nested(outer)
        assert form.write(parsed) == outer
        rows = parsed[0] if type(parsed) is tuple else parsed
        assert rows == [inner, {"log": inner}]
    assert parse_nested(texts[0])[0] == value


_signs = st.sampled_from([*"[](){}'\",: \\nxu01e.-=<>ab\n\r", "None", ", ", ": ", "''", "('a',)"])


@given(st.text() | st.lists(_signs, max_size=40).map("".join))
@example('{"a":1}\r\n{"b":2}\n')
@example("\x01\x02\x03")
@example("['\x01']")
def test_no_text_raises(text: str) -> None:
    for read in (parse, parse_nested):
        found = read(text)
        if found is not None and "JSON" not in found[1].name:
            assert found[1].write(found[0]) == text


@given(st.text("ab\r\n") | st.text())
@example("a\nb\nc")
@example("a\r\nb\r\n")
@example("a\n\nb\r\n")
@example("a")
def test_lines_of_text_are_written_back_and_keep_their_ends(text: str) -> None:
    lines, form = parse_lines(text)
    assert form.name == "lines of text"
    assert form.write(lines) == text
    assert not any("\n" in line for line in lines)
    if len(lines) > 1 or "\n" not in text:
        assert form.write(lines[1:]) == text.partition("\n")[2]


def test_nodes_are_immutable_and_equal_by_value() -> None:
    model = Bracketed({"a": 1}, "Host(", ")")
    assert repr(model.with_value({})) == "Host()"
    assert model == Bracketed({"a": 1}, "Host(", ")")
    assert Atom("nan") == Atom("nan")
    with pytest.raises(AttributeError):
        model.value = {}  # type: ignore[misc]


@pytest.mark.parametrize(
    ("source", "share"), [("secrl", 0.986), ("secrl_large", 0.995), ("tau_airline", 0.993), ("livemcp", 0.586)]
)
def test_real_returns_are_structured(source: str, share: float, data: Path) -> None:
    files = sorted((data / "histories" / source).glob("*.json"))
    parts = [part for file in files for message in json.loads(file.read_bytes()) for part in message["parts"]]
    texts = [str(part["content"]) for part in parts if part["part_kind"] == "tool-return"]
    parsed = total = rows = 0
    for text in texts:
        found = parse(text)
        total += len(text)
        parsed += 0 if found is None else len(text)
        if found is not None and "JSON" not in found[1].name:
            assert found[1].write(found[0]) == text
            if text.startswith("[(") and rows < 100:
                rows += 1
                assert found[0] == ast.literal_eval(text)
    assert parsed / total >= share
    assert rows or "secrl" not in source
