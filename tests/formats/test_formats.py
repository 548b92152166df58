"""Structured text: recognised, parsed exactly, and written back in its format."""

from __future__ import annotations

import ast
import dataclasses
import datetime
import enum
import json
from collections import Counter, OrderedDict
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import create_model

from reducer.formats import Atom, parse, parse_nested, plain, read_as
from reducer.formats.literal import compact, read_literal, spaced
from reducer.values import MAX_DEPTH, dump
from tests.helpers import table

LINES = '{"a": 1, "b": "x"}\n{"a": 2,  "b": "y"}\n[3]\n'


@pytest.mark.parametrize("case", table(__file__, "structured.yaml"))
def test_structured_text_is_parsed_and_written_back(case: dict[str, Any]) -> None:
    text, name, value = case.values()
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


_scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)


_roots = _containers(st.recursive(_scalars | st.text(), _containers, max_leaves=9))


@given(st.lists(_roots, min_size=2, max_size=5), st.sampled_from(("\n", "\r\n")), st.sampled_from(("", "\n", "\r\n\n")))
def test_unchanged_json_lines_are_written_verbatim(items: list[Any], between: str, after: str) -> None:
    lines = [json.dumps(item, separators=(", ", " : ")) for item in items]
    rows, form = parse(between.join(lines) + after)
    if form.name == "JSON lines":  # otherwise a final "\r\n" follows lines that end with "\n"
        assert form.least == 2
        assert plain(rows) == items
        assert form.write(rows[1:]) == between.join(lines[1:]) + after
        changed = rows[1].with_value({"new": 1})
        assert form.write([rows[0], changed, *rows[2:]]) == between.join([lines[0], '{"new":1}', *lines[2:]]) + after


def test_equal_json_lines_keep_their_own_blanks() -> None:
    rows, form = parse('{"a":1}\n{"a": 1}\n{"a":  1}')
    assert form.write([*rows[1:], "…[2 more items]"]) == '{"a": 1}\n{"a":  1}\n"…[2 more items]"'


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
    found = read_as(text, ["lines"])
    assert found is not None
    lines, form = found
    assert form.write(lines) == text
    assert not any("\n" in line for line in lines)
    if len(lines) > 1 and "".join(lines[1:]):
        assert form.write(lines[1:]) == text.partition("\n")[2]


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


Risk = enum.Enum("Risk", {"HIGH": "high"})
Host = dataclasses.make_dataclass("Host", ["name", ("ports", Any, None)])
Answer = create_model("Answer", meta=(Any, None), content=(Any, None))


_texts = st.one_of(
    st.text(st.characters(codec=None)), st.sampled_from(("it's", 'a "b" it\'s', '"a"', "\\", "\\'", "None", ",)", "("))
)
_leaves = _scalars | _texts
_plain = st.recursive(
    _leaves, lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(_texts, inner)
)
_atoms = st.one_of(
    st.datetimes(timezones=st.sampled_from((None, datetime.UTC, ZoneInfo("Europe/Zurich")))),
    st.timedeltas(),
    st.decimals(),
    st.uuids(),
    st.binary(max_size=4),
    st.just(Risk.HIGH),
    st.frozensets(st.integers(), max_size=2),
    st.dictionaries(st.integers() | st.tuples(st.integers()), st.text(), min_size=1, max_size=2),
    st.sampled_from((float("nan"), float("inf"), -float("inf"))),
)
literals = st.recursive(
    _leaves | _atoms,
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(_texts | st.sampled_from(("", "(", "{", "!")), inner),
        st.sets(_leaves | st.tuples(_leaves), max_size=3),
        st.builds(Host, _texts, inner),
        st.builds(Answer, meta=inner, content=inner),
    ),
)


def literal(text: str) -> Any:
    """Return the value of a literal, or None."""
    found = read_literal(text)
    return None if found is None else found[0]


