"""Expressions: what they read, and values that are not plain JSON."""

from __future__ import annotations

from typing import Any

import pytest

from reducer.paths import PathError, compile_expression
from reducer.values import Unreducible, dump, plain
from tests.paths.live import RECORDS
from tests.paths.test_errors import CASES


@pytest.mark.parametrize(("text", "reads"), CASES["reads"].items())
def test_reads(text: str, reads: Any) -> None:
    assert list(map(list, compile_expression(text).reads)) == reads


def test_a_long_chain_of_alternatives() -> None:
    assert compile_expression(" || ".join(f"id == 'a{number}'" for number in range(500))).reads == (("id",),)


def test_simple_field() -> None:
    names = {"last_seen": "last_seen", '"last-seen"': "last-seen", "a.b": None, "@": None, "a[0]": None}
    assert {text: compile_expression(text).simple_field for text in names} == names


def test_an_element_on_which_evaluation_raises_does_not_match() -> None:
    for text, value in [("a > `1`", {"a": "x"}), ("length(a) > `0`", {"a": 1}), ("sort(@)", [1, "a"]), ("`NaN`", {})]:
        assert compile_expression(text).evaluate(value) is None
        assert compile_expression(text).holds(value) is False


ASKED = [
    *("name == 'high'", "name", "hits", "hits[0]", "hits[*].a", "hits[]", "hits[?@ == 'high']", "scores", "@"),
    *('scores."1".x', "scores.high.name", "length(hits)", "contains(hits, 'high')", "hits == `[1]`"),
    *("scores == `null`", "[name, hits]", "scores.*", "name > `0`", "sort_by([{n: name}], &n)", "to_string(@)"),
    "not_null(scores, name)",
]


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("text", ASKED)
def test_objects_are_evaluated_as_they_are_stored(text: str, record: Any) -> None:
    condition = compile_expression(text)
    assert dump(condition.evaluate(record)) == dump(condition.evaluate(plain(record)))
    assert condition.holds(record) is condition.holds(plain(record))


def test_deep_values_are_unreducible_and_deep_literals_refused() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = {"a": [deep]}
    for text in ("a == `1`", "to_string(a)", "@", "a", "a[0].a == a"):
        with pytest.raises(Unreducible):
            compile_expression(text).evaluate(deep)
    assert compile_expression("b == 'x'").holds(deep) is False
    with pytest.raises(PathError, match="a literal is nested too deeply"):
        compile_expression("`" + "[" * 200 + "]" * 200 + "`")
