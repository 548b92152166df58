"""Python literals: what `str()` of an object gives is read exactly, or it is plain text."""

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

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from reducer.codecs.brackets import Brackets
from reducer.codecs.literal import read_literal, write_literal


class Risk(enum.Enum):
    HIGH = "high"


@dataclasses.dataclass
class Host:
    name: str
    ports: Any = None


class Answer(BaseModel):
    meta: Any = None
    content: Any = None


_texts = st.one_of(st.text(st.characters(codec=None)), st.sampled_from(("it's", 'a "b" it\'s', "\\", "\\'", "None", ",)", "#")))
_leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _texts)
_plain = st.recursive(
    _leaves.filter(lambda leaf: leaf == leaf), lambda inner: st.one_of(st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(st.text(), inner))
)
literals = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(st.one_of(st.text(), st.sampled_from(("#", "{", "=", "!"))), inner),
        st.dictionaries(st.integers(), inner, max_size=2),
        st.sets(st.integers(), max_size=3),
        st.builds(Host, st.text(), inner),
        st.builds(Answer, meta=inner, content=inner),
        st.binary(max_size=4),
    ),
)


def plainly(value: Any) -> Any:
    """What rules see of a value: tuples and sets as lists."""
    if isinstance(value, (list, tuple)):
        return [plainly(item) for item in value]
    return {key: plainly(item) for key, item in value.items()} if isinstance(value, dict) else value


@given(literals)
@example({"#": [1]})
@example({"#": [1, 2]})
@example([{"!": "x"}, {"=": ["a", {}]}, {"{": [1]}])
@example(["\x00\x01\x02", "\\x41", "\\\\'"])
@example([(), (1,), [], {}, set()])
def test_what_is_read_is_written_back_exactly(value: Any) -> None:
    for text in (repr(value), str(value)):
        brackets: Brackets = {}
        found = read_literal(text, brackets)
        if found is not text:
            assert type(found) in (list, dict)
            assert write_literal(found, brackets) == text


@given(_plain)
def test_plain_literals_are_read_as_what_they_say(value: Any) -> None:
    text = repr(value)
    found = read_literal(text, {})
    if isinstance(value, (list, tuple, dict)) and "'#'" not in text:
        assert found == plainly(value)


@given(st.lists(st.sampled_from([*"[](){}'\",: \\nxu01e.-=<>ab", "None", ", ", ": ", "''", "('a',)"]), max_size=40).map("".join))
@example("[1,2]")
@example("[ 1]")
@example("(1)")
@example("(1, 2,)")
@example("[1, 2, ]")
@example("[01]")
@example("[1.50]")
@example("[-0]")
@example("['\\x41']")
@example('["a"]')
@example("['a' 'b']")
@example("['a', 'b]")
@example("[null]")
@example("{'a': 1, 'a': 2}")
@example("{'a': 1, 2}")
@example("a=1 b=2)")
@example("f(a=1, 2)")
@example("f(x)(y)")
@example("[Ellipsis]")
@example("[1j]")
@example("[nan, inf, -inf]")
def test_any_text_is_read_exactly_or_not_at_all(text: str) -> None:
    brackets: Brackets = {}
    found = read_literal(text, brackets)
    if found is text:
        assert not brackets
    else:
        assert write_literal(found, brackets) == text


@pytest.mark.parametrize(
    "value",
    [
        [datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.UTC), Decimal("1.2"), UUID(int=7), b"a'\"\x00", frozenset({1})],
        [OrderedDict(a=1), Counter("aab"), range(3), Risk.HIGH, {1: "a"}, Host],
    ],
)
def test_a_leaf_that_is_no_plain_value_is_a_text_written_as_it_stood(value: list[Any]) -> None:
    text = repr(value)
    brackets: Brackets = {}
    found = read_literal(text, brackets)
    assert [str(item) for item in found] == [repr(item) for item in value]
    assert write_literal(found[:2], brackets) == repr(value[:2])


def test_models_are_objects() -> None:
    host = Host("a", [Answer(meta=1)])
    brackets: Brackets = {}
    assert read_literal(repr([host]), brackets) == [{"name": "a", "ports": [{"meta": 1, "content": None}]}]
    assert read_literal(str(Answer(content=[host])), brackets)["content"][0]["name"] == "a"


@pytest.mark.parametrize("text", ["[(1, 'a'), (2, 'b", "[('a',), ('b", "print(x) is a function", "level=info msg=started", "{'a': foo}", "()()", "plain", ""])
def test_other_texts_are_plain(text: str) -> None:
    assert read_literal(text, {}) is text


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[(" * 50_000,
        "['" + "\\'" * 500_000,
        "[\"'" * 200_000,
        "{'a':" * 100_000,
        "a(" * 100_000,
        "a=" * 100_000,
        "[" + "'" * 1_000_000,
        "[" + "b'" * 500_000,
        "[<a" + " " * 100_000,
        "[" + "1" * 100_000 + "]",
        "[" * 200 + "]" * 200,
        "((" * 70 + "1" + ",),)" * 70,
    ],
)
def test_hostile_texts_are_plain(text: str) -> None:
    assert read_literal(text, {}) is text


@pytest.mark.skipif(not Path("../shared/data/histories").is_dir(), reason="the real data is not here")
@pytest.mark.parametrize("source", ["secrl", "secrl_large"])
def test_real_rows_are_read_as_ast_reads_them(source: str) -> None:
    files = sorted(Path("../shared/data/histories", source).glob("*.json"))[:12]
    parts = [part for file in files for message in json.loads(file.read_text(encoding="utf-8")) for part in message["parts"]]
    texts = [part["content"] for part in parts if part["part_kind"] == "tool-return" and str(part["content"]).startswith("[(")]
    assert texts
    for text in texts:
        assert read_literal(text, {}) == plainly(ast.literal_eval(text))
