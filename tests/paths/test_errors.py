"""Every invalid expression raises a `PathError` with a column, a width, a message and, if possible, help."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.paths import PathError, compile_expression, compile_path
from tests.helpers import table
from tests.paths.strategies import expression, path

CASES = table(__file__, "cases.yaml")
COMPILERS = (compile_path, compile_expression)
DEEP = "the expression is nested deeper than 100 levels"


def problem(compiler: Any, text: str) -> tuple[int, int, str, str]:
    with pytest.raises(PathError) as caught:
        compiler(text)
    error = caught.value
    assert str(error) == error.message
    return error.column, error.width, error.message, error.help


@pytest.mark.parametrize("case", [*CASES["wrong"], *CASES["no_places"]])
def test_wrong_expressions_and_those_that_name_no_places(case: dict[str, Any]) -> None:
    expected = (*case["at"], case["message"], case.get("help", ""))
    assert problem(compile_path, case["text"]) == expected
    if case in CASES["wrong"]:
        assert problem(compile_expression, case["text"]) == expected
    else:
        compile_expression(case["text"])


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("9" * 5000, (1, 1), "this is not a JMESPath expression"),
        ("a" * 10_001, (10_001, 1), "the expression is longer than 10,000 characters"),
        ("!" * 9_000 + "a", (1, 1), DEEP),
        (" || ".join("a" * 101), (1, 1), DEEP),
    ],
)
def test_long_expressions(text: str, at: tuple[int, int], message: str) -> None:
    advice = "for many values write `contains(['a', 'b'], key)`" if message == DEEP else ""
    for compiler in COMPILERS:
        assert problem(compiler, text) == (*at, message, advice)


def test_paths_with_many_steps() -> None:
    assert problem(compile_path, ".".join("a" * 101)) == (1, 201, "the path has more than 100 steps", "")
    assert problem(compile_path, "a" + "[0]" * 50 + "[*].b" * 26)[2] == "the path has more than 100 steps"
    assert len(compile_path(".".join("a" * 100)).shape) == 100
    assert compile_path(f"a[?{' && '.join(['b.c'] * 90)}]").filters


@pytest.mark.parametrize("compiler", COMPILERS)
def test_probable_mistakes_are_warnings(compiler: Any) -> None:
    [warning] = compiler('items[?risk == "high"].id').warnings
    assert (warning.column, warning.width, warning.message) == (16, 6, '"high" in double quotes is a key, not a text')
    assert warning.help == "write == 'high' for the text"
    for fine in ("[?\"last-seen\" > 'x']", "[?risk == 'high']", '"risk"', "[?a == b]"):
        assert compiler(fine).warnings == ()


def failure(compiler: Any, text: str) -> PathError | None:
    """Return the error of a text, which must point into it, or None if it compiles and evaluates."""
    try:
        made = compiler(text)
    except PathError as error:
        failed = error
    else:
        assert made.text == text
        for value in (None, 1, [], {"a": [{"b": 1}]}):
            made.find(value) if compiler is compile_path else made.evaluate(value)
        return None
    assert 1 <= failed.column <= len(text) + 1
    assert failed.width >= 1
    assert 0 < len(failed.message) < 200
    return failed


LONG = "[ ( {a: a[? a. a[*]. [[ @| ! & a|| a&& *. [] [*] [0] ' \" ` `[ f( a== - . \\".split()  # noqa: SIM905


@pytest.mark.parametrize("piece", LONG)
@pytest.mark.parametrize("count", [100, 100_000])
@pytest.mark.parametrize("end", ["", "a]"])
def test_long_and_deep_texts(piece: str, count: int, end: str) -> None:
    text = piece * count + end
    for compiler in COMPILERS:
        assert failure(compiler, text) is not None or count < 100_000


@pytest.mark.parametrize("opening", ["(", "a[?", "{a: ", "abs(", "!", "[?(!"])
@pytest.mark.parametrize("levels", [101, 330, 900])
def test_deep_nesting_is_refused_independently_of_the_stack(opening: str, levels: int) -> None:
    closing = "".join({"(": ")", "[": "]", "{": "}"}.get(sign, "") for sign in reversed(opening))
    for text in (opening * levels + "a" + closing * levels, opening * levels + "a"):
        assert problem(compile_expression, text)[2] == DEEP


WORDS = ("[?", "||", "&&", "==", "'x'", '"y"', "`1`", "-1", "length", "sort_by", "not", "and")
pieces = st.sampled_from([*".[](){}*@|&!=<'\"`-:,$\\1abé \n\ud800", *WORDS])


@st.composite
def broken(draw: st.DrawFn) -> str:
    """Draw an expression with an extra piece or a missing character."""
    text, piece = draw(path | expression), draw(pieces | st.just(""))
    at = draw(st.integers(0, len(text)))
    return text[:at] + piece + text[at + (not piece) :]


@given(st.lists(st.text(max_size=30) | st.lists(pieces, max_size=15).map("".join) | broken(), max_size=3))
@example(["(a)(b)", "`\ud800`", '"\\ud800"', "[?", "a[1 2:3]", "sort_by(a b)", "-", "`NaN` == `Infinity`"])
def test_any_text_compiles_or_is_a_path_error(texts: list[str]) -> None:
    for text, compiler in product(texts, COMPILERS):
        event("right" if failure(compiler, text) is None else "wrong")
