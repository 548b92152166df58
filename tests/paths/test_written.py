"""Places written as JMESPath are found again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.paths import compile_path
from reducer.paths.written import Token, path_text


@given(st.lists(st.sampled_from(["b", "x-y", 'q"', "é", "last.seen", -1, None, 0]), min_size=1, max_size=7))
@example([None, "b", "c"])
@example([-1, None, "b", "c"])
@example(["b", None, 0, "b"])
def test_a_written_place_is_found(tokens: list[Token]) -> None:
    value: Any = "leaf"
    for token in reversed(tokens):
        value = [value] if type(token) is int else {token or "any": value}
    path = compile_path(path_text(tokens))
    assert path.find(value) == ["leaf"]
    assert path.warnings == ()


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ([], "@"),
        (["a", -1, "b"], "a[*].b"),
        (["a", None, "b"], "a.*.b"),
        (["a", None, "b", "c"], "a.* | [*].b.c"),
        (["a", None, -1, "b", "c"], "a.*[*].b.c"),
    ],
)
def test_how_a_place_is_written(tokens: list[Token], text: str) -> None:
    assert path_text(tokens) == text
