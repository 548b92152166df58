"""Parses JMESPath into the syntax tree of the `jmespath` library and locates every error in the text.

Conditions have two functions more than JMESPath: `lower(text)` and `matches(text, 'pattern')`, also of a list of lines.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias, cast

from jmespath.functions import Functions, signature
from jmespath.parser import Parser

from reducer.errors import counted, did_you_mean, nearest, shortened
from reducer.paths.syntax import PathError, Token, is_call, standard, syntax_error, tokenize
from reducer.values import Unreducible, plain

Node: TypeAlias = dict[str, Any]
"""A node of jmespath's tree: `type`, `children`, and sometimes `value`."""

MAX_CHARS = 10_000
"""The maximum length of an expression: jmespath's lexer needs about a second for a million characters."""

MAX_NESTING = 100
"""The maximum depth of a syntax tree: evaluation needs two or three stack frames per level."""

_MAX_PATTERN_CHARS = 1000


def parse(text: str) -> tuple[Node, tuple[Token, ...]]:
    """Parse a JMESPath expression into jmespath's tree and its tokens without the final `eof`.

    Also checks function calls (name, arguments, `&`), which jmespath checks only during evaluation. Raises only
    `PathError`.
    """
    if len(text) > MAX_CHARS:
        raise PathError("E063", f"the expression is longer than {MAX_CHARS:,} characters", MAX_CHARS + 1)
    # jmespath warns about literals such as `high`, and a caller may turn warnings into errors.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tokens = tokenize(text)
            if any(token.depth >= MAX_NESTING for token in tokens):  # do not depend on the caller's recursion limit
                raise RecursionError
            tree = cast(Node, Parser().parse(standard(tokens)).parsed)
            if _nesting(tree) > MAX_NESTING:
                raise RecursionError
            for node in walk_nodes(tree):
                if node["type"] == "literal":
                    plain(node["value"], MAX_NESTING)
        except (RecursionError, Unreducible):
            message = f"the expression is nested deeper than {MAX_NESTING} levels"
            raise PathError("E063", message, help="for many values write `contains(['a', 'b'], key)`") from None
        except Exception as error:  # also ValueError of int()
            raise syntax_error(text, error) from None
    _check_calls(tree, tokens)
    for node in walk_nodes(tree):
        if node["type"] == "slice" and node["children"][2] == 0:
            raise PathError("E064", "the step of a slice cannot be 0", width=len(text))
    return tree, tokens


def _children(node: Node) -> Sequence[Node]:
    """Return the children of a node in the order of the text."""
    below: list[Node] = [child for child in node["children"] if isinstance(child, dict)]
    if node["type"] == "filter_projection":
        left, right, condition = below
        return [left, condition, right]
    return below


def walk_nodes(tree: Node) -> Iterator[Node]:
    """Yield every node in the order of the text, parents before children."""
    yield tree
    for child in _children(tree):
        yield from walk_nodes(child)


def _nesting(tree: Node) -> int:
    return 1 + max(map(_nesting, _children(tree)), default=0)


def _check_calls(tree: Node, tokens: tuple[Token, ...]) -> None:
    names = [token for position, token in enumerate(tokens) if is_call(tokens, position)]
    calls = [node for node in walk_nodes(tree) if node["type"] == "function_expression"]
    if len(names) != len(calls):  # jmespath parses `(length)(x)` as a call
        raise PathError("E059", "write the name of a function without parentheses, as in `length(tags)`")
    exprefs = [token for token in tokens if token.type == "expref"]
    for call, token in zip(calls, names, strict=True):
        _check_call(call, token)
        for argument in call["children"]:
            if argument["type"] == "expref":
                exprefs.pop()
    if exprefs:
        advice = "write `&&` for a logical and, or call a function, as in `sort_by(items, &name)`"
        raise exprefs[0].problem("E062", "`&` is valid only before an argument of a function", advice)


def _check_call(call: Node, token: Token) -> None:
    name, given = call["value"], call["children"]
    known: dict[str, Any] = FUNCTIONS.FUNCTION_TABLE
    if name not in known:
        near = nearest(name, known)
        advice = did_you_mean(near and f"{near}()") or f"the functions are {', '.join(sorted(known))}"
        if name == "not":
            advice = "write `!(...)` to negate"
        raise token.problem("E059", f"unknown function `{shortened(name)}()`", advice)
    parameters = known[name]["signature"]
    least, variadic = len(parameters), bool(parameters and parameters[-1].get("variadic"))
    if len(given) < least or (len(given) > least and not variadic):
        more = "at least " if variadic else ""
        raise token.problem("E060", f"`{name}()` takes {more}{counted(least, 'argument')}, not {len(given)}")
    for number, argument in enumerate(given, 1):
        takes_expression = "expref" in parameters[min(number, least) - 1]["types"]
        if takes_expression != (argument["type"] == "expref"):
            what = "needs `&` before it, as in `&name`" if takes_expression else "cannot have `&` before it"
            raise token.problem("E060", f"argument {number} of `{name}()` {what}")
    if name == "matches":
        _check_pattern(given[1]["value"] if given[1]["type"] == "literal" else None, token)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    """Compile a pattern with google-re2, which takes linear time on any text. Raises `re2.error`."""
    re2 = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern.encode(), options)


def _check_pattern(pattern: Any, token: Token) -> None:
    """Raise an error if `matches` cannot use a pattern."""
    if type(pattern) is not str or len(pattern) > _MAX_PATTERN_CHARS:
        message = f"the pattern of `matches()` must be a text with at most {_MAX_PATTERN_CHARS:,} characters"
        raise token.problem("E095", message, "write `matches(name, '^host-[0-9]+')`")
    try:
        _compiled(pattern)
    except Exception as error:  # `re2.error`, or a lone surrogate
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise token.problem("E095", f"RE2 refuses this pattern: {reason}") from None


class _Functions(Functions):
    @signature({"types": ["string"]})
    def _func_lower(self, text: str) -> str:
        return text.lower()

    @signature({"types": ["string", "array"]}, {"types": ["string"]})
    def _func_matches(self, found: str | list[Any], pattern: str) -> bool:
        text = found if isinstance(found, str) else _joined(found)
        return text is not None and _compiled(pattern).search(text.encode("utf-8", "replace")) is not None


def _joined(lines: list[Any]) -> str | None:
    """Join lines to search them at once: a filter takes ten times as long. Return None if an item is not a line."""
    try:
        text = "\n".join(lines)
    except TypeError:
        return None
    return text if text.count("\n") < max(1, len(lines)) else None


FUNCTIONS = _Functions()
