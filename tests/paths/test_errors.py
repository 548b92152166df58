"""Every wrong expression raises one `PathError` with the column, the width, a message and, if there is one, the fix."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.paths import PathError, compile_expression, compile_path
from tests.paths.strategies import expression, path

NEW = "; a path names places"
FILTER = "to select items write a filter: `items[?risk == 'high']`"
QUOTED = 'write a key in double quotes, after a dot: `source."last-seen"`'
KEEP = "to select keys write `keep: [a, b]`"
BEHIND = "write a key after a dot, as in `items.name`, and a condition in `[?...]`"
EXPREF = "write `&&` for a logical and, or call a function, as in `sort_by(items, &name)`"

WRONG = [  # for paths and expressions alike
    ("", 1, 1, "the expression is empty", "`@` names the value itself"),
    ("  ", 1, 1, "the expression is empty", "`@` names the value itself"),
    ("$.a", 1, 1, "unknown character `$`", "an expression starts at the value itself: remove `$.`"),
    ("a..b", 3, 1, "unexpected `.`", "write one dot: JMESPath has no `..` for all levels"),
    ("a.b.", 5, 1, "the expression ends too early", ""),
    ("a.last-seen", 7, 1, "a bare key cannot contain `-`", 'quote the key: `"last-seen"`'),
    ("a - b", 3, 1, "a bare key cannot contain `-`", "JMESPath does not calculate"),
    ("@timestamp", 2, 9, "unexpected `timestamp`", 'quote a key that starts with `@`: `"@timestamp"`'),
    (
        "a#b",
        2,
        1,
        "unknown character `#`",
        "put a key with characters other than letters, digits and `_` in double quotes",
    ),
    ("a.[0]", 4, 1, "unexpected `0`", "write an index directly after its list, without a dot: `items[0]`"),
    ("a[b]", 3, 1, "unexpected `b`", BEHIND),
    ("a['b']", 3, 3, "unexpected `'b'`", BEHIND),
    ("a[0", 4, 1, "the expression ends too early", "close `[` with `]`"),
    ("items[?a == 'x'", 16, 1, "the expression ends too early", "close `[?` with `]`"),
    ("items[?risk = 'high']", 13, 1, "unknown character `=`", "write `==` to compare"),
    ("items[?score > 5]", 16, 1, "unexpected `5`", "write the number in backticks: `` `5` ``"),
    ("items[?a and b]", 10, 3, "`and` is not an operator", "write `&&`"),
    ("items[?a or b]", 10, 2, "`or` is not an operator", "write `||`"),
    ("items[?not a]", 8, 3, "`not` is not an operator", "write `!`"),
    ("items[?a & b]", 10, 1, "unexpected `&`", "write `&&`"),
    ("items[?not(a)]", 8, 3, "unknown function `not()`", "write `!(...)` to negate"),
    ("items[?lenght(a) > `1`]", 8, 6, "unknown function `lenght()`", "did you mean `length()`?"),
    ("items[?contains(a)]", 8, 8, "`contains()` takes 2 arguments, not 1", ""),
    ("items[?length(a, b)]", 8, 6, "`length()` takes 1 argument, not 2", ""),
    ("items[?merge()]", 8, 5, "`merge()` takes at least 1 argument, not 0", ""),
    (
        "items[?sort_by(a, b)]",
        8,
        7,
        "argument 2 of `sort_by()` must be an expression with `&`",
        "write `sort_by(items, &name)`",
    ),
    ("items[?map(a, b)]", 8, 3, "argument 1 of `map()` must be an expression with `&`", "write `map(&name, items)`"),
    ("items[?length(&a)]", 8, 6, "argument 1 of `length()` is a value, without `&`", "remove the `&`"),
    ("items[?&a]", 8, 1, "`&` is valid only before an argument of a function", EXPREF),
    ("(length)(a)", 1, 1, "write a function by its bare name, as in `length(tags)`", ""),
    ("a[::0]", 5, 1, "the step of a slice cannot be 0", ""),
    ("a == 'x", 6, 2, "the ' is never closed", "close the text with `'`"),
    ('a."b', 3, 2, 'the " is never closed', 'close the key with `"`'),
    (r'"\x"', 1, 1, 'the text in " is not valid JSON', r"inside quotes write a backslash as `\\`"),
    ("a | ", 5, 1, "the expression ends too early", ""),
    ("9" * 5000, 1, 1, "the number is too long", ""),
    ("a" * 10_001, 10_001, 1, "the expression is longer than 10,000 characters", ""),
    ("!" * 9_000 + "a", 1, 1, "the expression is nested deeper than 100 levels", ""),
]

NO_PLACES = [
    ("length(a)", 1, 6, "`length()` makes a new value" + NEW, "use functions only in filters and conditions"),
    ("a | keys(@)", 5, 4, "`keys()` makes a new value" + NEW, "use functions only in filters and conditions"),
    ("a || b", 3, 2, "`||` selects between values" + NEW, "write one step for each place"),
    ("a && b", 3, 2, "`&&` makes a value" + NEW, "to select items write a filter: `items[?a && b]`"),
    ("!a", 1, 1, "`!` makes a value" + NEW, "to select items write a filter: `items[?!seen]`"),
    ("risk == 'high'", 6, 2, "a comparison makes a value" + NEW, FILTER),
    ("a[?b == 'c'].d > `1`", 16, 1, "a comparison makes a value" + NEW, FILTER),
    ("'text'", 1, 6, "a literal is not part of the data" + NEW, QUOTED),
    ("a.{b: c}", 3, 1, "`{...}` makes a new object" + NEW, KEEP),
    ("a[*].[b, c]", 6, 1, "`[...]` with expressions in it makes a new list" + NEW, "remove the dot before `[`"),
    ("[a, b]", 1, 1, "`[...]` with expressions in it makes a new list" + NEW, KEEP),
    ("a[*].b[*] | [0]", 1, 15, "the path selects from a list of lists that is not in the data", "flatten it first with `[]`"),
    ("a.[*]", 3, 1, "`[...]` with expressions in it makes a new list" + NEW, "remove the dot before `[`"),
]  # fmt: skip


def problem(compile: Any, text: str) -> tuple[int, int, str, str]:
    with pytest.raises(PathError) as caught:
        compile(text)
    error = caught.value
    assert str(error) == error.message
    return error.column, error.width, error.message, error.help


@pytest.mark.parametrize(("text", "column", "width", "message", "help"), WRONG)
def test_wrong_expressions(text: str, column: int, width: int, message: str, help: str) -> None:
    assert problem(compile_expression, text) == (column, width, message, help)
    assert problem(compile_path, text) == (column, width, message, help)


def test_a_path_of_very_many_steps() -> None:
    assert problem(compile_path, ".".join("a" * 101)) == (1, 201, "the path has more than 100 steps", "")
    assert problem(compile_path, "a" + "[0]" * 50 + "[*].b" * 26)[2] == "the path has more than 100 steps"
    assert len(compile_path(".".join("a" * 100)).shape) == 100
    assert compile_path(f"a[?{' && '.join(['b.c'] * 200)}]").filters


@pytest.mark.parametrize(("text", "column", "width", "message", "help"), NO_PLACES)
def test_expressions_that_name_no_places(text: str, column: int, width: int, message: str, help: str) -> None:
    assert problem(compile_path, text) == (column, width, message, help)
    compile_expression(text)


def test_an_unknown_function_with_no_neighbour_names_them_all() -> None:
    _, _, message, help = problem(compile_expression, "frobnicate(a)")
    assert message == "unknown function `frobnicate()`"
    assert help.startswith("JMESPath has: abs, avg, ceil, contains, ")


@pytest.mark.parametrize("compile", [compile_path, compile_expression])
def test_what_is_hardly_intended_is_a_warning(compile: Any) -> None:
    [warning] = compile('items[?risk == "high"].id').warnings
    assert (warning.column, warning.width, warning.message) == (16, 6, '"high" is the key of that name, not a text')
    assert warning.help == "write 'high' for the text"
    for fine in (
        "items[?\"last-seen\" > 'x']",
        "items[?risk == 'high']",
        'items[?a == "b"."c d"]',
        '"risk"',
        "items[?a == b]",
    ):
        assert compile(fine).warnings == ()


@pytest.mark.parametrize(
    ("text", "column"), [("a[*] | b", 8), ("(a[*].b).c", 10), ("a[] | b.c", 7), ("a[0:2] | *", 10)]
)
def test_a_key_of_a_list_of_places_is_a_warning(text: str, column: int) -> None:
    warnings = compile_path(text).warnings
    assert warnings[0].column == column
    assert warnings[0].message.endswith("finds nothing: the expression before it returns a list")
    assert compile_path(text).find({"a": [{"b": {"c": 1}}]}) == []


def failure(compile: Any, text: str) -> PathError | None:
    """Return the error of a text; None if it compiles and evaluates."""
    try:
        made = compile(text)
    except PathError as error:
        return error
    assert made.text == text
    for value in (None, 1, [], {"a": [{"b": 1}]}):
        made.find(value) if compile is compile_path else made.evaluate(value)
    return None


def points_into(error: PathError, text: str) -> bool:
    return 1 <= error.column <= len(text) + 1 and error.width >= 1 and 0 < len(error.message) < 200


LONG = "[ ( {a: a[? a. a[*]. [[ @| ! & a|| a&& *. [] [*] [0] ' \" ` `[ f( a== - . \\".split()  # noqa: SIM905


@pytest.mark.parametrize("piece", LONG)
@pytest.mark.parametrize("count", [100, 100_000])
@pytest.mark.parametrize("end", ["", "a]"])
def test_long_and_deep_texts(piece: str, count: int, end: str) -> None:
    text = piece * count + end
    for compile in (compile_path, compile_expression):
        error = failure(compile, text)
        assert count < 100_000 if error is None else points_into(error, text)


@pytest.mark.parametrize(
    ("opening", "closing"), [("(", ")"), ("a[?", "]"), ("{a: ", "}"), ("abs(", ")"), ("!", ""), ("[?(!", ")]")]
)
@pytest.mark.parametrize("levels", [101, 150, 330, 900])
def test_so_many_brackets_are_too_deep_wherever_it_is_called(opening: str, closing: str, levels: int) -> None:
    for text in (opening * levels + "a" + closing * levels, opening * levels + "a"):
        error = failure(compile_expression, text)
        assert error is not None
        assert error.message == "the expression is nested deeper than 100 levels"


SIGNS = [
    *".[](){}*@|&!=<'\"`-:,$\\1abé",
    *("[?", "||", "&&", "==", "'x'", '"y"', "`1`", "-1", "length", "sort_by", "not", "and"),
]
pieces = st.sampled_from([*SIGNS, " ", "\n", "\ud800"])


@given(st.one_of(st.text(max_size=30), st.lists(pieces, max_size=15).map("".join)))
@example("(a)(b)")
@example("`\ud800`")
@example('"\\ud800"')
@example("[?")
@example("a[1 2:3]")
@example("sort_by(a b)")
@example("-")
@example("`NaN` == `Infinity`")
def test_any_text_compiles_or_is_a_path_error(text: str) -> None:
    for compile in (compile_path, compile_expression):
        error = failure(compile, text)
        event("right" if error is None else "wrong")
        assert error is None or points_into(error, text)


@given(st.one_of(path, expression), st.integers(0, 200), pieces)
def test_a_broken_expression_compiles_or_is_a_path_error(text: str, position: int, piece: str) -> None:
    position %= len(text) + 1
    for broken in (text[:position] + piece + text[position:], text[:position] + text[position + 1 :]):
        for compile in (compile_path, compile_expression):
            error = failure(compile, broken)
            assert error is None or points_into(error, broken)
