"""JMESPath expressions: conditions of filters and gates, sort keys and keys to compare by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias, cast

from jmespath.visitor import Options, TreeInterpreter

from reducer.errors import shortened
from reducer.paths.habits import correcting, probable_mistakes
from reducer.paths.parser import FUNCTIONS, Node, parse
from reducer.paths.syntax import PathError, Token
from reducer.values import PLAIN, Unreducible, plain, shown

Evaluate: TypeAlias = Callable[[Any], Any]
Chain: TypeAlias = tuple[str, ...]
"""Key names from the input down, ignoring lists: `tags[0].name` and `tags[*].name` are both ("tags", "name")."""
COMPARATORS: dict[str, Any] = TreeInterpreter.COMPARATOR_FUNC
"""The comparison functions of jmespath by the types of their tokens."""
_Chains: TypeAlias = dict[Chain, None]  # an ordered set
_ORDERS = frozenset({"lt", "lte", "gt", "gte"})
_WORDS = {"true": "true", "false": "false", **dict.fromkeys(("null", "none", "nil", "undefined"), "null")}
"""Words that look like values, with the literals that they mean."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A JMESPath expression.

    `reads` lists the chains of keys that the result depends on: `risk == 'high' && tags[0].id` reads
    (("risk",), ("tags", "id")). A chain includes everything below it, and `()` is the whole value.
    `simple_field` is the name of the key if the expression is a single key.
    `warnings` describe valid JMESPath that is probably a mistake.
    """

    text: str
    reads: tuple[Chain, ...]
    simple_field: str | None
    warnings: tuple[PathError, ...] = field(compare=False)
    _evaluate: Evaluate = field(repr=False, compare=False)

    def evaluate(self, value: Any) -> Any:
        """Return the result of `jmespath.search`, or None if the search raises.

        Live objects are evaluated in their stored form. Raises `values.Unreducible` for values without a JSON form.
        """
        return plain(self._result(value))

    def holds(self, value: Any) -> bool:
        """Return whether the result is true in JMESPath: not null, false or empty. 0 is true."""
        result = shown(self._result(value))
        return bool(result) or type(result) in (int, float)

    def _result(self, value: Any) -> Any:
        try:
            return self._evaluate(value)
        except Unreducible:
            raise
        except Exception:  # wrong argument types can raise anything
            return None


def warnings_of(text: str, tokens: tuple[Token, ...]) -> tuple[PathError, ...]:
    """Warn about keys that look like values (in `risk == "high"`, `"high"` is a key), `|` for or, and the like."""
    warnings = [*probable_mistakes(text)]
    for before, token in pairwise(tokens):
        is_compared = before.type in COMPARATORS
        if token.type == "pipe" and before.type == "literal":
            warnings.append(token.problem("W013", "`|` passes a value on; it does not mean or", "write `||`"))
        elif is_compared and token.type == "quoted_identifier":
            name = shortened(token.value)
            message = f'"{name}" in double quotes is a key, not a text'
            warnings.append(token.problem("W010", message, f"write {before.text} '{name}' for the text"))
        elif is_compared and token.type == "unquoted_identifier" and token.value.lower() in _WORDS:
            message = f"{token.value} without backticks is a key, not a value"
            warnings.append(token.problem("W012", message, f"write {before.text} `{_WORDS[token.value.lower()]}`"))
    return tuple(warnings)


@correcting("conditions")
@lru_cache(maxsize=1024)
def compile_expression(text: str) -> Expression:
    """Compile a JMESPath expression. Raises only `PathError`."""
    tree, tokens = parse(text)
    return expression_of(text, tree, warnings_of(text, tokens))


def expression_of(text: str, tree: Node, warnings: tuple[PathError, ...]) -> Expression:
    """Create an expression from a parsed tree."""
    name = tree["value"] if tree["type"] == "field" else None
    reads = _reads(tree)
    return Expression(text, reads, name, warnings, _evaluate=_evaluator(tree, reads))


def _evaluator(tree: Node, reads: tuple[Chain, ...]) -> Evaluate:
    if tree["type"] == "field":
        return _field(tree["value"])
    if tree["type"] == "comparator" and [child["type"] for child in tree["children"]] == ["field", "literal"]:
        return _comparison(tree)
    interpreter = TreeInterpreter(Options(custom_functions=FUNCTIONS))
    names = None if () in reads else {chain[0] for chain in reads}

    def evaluate(value: Any) -> Any:
        fields = shown(value)
        if names is not None and type(fields) is dict:  # convert only the keys that the expression reads
            fields = {name: fields[name] for name in names if name in fields}
        return interpreter.visit(cast(Any, tree), plain(fields))

    return evaluate


def _field(name: str) -> Evaluate:
    def evaluate(value: Any) -> Any:
        fields = value if type(value) is dict and name in value else shown(value)
        if type(fields) not in PLAIN:
            fields = plain(fields)
        return fields.get(name) if type(fields) is dict else None

    return evaluate


def _comparison(tree: Node) -> Evaluate:
    name, literal = tree["children"][0]["value"], tree["children"][1]["value"]
    get, compare, orders = _field(name), COMPARATORS[tree["value"]], tree["value"] in _ORDERS
    types = (int, float, str) if type(literal) in (int, float, str) else ()

    def evaluate(value: Any) -> Any:
        left = plain(get(value))
        return None if orders and type(left) not in types else compare(left, literal)

    return evaluate


def _reads(tree: Node) -> tuple[Chain, ...]:
    """Return the chains that the result of an expression depends on, in the order of the text.

    A chain ends where the key names are not known (`@`, `*`, a function of the whole value) and includes everything
    below it. No chain starts with another one.
    """
    reads: _Chains = {}
    reads.update(_follow(tree, {(): None}, reads))
    for chain in list(reads):
        if any(chain[:count] in reads for count in range(len(chain))):
            del reads[chain]
    return tuple(reads)


def _follow(node: Node, inputs: _Chains, reads: _Chains) -> _Chains:
    """Return the chains of the values that `node` passes through, and add the chains that it reads to `reads`."""
    kind, below = node["type"], node["children"]
    if kind == "field":
        return {(*chain, node["value"]): None for chain in inputs}
    if kind in ("current", "identity", "index", "slice"):
        return inputs
    if kind in ("subexpression", "index_expression", "pipe", "projection", "flatten"):
        first, *rest = below
        return _through(rest, _follow(first, inputs, reads), reads)
    if kind == "filter_projection":
        left, right, condition = below
        items = _follow(left, inputs, reads)
        reads.update(_follow(condition, items, reads))
        return _through([right], items, reads)
    if kind in ("or_expression", "and_expression"):
        operands: _Chains = {}
        for child in below:
            operands.update(_follow(child, inputs, reads))
        reads.update(operands)
        return operands
    # A created value (comparison, call, multi-select) depends on all of its parts, and `.*` on all keys.
    parts = below[:1] if kind == "value_projection" else below
    for child in parts:
        if child["type"] != "expref":  # it reads items of another argument, which `reads` already contains
            reads.update(_follow(child, inputs, reads))
    return {}


def _through(nodes: list[Node], inputs: _Chains, reads: _Chains) -> _Chains:
    for node in nodes:
        outputs = _follow(node, inputs, reads)
        if not outputs:
            reads.update(inputs)  # values created for each item depend on the number of items
        inputs = outputs
    return inputs
