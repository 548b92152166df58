"""Python literals: what `repr` returns is parsed exactly, or it is plain text."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections import Counter, OrderedDict
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import create_model

from reducer.formats import Atom, Bracketed, plain
from reducer.formats.literal import read_literal

Risk = enum.Enum("Risk", {"HIGH": "high"})
Host = dataclasses.make_dataclass("Host", ["name", ("ports", Any, None)])
Answer = create_model("Answer", meta=(Any, None), content=(Any, None))


_texts = st.one_of(
    st.text(st.characters(codec=None)), st.sampled_from(("it's", 'a "b" it\'s', '"a"', "\\", "\\'", "None", ",)", "("))
)
_leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _texts)
_plain = st.recursive(
    _leaves,
    lambda inner: st.one_of(st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(_texts, inner)),
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
        found = read_literal(text)
        if found is not None:
            assert repr(found) == text
        elif type(value) in (list, dict, tuple, set, Host, Answer) and "\\ud" not in text:
            # JSON joins surrogates. A dict whose keys are not texts is an atom, and a text as a whole is never one.
            assert type(value) is dict
            assert not all(type(key) is str for key in value)


@given(_plain)
def test_plain_literals_are_parsed_as_their_values(value: Any) -> None:
    found = read_literal(repr(value))
    if type(value) in (list, tuple, dict) and "\\ud" not in repr(value):
        assert found == value
        assert repr(found) == repr(value)


MALFORMED = [
    *("[1,2]", "[ 1]", "(1)", "(1, 2,)", "[1, 2, ]", "[01]", "[-0]", "['\\x41']", '["a"]', "['a' 'b']", "['a', 'b]"),
    *("[null]", "[Infinity]", "[-Infinity, b'x']", "{'': Infinity, '(': [1]}", "['\\U00000003', 'a']"),
    *("['\\UFFFFFFFF', 'a']", "{'a': 1, 'a': 2}", "{'a': 1, 2}", "a=1 b=2)", "a=1) b=(2", "a=1, b=2"),
    *("f(a=1, 2)", "f(x)(y)", "(a=1)", "[(a=1)]", "[Ellipsis]", "[1j]", "[(]", "[b(])"),
    *("[(1, 'a'), (2, 'b", "[('a',), ('b", "print(x) is a function", "level=info msg=started"),
    "datetime.date(2024, 1, 1)",
    *("Decimal('1')", "{1: 'a'}", "{'a': foo}", "()()", "plain", "", "{'a': 1, 2: 3}"),
]


@pytest.mark.parametrize("text", MALFORMED)
def test_other_texts_are_plain(text: str) -> None:
    assert read_literal(text) is None


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
    found = read_literal(text)
    assert found == [atom, (atom, "it's"), "after"]
    assert repr(found[1:]) == repr([(value, "it's"), "after"])


def test_models_are_objects_and_numbers_that_python_writes_differently_atoms() -> None:
    assert read_literal("[1.50, 1E5, 2.5, 1e-05]") == [Atom("1.50"), Atom("1E5"), 2.5, 1e-05]
    host = Host("a", [Answer(meta=1)])
    found = read_literal(repr([host]))
    assert plain(found) == [{"name": "a", "ports": [{"meta": 1, "content": None}]}]
    assert (found[0].opening, found[0].closing, found[0].least) == ("Host(", ")", 0)
    assert repr(found[0].with_value({"name": "b"})) == "Host(name='b')"
    fields = read_literal(str(Answer(content=[host])))
    assert plain(fields.value["content"])[0]["name"] == "a"
    assert fields.least == 1
    assert repr(fields.with_value({"meta": 1, "content": ()})) == "meta=1 content=()"


def test_sets_are_lists() -> None:
    found = read_literal("[{1, 'a'}, set(), {(1, 2)}]")
    assert [type(item) for item in found] == [Bracketed] * 3
    assert [item.value for item in found] == [[1, "a"], [], [(1, 2)]]
    assert repr(found[0].with_value([1])) == "{1}"
    assert repr(found[0].with_value([])) == "set()"
