"""JMESPath text to jmespath's own syntax tree, and every way in which a text can be wrong, with its column."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, cast

from jmespath.functions import Functions
from jmespath.parser import Parser

from .mistakes import syntax_problem
from .tokens import PathError, Token, is_call, shortened, tokenize

Node: TypeAlias = dict[str, Any]
"""A node of jmespath's tree: `type`, `children`, and for some `value`."""

MAX_CHARS = 10_000
"""The longest expression: jmespath's lexer takes about a second for a million characters."""

MAX_NESTING = 100
"""The deepest syntax tree: evaluation takes one to three stack frames a level, so that it fits any caller's stack."""


def parse(text: str) -> tuple[Node, tuple[Token, ...]]:
    """Parse a JMESPath expression: gives jmespath's tree (shared, never to be changed) and the tokens without the final `eof`.

    Functions are checked here too (name, number of arguments, `&`), as jmespath finds out only when it calls them.
    Raises `PathError` for anything that is no expression, and nothing else.
    """
    if len(text) > MAX_CHARS:
        raise PathError("E063", f"the expression is longer than {MAX_CHARS:,} characters", MAX_CHARS + 1)
    # A literal such as `high` is accepted by jmespath with a warning, which a caller may have turned into an error.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tokens = tokenize(text)
            if _brackets(tokens) > MAX_NESTING:  # before the parser, which recurses: how deep it can differs with the caller's stack
                raise RecursionError
            tree = cast(Node, Parser().parse(text).parsed)
        except RecursionError:
            raise _too_deep() from None
        except Exception as error:  # jmespath lets ValueError of int() and the like through
            raise syntax_problem(text, error) from None
    if _nesting(tree) > MAX_NESTING:
        raise _too_deep()
    _check_calls(tree, tokens)
    if any(node["type"] == "slice" and node["children"][2] == 0 for node in walk(tree)):
        steps = [token for before, token in pairwise(tokens) if before.type == "colon" and token.value == 0]
        raise steps[-1].problem("E064", "the step of a slice cannot be 0")
    return tree, tokens


def _brackets(tokens: Sequence[Token]) -> int:
    """Count the brackets that are open at once, and negations in a row."""
    depth = most = negations = 0
    for token in tokens:
        depth += (token.type in _OPENING) - (token.type in _CLOSING)
        negations = negations + 1 if token.type == "not" else 0
        most = max(most, depth, negations)
    return most


_OPENING = frozenset({"lparen", "lbracket", "lbrace", "filter"})
_CLOSING = frozenset({"rparen", "rbracket", "rbrace"})


def _too_deep() -> PathError:
    return PathError("E063", f"the expression is nested deeper than {MAX_NESTING} levels")


def children(node: Node) -> Sequence[Node]:
    """Give the nodes below `node` in the order of the text."""
    below: list[Node] = [child for child in node["children"] if isinstance(child, dict)]
    if node["type"] == "filter_projection":
        left, right, condition = below
        return [left, condition, right]
    return below


def _nesting(tree: Node) -> int:
    depth, level = 0, [tree]
    while level:
        depth += 1
        # `a || b || c` is a chain to the left in the tree, one level to its reader and to the evaluation.
        level = [child for node in level for child in _unchained(node)]
    return depth


def operands(node: Node) -> list[Node]:
    """Give the operands of a chain of one operator, `a || b || c`, left to right."""
    found: list[Node] = []
    left = node
    while left["type"] == node["type"]:
        found.append(left["children"][1])
        left = left["children"][0]
    return [left, *reversed(found)]


def _unchained(node: Node) -> Sequence[Node]:
    return operands(node) if node["type"] in ("or_expression", "and_expression") else children(node)


def walk(tree: Node) -> Iterator[Node]:
    """Give every node in the order of the text, a node before those below it."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def step_count(tree: Node) -> int:
    """Count the steps of a path: the nodes outside of filters that lead on."""
    count, waiting = 0, [tree]
    while waiting:
        node = waiting.pop()
        count += node["type"] not in ("current", "identity", "subexpression", "index_expression", "pipe")
        waiting.extend(children(node)[: 1 if node["type"] == "filter_projection" else None])
        if node["type"] == "filter_projection":
            waiting.append(node["children"][1])
    return count


def _check_calls(tree: Node, tokens: tuple[Token, ...]) -> None:
    names = [token for position, token in enumerate(tokens) if is_call(tokens, position)]
    calls = [node for node in walk(tree) if node["type"] == "function_expression"]
    if len(names) != len(calls):  # `(length)(x)` is a call for jmespath's parser
        raise PathError("E059", "a function is called by its bare name, as in `length(tags)`")
    arguments = 0
    for call, token in zip(calls, names, strict=True):
        _check_call(call, token)
        arguments += sum(child["type"] == "expref" for child in call["children"])
    exprefs = [token for token in tokens if token.type == "expref"]
    if len(exprefs) > arguments:
        raise exprefs[0].problem("E062", "`&` stands before an argument of a function only", "for «and» write `&&`; for a function `sort_by(items, &name)`")


_SPOKEN = {"not": "write `!(...)` for «not»", "and": "write `a && b`", "or": "write `a || b`", "count": "write `length(...)`"}
_CALLED = {"not": "!", "count": "length", "and": None, "or": None}


def _check_call(call: Node, token: Token) -> None:
    name, given = call["value"], call["children"]
    known: dict[str, Any] = Functions.FUNCTION_TABLE
    if name not in known:
        near = difflib.get_close_matches(name, known, 1, 0.6)
        guess = f"did you mean `{near[0]}()`?" if near else f"JMESPath has: {', '.join(sorted(known))}"
        raise token.problem("E059", f"unknown function `{shortened(name)}()`", _SPOKEN.get(name, guess), _CALLED.get(name, near[0] if near else None))
    signature = known[name]["signature"]
    least, variadic = len(signature), bool(signature and signature[-1].get("variadic"))
    if len(given) < least or (len(given) > least and not variadic):
        plural = "" if least == 1 else "s"
        more = "at least " if variadic else ""
        raise token.problem("E060", f"`{name}()` takes {more}{least} argument{plural}, not {len(given)}")
    for position, argument in enumerate(given):
        wanted = "expref" in signature[min(position, least - 1)]["types"]
        if wanted and argument["type"] != "expref":
            raise token.problem("E060", f"argument {position + 1} of `{name}()` is an expression with `&`", f"write `{_example(name)}`")
        if argument["type"] == "expref" and not wanted:
            raise token.problem("E060", f"argument {position + 1} of `{name}()` is a value, without `&`", "leave out the `&`")


def _example(name: str) -> str:
    return "map(&name, items)" if name == "map" else f"{name}(items, &name)"
