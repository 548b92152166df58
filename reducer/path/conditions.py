"""JMESPath expressions as questions to a value: conditions of filters and gates, keys to sort and compare by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..values import Unreducible, plain
from .closures import compile_node
from .opening import NUMBERS, OPEN, SCALARS, Closure, opened
from .reads import Chain, reads
from .syntax import Node, parse
from .tokens import PathError, compared_keys


@dataclass(frozen=True, slots=True)
class Expression:
    """A JMESPath expression as a question to a value; all that it is asked has the form of JSON or can be stored in it.

    `reads`: the chains of keys that the answer depends on, from the value inwards, lists left out: `risk == 'high' && tags[0].id`
    reads (("risk",), ("tags", "id")); `()` means all of the value. A chain stands for everything below it.
    `simple_field`: the name, if the expression is one key and nothing else.
    `warnings`: what is valid JMESPath but hardly meant; not raised.
    """

    text: str
    reads: tuple[Chain, ...]
    simple_field: str | None
    warnings: tuple[PathError, ...] = field(compare=False)
    evaluate: Callable[[Any], Any] = field(repr=False, compare=False)
    """Give what `jmespath.search` gives, as plain JSON; None where that raises. Raises `values.Unreducible`."""
    holds: Callable[[Any], bool] = field(repr=False, compare=False)
    """Tell whether the answer is true for JMESPath: not null, false or empty; 0 is true. False where that raises.
    Raises `values.Unreducible`."""


@lru_cache(maxsize=1024)
def compile_expression(text: str) -> Expression:
    """Compile a JMESPath expression. Raises `PathError`, and nothing else."""
    tree, tokens = parse(text)
    return expression_of(text, tree, compared_keys(tokens))


def expression_of(text: str, tree: Node, warnings: tuple[PathError, ...]) -> Expression:
    """Make the expression of a tree that is parsed already."""
    name = tree["value"] if tree["type"] == "field" else None
    return Expression(text, reads(tree), name, warnings, evaluator(tree), truth(tree))


def evaluator(node: Node) -> Closure:
    """Compile a condition to a function that gives what `jmespath.search` gives, as plain JSON, and None where that raises.

    NaN reads as null, as it is stored. The function raises `Unreducible` for a value that it has to look into and that is
    too deep or has no JSON form.
    """
    closure = compile_node(node)

    def evaluate(value: Any) -> Any:
        try:
            result = closure(value if type(value) in OPEN else opened(value))
            return result if type(result) in SCALARS else plain(result)
        except Unreducible:
            raise
        except Exception:  # whatever jmespath and comparisons raise: the law is that an expression which fails has no answer
            return None

    return evaluate


def truth(node: Node) -> Callable[[Any], bool]:
    """Compile a condition to a function that tells whether it holds: false for null, false, and what is empty; true for 0.

    Where `jmespath.search` raises it does not hold. The function raises `Unreducible` as that of `evaluator` does.
    """
    closure = compile_node(node)

    def holds(value: Any) -> bool:
        try:
            result = closure(value if type(value) in OPEN else opened(value))
        except Unreducible:
            raise
        except Exception:  # as in `evaluate`
            return False
        return bool(result) or type(result) in NUMBERS

    return holds