@given(literals)
@example({"": [1]})
@example({"(": [1, 2]})
@example([{"!": "x"}, {"": ["a", {}]}, {"{": [1]}])
@example(["\x00\x01\x02\x03", "\\x41", "\\\\'"])
@example([(), (1,), [], {}, set(), {()}, {(1, 2), (3, 4)}])
@example([{Risk.HIGH: 1}, {Risk.HIGH}, {datetime.date(2024, 1, 1): {"a": [datetime.date(2024, 1, 2)]}}, "after"])
@example([Host("a", {1: Host("b")}), b"a'\"", "after"])
def test_literals_are_parsed_and_written_back_exactly(value: Any) -> None:
    for text in (repr(value), str(value)):
        found = literal(text)
        if found is not None:
            assert spaced(found) == text
        elif type(value) in (list, dict, tuple, set, Host, Answer) and "\\ud" not in text:
            # JSON joins surrogates. A dict with keys that are not texts is an atom, and a whole text is never an atom.
            assert type(value) is dict
            assert not all(type(key) is str for key in value)


@given(_plain)
def test_plain_literals_are_parsed_as_their_values(value: Any) -> None:
    found = literal(repr(value))
    if type(value) in (list, tuple, dict) and "\\ud" not in repr(value):
        assert found == value
        assert spaced(found) == repr(value)


@given(literals)
@example([", ", {": ": 1}, b", ", ("a, b",)])
@example([datetime.datetime(2024, 5, 1), Risk.HIGH, {(1, 2): 3}, Host("a")])
def test_a_literal_without_blanks_is_read_as_the_same_literal(value: Any) -> None:
    found = read_literal(repr(value))
    if found is None:
        return
    text = compact(found[0])
    again = read_literal(text)
    assert again is not None
    assert again[1](again[0]) == text
    assert compact(again[0]) == text
    assert plain(again[0]) == plain(found[0])


@pytest.mark.parametrize("text", table(__file__, "malformed.yaml"))
def test_other_texts_are_not_literals(text: str) -> None:
    assert literal(text) is None


ATOMS = [
    *(datetime.datetime(2025, 8, 4, 20, 30, 22), datetime.timedelta(days=1), Decimal("1.5"), UUID(int=7), b"a'\"\x00"),
    datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    *(frozenset({1}), OrderedDict(a=1), Counter("aab"), range(3), Risk.HIGH, Host, {1: "a"}, {(1, 2): [3]}),
    *(float("nan"), float("-inf")),
]


@pytest.mark.parametrize("value", ATOMS)
def test_a_call_is_an_atom(value: Any) -> None:
    text = repr([value, (value, "it's"), "after"])
    atom = Atom(repr(value))
    found = literal(text)
    assert found == [atom, (atom, "it's"), "after"]
    assert spaced(found[1:]) == repr([(value, "it's"), "after"])


def test_models_are_objects_and_numbers_that_python_writes_differently_atoms() -> None:
    assert literal("[1.50, 1E5, 2.5, 1e-05]") == [Atom("1.50"), Atom("1E5"), 2.5, 1e-05]
    host = Host("a", [Answer(meta=1)])
    found = literal(repr([host]))
    assert plain(found) == [{"name": "a", "ports": [{"meta": 1, "content": None}]}]
    assert (found[0].opening, found[0].closing, found[0].least) == ("Host(", ")", 0)
    assert repr(found[0].with_value({"name": "b"})) == "Host(name='b')"
    fields = literal(str(Answer(content=[host])))
    assert plain(fields.value["content"])[0]["name"] == "a"
    assert fields.least == 1
    assert repr(fields.with_value({"meta": 1, "content": ()})) == "meta=1 content=()"


def test_sets_are_lists() -> None:
    found = literal("[{1, 'a'}, set(), {(1, 2)}]")
    assert [item.value for item in found] == [[1, "a"], [], [(1, 2)]]
    assert [repr(found[0].with_value(value)) for value in ([1], [])] == ["{1}", "set()"]
